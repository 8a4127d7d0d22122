import { HOUR, MINUTE, MINUTES_KEPT_MS, responseClass as responseClassOf } from "../../../src/storage/shared/stats.ts";
import type { MemoryNode } from "./node.ts";
import type { AttemptRow } from "./rows.ts";

const GRAINS = [MINUTE, HOUR];

/** Counts an attempt by minute and by hour. */
export function countAttempt({ database, tables: { stats } }: MemoryNode, row: AttemptRow): void {
	const { projectNo, webhookNo, status, entry } = row;
	const { startedAt } = entry;
	const responseClass = responseClassOf(entry);
	for (const grain of GRAINS) {
		const at = Math.floor(startedAt / grain);
		const key = { projectNo, webhookNo, grain, at, status, responseClass };
		const counted = stats.by.key.get(key);
		stats.put(counted ? { ...counted, n: counted.n + 1 } : { no: database.nextNo(), ...key, n: 1 });
	}
}

/** Deletes minute counts that are now too old and hour counts that ended before `cutoff`. */
export function sweepStats({ tables: { stats }, clock }: MemoryNode, cutoff: number, now = clock.now()): void {
	const minute = Math.floor((now - MINUTES_KEPT_MS) / MINUTE);
	const hour = Math.floor(cutoff / HOUR);
	for (const { no, grain, at } of [...stats.values()]) if (at < (grain === MINUTE ? minute : hour)) stats.delete(no);
}
