import { notFound, redirect } from "@tanstack/react-router";
import { openEarly } from "../api/client/hint-stream.ts";
import { queryClient } from "../api/client/query-client.ts";
import type { Session } from "../api/model.ts";
import { sessionQuery, setupNeeded, visitProject } from "../api/session.ts";

/** Redirects to the sign-in page without a session, or to setup while the instance has no account. */
export async function requireSession({ location }: { location: { href: string } }): Promise<{ session: Session }> {
	const session = await queryClient.ensureQueryData(sessionQuery);
	if (session !== null) return { session };
	if (await setupNeeded()) throw redirect({ to: "/setup" });
	throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { next: location.href } });
}

/** Redirects from the root to the only or first project; the operator and users without one see the list. */
export function startPage({ context: { session } }: { context: { session: Session } }): never {
	const [first, ...others] = session.projects;
	if (first === undefined || (session.account.operator && others.length > 0)) throw redirect({ to: "/projects" });
	throw redirect({ to: "/p/$projectId", params: { projectId: first.id } });
}

interface ProjectVisit {
	readonly params: { readonly projectId: string };
	/** Whether a page is only loaded in advance. */
	readonly preload: boolean;
}

/** Responds 404 for a project the session doesn't list, after one more request in case it is new. */
export async function requireProject({ params: { projectId }, preload }: ProjectVisit): Promise<void> {
	const find = (session: Session | null) => session?.projects.find(({ id }) => id === projectId);
	const known = find(await queryClient.ensureQueryData(sessionQuery));
	if (known !== undefined) {
		if (!preload && known.apps.includes("developer")) openEarly(projectId);
		return;
	}
	const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
	if (find(session) !== undefined || (session !== null && (await visitProject(session, projectId)))) return;
	throw notFound();
}
