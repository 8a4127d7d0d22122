import type { UseFormReturnType } from "@mantine/form";
import { useEffect, useRef } from "react";
import { useSession } from "../../api/session.ts";
import { hasSessionEnded } from "../../api/session-cache.ts";
import { keepDraft, takeDraft } from "../../lib/account/kept-drafts.ts";
import { changedOf } from "./use-follow.ts";

/**
 * Keeps what a user has typed if the session ends, and fills it in once the same account is back. Signing out forgets it,
 * and so does another account.
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
		const draft = takeDraft(name, account);
		if (draft !== null) latest.current.form.setValues({ ...latest.current.saved, ...draft });
		return () => {
			if (!hasSessionEnded()) return;
			const edited = changedOf(latest.current.form.getValues(), latest.current.saved);
			if (Object.keys(edited).length > 0) keepDraft(name, { account, edited });
		};
	}, [account, name]);
}
