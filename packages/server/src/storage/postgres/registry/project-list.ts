/** Projects as a list, and what they are called. */
import type { Page, Params, Project } from "../../port.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { toProject } from "./projects.ts";

const LIST = sql(`
	SELECT id, name, developer, created_at FROM posthorn.projects WHERE id > $1 ORDER BY id LIMIT $2`);

export async function listProjects(c: Session, page: Page): Promise<Project[]> {
	return (await c.rows(LIST, page.after ?? "", page.limit)).map(toProject);
}

const RENAME = sql(`
	UPDATE posthorn.projects SET name = $2 WHERE id = $1 RETURNING id, name, developer, created_at`);

export async function renameProject(c: Session, { projectId, name }: Params<"renameProject">): Promise<Project | null> {
	const row = await c.row(RENAME, projectId, name);
	return row === undefined ? null : toProject(row);
}
