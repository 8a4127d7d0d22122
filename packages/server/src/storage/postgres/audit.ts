import type { Actor, AuditEntry, Page } from "../port.ts";
import { BEYOND_ALL_IDS } from "../shared/id-range.ts";
import { findProject } from "./find.ts";
import type { Row, Session } from "./session.ts";
import { sql } from "./sql.ts";

const APPEND = sql(`
	INSERT INTO posthorn.audit (
		project_no, id, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, detail)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`);

export async function appendAudit(c: Session, entry: AuditEntry): Promise<void> {
	const { id, projectId, at, actor, action, target, detail } = entry;
	const project = await findProject(c, projectId);
	if (project === null) throw new Error(`An audit entry was made in project ${projectId}, which is not there.`);
	const of = [target?.kind ?? null, target?.id ?? null, target?.name ?? null];
	await c.run(APPEND, project, id, at, actor.kind, actor.id, actor.name, action, ...of, JSON.stringify(detail));
}

const LIST = sql(`
	SELECT id, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, detail
	FROM posthorn.audit WHERE project_no = $1 AND id < $2 ORDER BY id DESC LIMIT $3`);

export async function listAudit(c: Session, projectId: string, page: Page): Promise<AuditEntry[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const rows = await c.rows(LIST, project, page.after ?? BEYOND_ALL_IDS, page.limit);
	return rows.map((row) => toEntry(projectId, row));
}

/** What another node has deleted meanwhile is left out. */
const SWEEP = sql(`
	DELETE FROM posthorn.audit WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM posthorn.audit WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))`);

export function sweepAudit(c: Session, cutoff: number, limit: number): Promise<number> {
	return c.run(SWEEP, cutoff, limit);
}

const toEntry = (projectId: string, row: Row): AuditEntry => ({
	id: row.id as string,
	projectId,
	at: row.at as number,
	actor: { kind: row.actor_kind as Actor["kind"], id: row.actor_id as string | null, name: row.actor_name as string },
	action: row.action as string,
	target:
		row.target_kind === null
			? null
			: { kind: row.target_kind as string, id: row.target_id as string, name: row.target_name as string },
	detail: row.detail as Record<string, unknown>,
});
