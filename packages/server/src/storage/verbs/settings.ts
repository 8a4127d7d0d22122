/**
 * Values that the instance stores about itself, such as the hash of its operator key; the record of the clock, which
 * keeps a wrong one from deleting the log (see engine/retention-clock.ts); and the mark of a restored database, which
 * sends nothing until an operator releases it (see engine/quarantine.ts).
 */
import { CLOCK_JUMPED, CLOCK_SEEN, type ClockSeen, QUARANTINE, type QuarantineMark } from "../port/registry.ts";
import { forUpdate, sql } from "./sql.ts";
import { row, rows, type Steps, together } from "./verb.ts";

export function* getSetting({ name }: { readonly name: string }): Steps<string | null> {
	const found = yield* row<{ value: string }>(sql`SELECT value FROM posthorn.settings WHERE name = ${name}`);
	return found?.value ?? null;
}

/** Sets it if it isn't set yet. Returns the value that counts. */
export function* initSetting({ name, value }: { readonly name: string; readonly value: string }): Steps<string> {
	const [, [held]] = yield* together(
		sql`INSERT INTO posthorn.settings (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`,
		sql<{ value: string }>`SELECT value FROM posthorn.settings WHERE name = ${name}`,
	);
	return held?.value ?? value;
}

/** Sets it, whether or not it is set already. */
export function* setSetting({ name, value }: { readonly name: string; readonly value: string }): Steps<void> {
	yield* row(sql`
		INSERT INTO posthorn.settings (name, value) VALUES (${name}, ${value})
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
}

/** Replaces its value if that is still `from`, which is null if it isn't set. Returns whether it did. */
export function* replaceSetting({
	name,
	from,
	to,
}: {
	readonly name: string;
	readonly from: string | null;
	readonly to: string;
}): Steps<boolean> {
	const replaced = yield* rows(
		from === null
			? sql`
				INSERT INTO posthorn.settings (name, value) VALUES (${name}, ${to})
				ON CONFLICT (name) DO NOTHING RETURNING name`
			: sql`UPDATE posthorn.settings SET value = ${to} WHERE name = ${name} AND value = ${from} RETURNING name`,
	);
	return replaced.length > 0;
}

/** Time that is seen to pass makes up for this many times as much that was jumped over: for machines that are off daily. */
const MADE_UP_TIMES = 4;

/**
 * Records the time of a node's clock, unless it is more than `stepMs` ahead of all that was seen before. Smaller jumps
 * add up, or a clock could creep any distance ahead in small steps. A clock that is more than `stepMs` behind is recorded,
 * too: when it is set, that then counts as a jump, because everything stored in the meantime looks old.
 *
 * @param since this node's last trusted time: what passed before it was counted then, even if another node has lowered the
 *   record since; 0 without one
 * @param vouched the time that its monotonic clock leads to from there; 0 without one
 */
export function* observeClock(p: {
	readonly now: number;
	readonly since: number;
	readonly vouched: number;
	readonly stepMs: number;
}): Steps<ClockSeen> {
	const found = yield* row<{ value: string }>(
		sql`SELECT value FROM posthorn.settings WHERE name = ${CLOCK_SEEN}${forUpdate}`,
	);
	const jumpedBefore = Number((yield* getSetting({ name: CLOCK_JUMPED })) ?? 0);
	if (found === undefined) {
		yield* setNumber(CLOCK_SEEN, p.now);
		return { seenAt: p.now, isAhead: false, jumpedMs: jumpedBefore };
	}
	const seenAt = Number(found.value);
	const passed = Math.max(0, Math.min(p.now, p.vouched) - Math.max(seenAt, p.since));
	const jumped = Math.max(0, Math.round(p.now - Math.max(seenAt, p.vouched)));
	const jumpedMs = jumped + Math.max(0, jumpedBefore - MADE_UP_TIMES * passed);
	if (jumped > 0 && jumpedMs > p.stepMs) return { seenAt, isAhead: true, jumpedMs };
	const isFarBehind = seenAt - p.now > p.stepMs;
	if (p.now > seenAt || isFarBehind) yield* setNumber(CLOCK_SEEN, p.now);
	if (jumpedMs !== jumpedBefore) yield* setNumber(CLOCK_JUMPED, jumpedMs);
	return { seenAt: isFarBehind ? p.now : Math.max(p.now, seenAt), isAhead: false, jumpedMs };
}

/** Trusts this time from now on: an operator confirmed it. */
export function* confirmClock({ now }: { readonly now: number }): Steps<void> {
	yield* setNumber(CLOCK_SEEN, now);
	yield* setNumber(CLOCK_JUMPED, 0);
}

const setNumber = (name: string, value: number): Steps<void> => setSetting({ name, value: String(value) });

/**
 * Marks a restored database, and deletes ways in that may have ended since the backup, such as because their account was
 * removed or the invitation was used. They are easily issued again.
 *
 * @returns the latest time that the backup contains; null if no node ever ran on it
 */
export function* beginQuarantine({ now }: { readonly now: number }): Steps<number | null> {
	const seen = yield* getSetting({ name: CLOCK_SEEN });
	const mark: QuarantineMark = { since: now, backupAt: seen === null ? null : Number(seen) };
	yield* setSetting({ name: QUARANTINE, value: JSON.stringify(mark) });
	yield* together(
		sql`DELETE FROM posthorn.sessions`,
		sql`DELETE FROM posthorn.links`,
		sql`DELETE FROM posthorn.invitations`,
	);
	return mark.backupAt;
}

/** Allows leases again. Returns whether there was a quarantine. */
export function* endQuarantine(): Steps<boolean> {
	const ended = yield* rows(sql`DELETE FROM posthorn.settings WHERE name = ${QUARANTINE} RETURNING name`);
	return ended.length > 0;
}
