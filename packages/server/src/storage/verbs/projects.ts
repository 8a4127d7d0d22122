/** Projects, which are also the units of order and tenancy. Each engine stores their logs and leases in its own way. */
import type { Page, Project, ProjectRef } from "../port/registry.ts";
import { fragment, sql } from "./sql.ts";
import { findProject, holdProject, openLog, row, rows, type Steps, together, wake } from "./verb.ts";

type ProjectRow = Omit<Project, "apps"> & { readonly developer: boolean };
const PROJECT = fragment('id, name, developer, created_at AS "createdAt"');
const toProject = ({ developer, ...project }: ProjectRow): Project => {
	return { ...project, apps: developer ? ["developer"] : [] };
};

export function* createProject({ id, name, apps, createdAt }: Project): Steps<void> {
	yield* together(
		sql`
			INSERT INTO posthorn.projects (id, name, developer, created_at)
			VALUES (${id}, ${name}, ${apps.includes("developer")}, ${createdAt})`,
		openLog(id),
	);
}

const ofId = (projectId: string) => sql<ProjectRow>`SELECT ${PROJECT} FROM posthorn.projects WHERE id = ${projectId}`;

export function* getProject({ projectId }: ProjectRef): Steps<Project | null> {
	const found = yield* row(ofId(projectId));
	return found === undefined ? null : toProject(found);
}

/** By id. */
export function* listProjects({ after = "", limit }: Page): Steps<Project[]> {
	const found = yield* rows<ProjectRow>(sql`
		SELECT ${PROJECT} FROM posthorn.projects WHERE id > ${after} ORDER BY id LIMIT ${limit}`);
	return found.map(toProject);
}

/** Null if the project doesn't exist. */
export function* renameProject({ projectId, name }: ProjectRef & { readonly name: string }): Steps<Project | null> {
	const [, [renamed]] = yield* together(
		sql`UPDATE posthorn.projects SET name = ${name} WHERE id = ${projectId}`,
		ofId(projectId),
	);
	return renamed === undefined ? null : toProject(renamed);
}

/** Installs the Developer app, or removes it and pauses every webhook. Null if the project doesn't exist. */
export function* setDeveloperApp({
	projectId,
	installed,
}: ProjectRef & { readonly installed: boolean }): Steps<Project | null> {
	const project = yield* findProject(projectId);
	if (project === null) return null;
	const [, , , , [changed]] = yield* together(
		holdProject(project),
		sql`UPDATE posthorn.projects SET developer = ${installed} WHERE no = ${project}`,
		sql`
			UPDATE posthorn.webhooks SET status = 'paused'
			WHERE project_no = ${project} AND deleted_at IS NULL AND NOT ${installed}`,
		wake(project),
		ofId(projectId),
	);
	return toProject(changed!);
}
