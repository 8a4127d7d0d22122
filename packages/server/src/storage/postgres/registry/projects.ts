import type { Params, Project } from "../../port.ts";
import { findProject } from "../connection/find.ts";
import type { Row, Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { lockProject, ringForChange } from "../lanes/lock.ts";

const CREATE = sql(`
	WITH made AS (
		INSERT INTO posthorn.projects (id, name, developer, created_at) VALUES ($1, $2, $3, $4) RETURNING no
	), log AS (
		INSERT INTO posthorn.logs (project_no) SELECT no FROM made
	)
	INSERT INTO posthorn.leases (project_no) SELECT no FROM made`);

export async function createProject(c: Session, project: Project): Promise<void> {
	await c.run(CREATE, project.id, project.name, project.apps.includes("developer"), project.createdAt);
}

const GET = sql("SELECT id, name, developer, created_at FROM posthorn.projects WHERE id = $1");

export async function getProject(c: Session, { projectId }: Params<"getProject">): Promise<Project | null> {
	const row = await c.row(GET, projectId);
	return row === undefined ? null : toProject(row);
}

/** A row of `projects`. */
export const toProject = (row: Row): Project => ({
	id: row.id as string,
	name: row.name as string,
	apps: row.developer === true ? ["developer"] : [],
	createdAt: row.created_at as number,
});

const SET_APP = sql("UPDATE posthorn.projects SET developer = $2 WHERE no = $1");
const PAUSE_ALL = sql(`
	UPDATE posthorn.webhooks SET status = 'paused' WHERE project_no = $1 AND deleted_at IS NULL AND NOT $2`);

export async function setDeveloperApp(
	c: Session,
	{ projectId, installed }: Params<"setDeveloperApp">,
): Promise<Project | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	await lockProject(c, project);
	await Promise.all([
		c.run(SET_APP, project, installed),
		c.run(PAUSE_ALL, project, installed),
		ringForChange(c, project),
	]);
	return getProject(c, { projectId });
}
