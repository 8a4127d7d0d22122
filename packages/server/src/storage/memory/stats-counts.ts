import { NOT_SENT, PER_OCTAVE } from "../shared/response-times.ts";
import type { MemoryNode } from "./node.ts";
import type { AttemptRow, StatRow } from "./rows.ts";

/** Milliseconds; the grains in which attempts are counted. */
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

/** For how long attempts are counted by minute: two days, and what an hour that is under way adds. */
const MINUTES_KEPT_MS = 49 * HOUR;

/** Counts an attempt for its webhook and for its project, by minute and by hour. */
export function countAttempt({ tables: { stats } }: MemoryNode, row: AttemptRow): void {
	const { startedAt, sent, responseMs } = row.entry;
	const responseClass = sent === null ? NOT_SENT : Math.floor(PER_OCTAVE * Math.log2(Math.max(responseMs, 1)));
	for (const scope of [row.webhookNo, -row.projectNo])
		for (const grain of [MINUTE, HOUR]) {
			const place = { scope, grain, at: Math.floor(startedAt / grain), status: row.status, responseClass };
			stats.put({ ...place, n: (stats.by.place.get(place)?.n ?? 0) + 1 });
		}
}

/** Deletes counts of minutes that are too old now and of hours that ended before `cutoff`. */
export function sweepStats({ tables: { stats }, clock }: MemoryNode, cutoff: number): void {
	const minute = Math.floor((clock.now() - MINUTES_KEPT_MS) / MINUTE);
	const hour = Math.floor(cutoff / HOUR);
	for (const row of [...stats.values()]) if (row.at < (row.grain === MINUTE ? minute : hour)) stats.delete(keyOf(row));
}

const keyOf = ({ scope, grain, at, status, responseClass }: Omit<StatRow, "n">): string =>
	`${scope}/${grain}/${at}/${status}/${responseClass}`;
