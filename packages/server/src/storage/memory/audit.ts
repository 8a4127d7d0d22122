import type { AuditEntry, Page } from "../port.ts";
import { BEYOND_ALL_IDS } from "../shared/id-range.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";

export function appendAudit({ database, tables }: MemoryNode, entry: AuditEntry): void {
	const project = database.project(entry.projectId);
	if (project === undefined)
		throw new Error(`An audit entry was made in project ${entry.projectId}, which is not there.`);
	tables.audit.put({ no: database.nextNo(), projectNo: project.no, id: entry.id, entry: structuredClone(entry) });
}

export function listAudit({ database, tables }: MemoryNode, projectId: string, { after, limit }: Page): AuditEntry[] {
	const project = database.project(projectId);
	if (project === undefined) return [];
	const walk = tables.audit.by.project.descending(
		{ projectNo: project.no, id: "" },
		{ projectNo: project.no, id: after ?? BEYOND_ALL_IDS },
	);
	return take(walk, limit).map(({ entry }) => structuredClone(entry));
}

/** Entries lie in the order in which they were written: a step ends at the first that is young enough. */
export function sweepAudit({ tables: { audit } }: MemoryNode, cutoff: number, limit: number): number {
	const rows = take(audit.by.no.ascending({ no: 0 }, { no: Number.POSITIVE_INFINITY }), limit);
	const young = rows.findIndex(({ entry }) => entry.at >= cutoff);
	const old = young === -1 ? rows : rows.slice(0, young);
	for (const { no } of old) audit.delete(no);
	return old.length;
}
