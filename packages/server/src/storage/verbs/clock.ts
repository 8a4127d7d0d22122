/** The record of the clock, which keeps a wrong one from deleting the log (see engine/retention-clock.ts). */
import { forUpdate, sql } from "./sql.ts";
import { row, rows, type Steps } from "./verb.ts";

/** The latest time that a node's clock showed and was trusted, milliseconds since the epoch, in decimal. */
export const CLOCK_SEEN = "clock_seen_at";
/** How far trusted clocks have jumped ahead and not been made up for yet, milliseconds, in decimal. */
export const CLOCK_JUMPED = "clock_jumped_ms";
/** Time that is seen to pass makes up for this many times as much that was jumped over: for machines that are off daily. */
const MADE_UP_TIMES = 4;

/** What a node's clock shows, compared with what was seen before. */
export interface ClockSeen {
	/** The latest trusted time, milliseconds. */
	readonly seenAt: number;
	/** Whether `now` is too far ahead of it to be trusted. */
	readonly isAhead: boolean;
	/** How far clocks have jumped ahead, including this one, milliseconds. */
	readonly jumpedMs: number;
}

/**
 * Records the time of a node's clock, unless it is more than `stepMs` ahead of all that was seen before. Smaller jumps
 * add up, or a clock could creep any distance ahead in small steps.
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
	const jumps = yield* row<{ value: string }>(sql`SELECT value FROM posthorn.settings WHERE name = ${CLOCK_JUMPED}`);
	const jumpedBefore = Number(jumps?.value ?? 0);
	if (found === undefined) {
		yield* set(CLOCK_SEEN, p.now);
		return { seenAt: p.now, isAhead: false, jumpedMs: jumpedBefore };
	}
	const seenAt = Number(found.value);
	const passed = Math.max(0, Math.min(p.now, p.vouched) - seenAt);
	const jumped = Math.max(0, Math.round(p.now - Math.max(seenAt, p.vouched)));
	const jumpedMs = jumped + Math.max(0, jumpedBefore - MADE_UP_TIMES * passed);
	if (jumped > 0 && jumpedMs > p.stepMs) return { seenAt, isAhead: true, jumpedMs };
	if (p.now > seenAt) yield* set(CLOCK_SEEN, p.now);
	if (jumpedMs !== jumpedBefore) yield* set(CLOCK_JUMPED, jumpedMs);
	return { seenAt: Math.max(p.now, seenAt), isAhead: false, jumpedMs };
}

/** Trusts this time from now on: an operator confirmed it. */
export function* confirmClock({ now }: { readonly now: number }): Steps<void> {
	yield* set(CLOCK_SEEN, now);
	yield* set(CLOCK_JUMPED, 0);
}

function* set(name: string, value: number): Steps<void> {
	yield* rows(
		sql`INSERT INTO posthorn.settings (name, value) VALUES (${name}, ${String(value)})
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	);
}
