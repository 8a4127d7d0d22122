import { type Claim, QUARANTINE } from "../../../src/storage/port.ts";
import type { MemoryDatabase } from "./database.ts";

/**
 * The claims that hold: those whose evidence is all in the database. Commits are lost from the end, so three witnesses
 * suffice for a project: the lease with the acknowledged revision, the last event, and the last attempt. None holds in
 * quarantine.
 */
export function keptClaims(
	database: MemoryDatabase,
	storedGeneration: (generation: number) => number,
	claims: readonly Claim[],
): Claim[] {
	if (database.cold.setting(QUARANTINE) !== null) return [];
	return claims.filter(({ lease, holder, revision, lastSeq, event, attempt }) => {
		const project = database.project(lease.projectId);
		if (project === undefined) return false;
		const { leases, logs, events, attempts } = database.tables;
		const held = leases.get(project.no)!;
		if (held.generation !== storedGeneration(lease.generation) || held.holder !== holder) return false;
		if (held.until === null || held.acknowledged === null || held.acknowledged < revision) return false;
		if (logs.get(project.no)!.lastSeq < lastSeq) return false;
		if (event !== null && events.by.seq.get({ projectNo: project.no, seq: event.seq })?.id !== event.id) return false;
		if (attempt === null) return true;
		const webhookNo = database.webhook(project.no, attempt.webhookId)?.no;
		if (webhookNo === undefined) return false;
		const logged = attempts.by.delivery.get({ ...attempt, projectNo: project.no, webhookNo });
		return logged?.entry.id === attempt.id;
	});
}
