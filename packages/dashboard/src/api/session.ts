import { queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { releaseSecret } from "../lib/account/kept-secret.ts";
import { mayAct, type Role } from "../lib/account/roles.ts";
import { api } from "./client/client.ts";
import { ifStatus, isStatus } from "./client/error.ts";
import { queryClient } from "./client/query-client.ts";
import type { Session, SessionProject } from "./model.ts";
import { cachedSession, received, rememberSession, SESSION_KEY, signOutBy } from "./session-cache.ts";

/** The session; null when signed out. */
export const sessionQuery = queryOptions<Session | null>({
	queryKey: SESSION_KEY,
	queryFn: async ({ signal }) => {
		try {
			return await withVisited(received(await api.get("/v1/session", { signal })));
		} catch (error) {
			if (isStatus(error, 401)) {
				releaseSecret();
				return null;
			}
			throw error;
		}
	},
	staleTime: 60_000,
});

/** The maximum number of projects that a session lists. */
const PROJECTS_NAMED = 200;

/** How many visited projects are refetched with the session; the next ones with the next session. */
const REFETCHED = 5;
let nextRefetched = 0;

/** The operator sees more projects than a session lists: those visited stay, and the service is soon asked about each. */
async function withVisited(session: Session): Promise<Session> {
	if (!session.account.operator || session.projects.length < PROJECTS_NAMED) return session;
	const known = new Set(session.projects.map(({ id }) => id));
	const visited = () => (cachedSession()?.projects ?? []).filter(({ id }) => !known.has(id));
	const ids = visited().map(({ id }) => id);
	const from = nextRefetched < ids.length ? nextRefetched : 0;
	const asked = ids.slice(from, from + REFETCHED);
	nextRefetched = from + asked.length;
	const refetched = await Promise.all(asked.map(projectOfOperator));
	const found = new Map(asked.map((id, i) => [id, refetched[i] ?? null]));
	// Others may have been visited meanwhile.
	const projects = visited().flatMap((project) => found.get(project.id) ?? (found.has(project.id) ? [] : [project]));
	return { ...session, projects: [...session.projects, ...projects] };
}

/** Null if there is none. */
async function projectOfOperator(projectId: string): Promise<SessionProject | null> {
	const call = api.get("/v1/projects/{project_id}", { path: { project_id: projectId } });
	const project = await call.catch(ifStatus(404, null));
	return project && { id: project.id, name: project.name, apps: project.apps, role: "owner" };
}

/** Adds a project that the operator's session doesn't list. Returns whether it exists. */
export async function visitProject(session: Session, projectId: string): Promise<boolean> {
	const visited = session.account.operator ? await projectOfOperator(projectId) : null;
	if (visited === null) return false;
	const current = cachedSession();
	// Meanwhile, another project may have been visited, or the session refetched or ended.
	if (current?.account.id === session.account.id) {
		const others = current.projects.filter(({ id }) => id !== projectId);
		rememberSession({ ...current, projects: [...others, visited] });
	}
	return true;
}

/** Whether the operator has no account yet. */
export const setupNeeded = async () => (await api.get("/v1/setup")).needed;

export const setupQuery = queryOptions({ queryKey: ["setup"], queryFn: setupNeeded });

/** Call it after leaving the setup page, so that the browser's Back doesn't show its form again. */
export const rememberSetUp = () => queryClient.setQueryData(setupQuery.queryKey, false);

export const signIn = async (body: { email: string; password: string } | { token: string }) =>
	rememberSession(await api.post("/v1/session", { body }));

export const setUp = async (body: { token: string; email: string; name: string; password: string }) =>
	rememberSession(await api.post("/v1/setup", { body }));

export const signOut = () => signOutBy(() => api.delete("/v1/session"));

/** The session; only for pages behind the sign-in. If it ends, they keep it until they're left. */
export function useSession(): Session {
	const { data } = useQuery(sessionQuery);
	const [last, setLast] = useState(data);
	if (data && data !== last) setLast(data);
	const session = data ?? last;
	if (!session) throw new Error("useSession is for pages behind the sign-in.");
	return session;
}

/** The project in the address bar. */
export function useProjectId(): string {
	const { projectId } = useParams({ strict: false });
	if (projectId === undefined) throw new Error("useProjectId is for pages of a project.");
	return projectId;
}

/** The project in the address bar, with its apps and the user's role. */
export function useProject(): SessionProject {
	const projectId = useProjectId();
	const project = useSession().projects.find(({ id }) => id === projectId);
	if (project === undefined) throw new Error("useProject is for projects that the session sees.");
	return project;
}

/** The user's role in the project, and whether it is sufficient. */
export function useRole(): { role: Role; may: (needed: Role) => boolean } {
	const { role } = useProject();
	return { role, may: (needed) => mayAct(role, needed) };
}
