import { notFound, redirect } from "@tanstack/react-router";
import type { Session } from "../api/model.ts";
import { queryClient } from "../api/query-client.ts";
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

/** Responds 404 for a project the session doesn't list, after one more request in case it is new. */
export async function requireProject({ params: { projectId } }: { params: { projectId: string } }): Promise<void> {
	const names = (session: Session | null) => session?.projects.some(({ id }) => id === projectId) === true;
	if (names(await queryClient.ensureQueryData(sessionQuery))) return;
	const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
	if (names(session) || (session !== null && (await visitProject(session, projectId)))) return;
	throw notFound();
}
