import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { sessionQuery } from "../api/session.ts";

/** Restricts pages to signed-in users; if the session ends meanwhile, redirects to the sign-in page and back. */
export function SessionGate() {
	const ended = useQuery(sessionQuery).data === null;
	const router = useRouter();
	useEffect(() => {
		if (ended)
			void router.navigate({
				to: "/sign-in",
				search: { next: router.latestLocation.href, ended: true },
				replace: true,
			});
	}, [ended, router]);
	return ended ? null : <Outlet />;
}
