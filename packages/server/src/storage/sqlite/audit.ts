import type { Actor, AuditEntry, Page } from "../port.ts";
import { BEYOND_ALL_IDS } from "../shared/id-range.ts";
import type { Connection } from "./connection.ts";

export function appendAudit(c: Connection, entry: AuditEntry): void {
	const project = c.names.project(entry.projectId);
	if (project === null) throw new Error(`An audit entry was made in project ${entry.projectId}, which is not there.`);
	c.sql(`
		INSERT INTO audit (
			id, project_no, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
		entry.id,
		project,
		entry.at,
		entry.actor.kind,
		entry.actor.id,
		entry.actor.name,
		entry.action,
		entry.target?.kind ?? null,
		entry.target?.id ?? null,
		entry.target?.name ?? null,
		JSON.stringify(entry.detail),
	);
}

export function listAudit(c: Connection, projectId: string, page: Page): AuditEntry[] {
	return c
		.sql(`
			SELECT id, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, detail FROM audit
			WHERE project_no = ? AND id < ? ORDER BY id DESC LIMIT ?`)
		.all(c.names.project(projectId), page.after ?? BEYOND_ALL_IDS, page.limit)
		.map((row) => toEntry(projectId, row));
}

/** Entries lie in the order in which they were written: a step ends at the first that is young enough. */
export function sweepAudit(c: Connection, cutoff: number, limit: number): number {
	const rows = c.sql("SELECT no, at FROM audit WHERE no > 0 ORDER BY no LIMIT ?").all(limit);
	const young = rows.findIndex((row) => (row.at as number) >= cutoff);
	const old = young === -1 ? rows : rows.slice(0, young);
	for (const row of old) c.sql("DELETE FROM audit WHERE no = ?").run(row.no as number);
	return old.length;
}

const toEntry = (projectId: string, row: Record<string, unknown>): AuditEntry => ({
	id: row.id as string,
	projectId,
	at: row.at as number,
	actor: { kind: row.actor_kind as Actor["kind"], id: row.actor_id as string | null, name: row.actor_name as string },
	action: row.action as string,
	target:
		row.target_kind === null
			? null
			: { kind: row.target_kind as string, id: row.target_id as string, name: row.target_name as string },
	detail: JSON.parse(row.detail as string) as Record<string, unknown>,
});
