import { useQuery } from "@tanstack/react-query";
import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { sessionQuery } from "../api/session.ts";

/** Keeps pages for people who are signed in; when the session ends meanwhile, leads to the sign-in and back again. */
export function SessionGate() {
	const ended = useQuery(sessionQuery).data === null;
	const router = useRouter();
	useEffect(() => {
		if (ended) void router.navigate({ to: "/sign-in", search: { next: router.latestLocation.href }, replace: true });
	}, [ended, router]);
	return ended ? null : <Outlet />;
}
