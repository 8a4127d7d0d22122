import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { WATCHED } from "../api/client/query-client.ts";
import { sessionQuery } from "../api/session.ts";
import { isSigningOut } from "../api/session-cache.ts";

/**
 * Restricts pages to signed-in users. If the session ends, redirects to the sign-in page, which leads back here unless
 * the user signed out.
 */
export function SessionGate() {
	// Roles and apps change without a hint.
	const { data: session } = useQuery({ ...sessionQuery, ...WATCHED });
	const ended = session === null;
	const router = useRouter();
	useEffect(() => {
		if (ended)
			void router.navigate({
				to: "/sign-in",
				search: isSigningOut() ? {} : { next: router.latestLocation.href, ended: true },
				replace: true,
			});
	}, [ended, router]);
	// Another account may have signed in from another tab. It starts afresh, without typed text or secrets that are shown once.
	return ended ? null : <Outlet key={session?.account.id} />;
}
