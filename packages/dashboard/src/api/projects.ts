import { api } from "./client/client.ts";
import { ApiError, isStatus } from "./client/error.ts";
import { pagedQuery } from "./client/pages.ts";
import { queryClient } from "./client/query-client.ts";
import type { Project } from "./model.ts";
import { refreshSession } from "./session-cache.ts";

const PROJECT = "/v1/projects/{project_id}";

/** All projects of the instance, oldest first; only for the operator. */
export const projectsQuery = pagedQuery(["projects"], "/v1/projects", () => ({ query: { limit: 100 } }));

/** Refetches both lists of projects, but not their health. */
const refreshProjects = () =>
	Promise.all([refreshSession(), queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey, exact: true })]);

/** A project without any app. */
export async function createProject(name: string): Promise<Project> {
	const project = await api.post("/v1/projects", { body: { name, apps: [] } });
	await refreshProjects();
	return project;
}

export async function renameProject(projectId: string, name: string): Promise<void> {
	await api.patch(PROJECT, { path: { project_id: projectId }, body: { name } });
	await refreshProjects();
}

export async function installDeveloperApp(projectId: string): Promise<void> {
	await api.put(`${PROJECT}/apps/developer`, { path: { project_id: projectId } });
	await refreshSession();
}

/** Removes the Developer app, which pauses every webhook. */
export async function removeDeveloperApp(projectId: string): Promise<void> {
	await api.delete(`${PROJECT}/apps/developer`, { path: { project_id: projectId } });
	await refreshSession();
}

export interface SignInLink {
	readonly url: string;
	readonly expires_at: string;
}

/**
 * Creates a link that signs in to the account with this e-mail address once, within 15 minutes; only for the operator.
 *
 * @throws ApiError that blames the address if no account has it
 */
export async function createSignInLink(email: string): Promise<SignInLink> {
	try {
		return await api.post("/v1/sign-in-links", { body: { email } });
	} catch (error) {
		if (!isStatus(error, 404)) throw error;
		const { title, status, detail } = error;
		const errors = [{ pointer: "/email", detail: "must be the address of an account" }];
		throw new ApiError({ type: "/problems/not-found", title, status, detail, errors });
	}
}
