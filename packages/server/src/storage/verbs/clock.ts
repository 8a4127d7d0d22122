/** The record of the clock, which keeps a wrong one from deleting the log (see engine/retention-clock.ts). */
import { forUpdate, sql } from "./sql.ts";
import { row, rows, type Steps } from "./verb.ts";

/** The latest time that a node's clock showed and was trusted, milliseconds since the epoch, in decimal. */
export const CLOCK_SEEN = "clock_seen_at";

/** What a node's clock shows, compared with what was seen before. */
export interface ClockSeen {
	/** The latest trusted time, milliseconds. */
	readonly seenAt: number;
	/** Whether `now` is too far ahead of it to be trusted. */
	readonly isAhead: boolean;
}

/**
 * Records the time of a node's clock, unless it is more than `stepMs` ahead of all that was seen before.
 *
 * @param vouched the time that this node's monotonic clock leads to from its last trusted one; 0 without one
 */
export function* observeClock(p: {
	readonly now: number;
	readonly vouched: number;
	readonly stepMs: number;
}): Steps<ClockSeen> {
	const found = yield* row<{ value: string }>(
		sql`SELECT value FROM posthorn.settings WHERE name = ${CLOCK_SEEN}${forUpdate}`,
	);
	const seenAt = found === undefined ? null : Number(found.value);
	if (seenAt !== null && p.now > Math.max(seenAt, p.vouched) + p.stepMs) return { seenAt, isAhead: true };
	if (seenAt === null || p.now > seenAt) yield* setClock(p.now);
	return { seenAt: Math.max(p.now, seenAt ?? p.now), isAhead: false };
}

/** Trusts this time from now on: an operator confirmed it. */
export function* confirmClock({ now }: { readonly now: number }): Steps<void> {
	yield* setClock(now);
}

function* setClock(now: number): Steps<void> {
	yield* rows(
		sql`INSERT INTO posthorn.settings (name, value) VALUES (${CLOCK_SEEN}, ${String(now)})
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	);
}
