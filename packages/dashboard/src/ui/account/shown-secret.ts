import { useEffect, useSyncExternalStore } from "react";
import { useSession } from "../../api/session.ts";
import {
	type KeptSecret,
	keepSecret,
	keptSecret,
	onSecretChange,
	releaseSecret,
} from "../../lib/account/kept-secret.ts";

/** The secret that `owner` (a webhook, or a project's keys) is showing; null if none. It survives reloads of the tab. */
export function useShownSecret(owner: string) {
	const account = useSession().account.id;
	const kept = useSyncExternalStore(onSecretChange, keptSecret);
	const mine = kept?.account === account;
	// Another account's secret must not wait for its time to run out.
	useEffect(() => {
		if (kept !== null && !mine) releaseSecret();
	}, [kept, mine]);
	return {
		shown: mine && kept.owner === owner ? kept : null,
		show: (secret: Omit<KeptSecret, "account" | "owner" | "at">) =>
			keepSecret({ ...secret, account, owner, at: Date.now() }),
		done: releaseSecret,
	};
}
