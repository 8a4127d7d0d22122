import type { UseFormReturnType } from "@mantine/form";
import { useEffect, useRef } from "react";
import { useSession } from "../../api/session.ts";
import { hasSessionEnded } from "../../api/session-cache.ts";
import { changedOf } from "./use-follow.ts";

/** The edited fields of forms whose session ended, by form, for the account that typed them. Only in memory. */
const drafts = new Map<string, { readonly account: string; readonly edited: object }>();

/**
 * Keeps what a user has typed if the session ends, and fills it in once the same account is back.
 *
 * @param name the form's name, unique among all forms
 * @param saved what the form shows without edits
 */
export function useKeptDraft<Values extends Record<string, unknown>>(
	name: string,
	form: Pick<UseFormReturnType<Values>, "getValues" | "setValues">,
	saved: Values,
): void {
	const account = useSession().account.id;
	const latest = useRef({ form, saved });
	useEffect(() => {
		latest.current = { form, saved };
	});
	useEffect(() => {
		const draft = drafts.get(name);
		drafts.delete(name);
		if (draft?.account === account) latest.current.form.setValues({ ...latest.current.saved, ...draft.edited });
		return () => {
			if (!hasSessionEnded()) return;
			const edited = changedOf(latest.current.form.getValues(), latest.current.saved);
			if (Object.keys(edited).length > 0) drafts.set(name, { account, edited });
		};
	}, [account, name]);
}
