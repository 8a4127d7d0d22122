import type { Actor, AuditEntry } from "../port/accounts.ts";
import type { Page } from "../port/registry.ts";
import { BEYOND_ALL_IDS } from "../shared/deliveries.ts";
import { endUnlocked, sql, unlocked } from "./sql.ts";
import { findProject, row, rows, type Steps } from "./verb.ts";

export function* appendAudit({ projectId, id, at, actor, action, target, detail }: AuditEntry): Steps<void> {
	const project = yield* findProject(projectId);
	if (project === null) throw new Error(`Project ${projectId} of an audit entry doesn't exist.`);
	yield* row(sql`
		INSERT INTO posthorn.audit (
			project_no, id, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, detail)
		VALUES (
			${project}, ${id}, ${at}, ${actor.kind}, ${actor.id}, ${actor.name}, ${action},
			${target?.kind ?? null}, ${target?.id ?? null}, ${target?.name ?? null}, ${JSON.stringify(detail)})`);
}

interface EntryRow extends Pick<AuditEntry, "id" | "at" | "action" | "detail"> {
	readonly actorKind: Actor["kind"];
	readonly actorId: string | null;
	readonly actorName: string;
	readonly targetKind: string | null;
	readonly targetId: string;
	readonly targetName: string;
}

/** Newest first, by entry id; `after` is the last entry of the previous page. */
export function* listAudit(p: Page & { readonly projectId: string }): Steps<AuditEntry[]> {
	const { projectId, after = BEYOND_ALL_IDS, limit } = p;
	const project = yield* findProject(projectId);
	const found = yield* rows<EntryRow>(sql`
		SELECT id, at, actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName", action,
			target_kind AS "targetKind", target_id AS "targetId", target_name AS "targetName", detail
		FROM posthorn.audit WHERE project_no = ${project} AND id < ${after} ORDER BY id DESC LIMIT ${limit}`);
	return found.map(({ actorKind, actorId, actorName, targetKind, targetId, targetName, ...entry }) => ({
		...entry,
		projectId,
		actor: { kind: actorKind, id: actorId, name: actorName },
		target: targetKind === null ? null : { kind: targetKind, id: targetId, name: targetName },
	}));
}

const ENTRIES = unlocked("audit", "no");

/** Deletes up to `limit` entries older than `cutoff`, oldest first. Returns how many. */
export function* sweepAudit({ cutoff, limit }: { readonly cutoff: number; readonly limit: number }): Steps<number> {
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.audit
		WHERE ${ENTRIES} WHERE at < ${cutoff} ORDER BY at LIMIT ${limit}${endUnlocked} RETURNING id`);
	return deleted.length;
}
