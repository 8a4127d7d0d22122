import { type Clock, type Moment, momentOf, repeat } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { SettingStorage } from "../storage/port.ts";

const DAY_MS = 86_400_000;
/** A clock isn't trusted once it has jumped ahead by more than this, or than a whole retention if that is shorter. */
const STEP_MS = 7 * DAY_MS;
/** How often the clock is compared with the database's record. */
const OBSERVE_EVERY_MS = 60_000;
/** How far the wall clock may run ahead of the monotonic one between two observations. */
const SLACK_MS = 60_000;
/**
 * Clocks of this node and the database that differ by more than this are reported, milliseconds. Nodes don't depend on
 * each other's clocks, but people compare their times, and receivers check them.
 */
const APART_MS = 5_000;
/** The time while retention doesn't advance: nothing is old. */
const NEVER = Number.NEGATIVE_INFINITY;

/** Why retention doesn't advance. */
export type ClockHold =
	/** This node's clock is too far ahead of the latest time that was trusted, with or without earlier jumps. */
	| { readonly kind: "ahead"; readonly now: number; readonly seenAt: number; readonly jumpedMs: number }
	/** The database's clock is this far ahead of this node's. */
	| { readonly kind: "apart"; readonly aheadMs: number };

export interface RetentionClockOptions {
	readonly storage: SettingStorage;
	readonly clock: Clock;
	readonly logger: Logger;
	readonly retentionMs: number;
	readonly databaseAheadMs?: () => number;
	/** An operator has confirmed the time. */
	readonly onConfirmed?: () => void;
}

export interface RetentionClock {
	/** The current time, or one before everything while it can't be trusted. */
	now(): number;
	/** Whether the clock's time is trusted. */
	isTrusted(): boolean;
	readonly hold: ClockHold | null;
	/** What is wrong with the clock, and what to do; null if nothing is. */
	readonly notice: string | null;
	/** Compares the clock with the database's record. Rejects if storage fails. */
	observe(): Promise<void>;
	/** Trusts the clock's time, because an operator has confirmed it. */
	confirm(): Promise<void>;
	stop(): Promise<void>;
}

/**
 * The time as retention sees it. A wrong clock must not delete the log, nor dead-letter pending deliveries: a time that is
 * far ahead is only trusted once an operator confirms it.
 *
 * The database keeps the latest trusted time. Each node raises it once a minute. A node whose clock is more than a step
 * ahead of it is on hold, unless its monotonic clock shows that as much time has passed since its own last observation.
 * Smaller jumps add up to a step; time that the node has seen pass makes up for them.
 *
 * A clock that is ahead looks the same whether it jumped, the service restarted while it was ahead, an old backup was
 * restored, or the machine really was off. Only an operator knows which, so retention waits for one in all these cases.
 *
 *     observed ──▶ trusted ◀──────────── confirmed by an operator, here or on another node;
 *                     │                  or the clock was set back
 *                     └──▶ on hold ──────────▲
 */
export async function startRetentionClock(options: RetentionClockOptions): Promise<RetentionClock> {
	const { storage, clock, logger, databaseAheadMs = () => 0, onConfirmed } = options;
	const mostMs = stepMs(options.retentionMs);
	let trusted: Moment | null = null;
	let ahead: ClockHold | null = null;
	/** Whether the clocks were found to differ when they were last compared. */
	let isApart = false;

	function hold(): ClockHold | null {
		const aheadMs = databaseAheadMs();
		return aheadMs > mostMs ? { kind: "apart", aheadMs } : ahead;
	}

	/** What the clock should show, by the monotonic time since it was last trusted; null while it isn't. */
	const expected = (): number | null =>
		trusted === null || hold() !== null ? null : trusted.now + (clock.elapsed() - trusted.elapsed);

	/** Observations run one after the other, so that an earlier result never replaces a later one. */
	let observed: Promise<void> = Promise.resolve();
	function observe(): Promise<void> {
		observed = observed.catch(() => undefined).then(observeOnce);
		return observed;
	}

	async function observeOnce(): Promise<void> {
		const at = momentOf(clock);
		const since = trusted?.now ?? 0;
		const vouched = trusted === null ? 0 : since + (at.elapsed - trusted.elapsed);
		const { isAhead, ...seen } = await storage.observeClock({ now: at.now, since, vouched, stepMs: mostMs });
		const wasAhead = ahead !== null;
		ahead = isAhead ? { kind: "ahead", now: at.now, ...seen } : null;
		if (!isAhead) trusted = at;
		const held = hold();
		if (held !== null) logger.error(held, holdText(held));
		else if (wasAhead) logger.warn({}, "the clock is trusted again: expired rows will be deleted");
		reportApart();
	}

	function reportApart(): void {
		const aheadMs = databaseAheadMs();
		const text = apartText(aheadMs);
		if (text !== null && !isApart) logger.warn({ aheadMs }, text);
		if (text === null && isApart) logger.warn({ aheadMs }, "the clocks of this node and the database agree again");
		isApart = text !== null;
	}

	// Before anything is deleted.
	await observe();
	const observing = repeat(clock, OBSERVE_EVERY_MS, async () => {
		await observe().catch((error: unknown) => {
			// The monotonic clock vouches for the time until it can be compared again.
			logger.warn({ err: error }, "failed to compare the clock with the database's record");
		});
		return OBSERVE_EVERY_MS;
	});
	return {
		now: () => Math.min(clock.now(), (expected() ?? NEVER) + SLACK_MS),
		isTrusted: () => clock.now() <= (expected() ?? NEVER) + mostMs,
		get hold() {
			return hold();
		},
		get notice() {
			const held = hold();
			return held === null ? apartText(databaseAheadMs()) : holdText(held);
		},
		observe,
		async confirm() {
			await storage.confirmClock({ now: clock.now() });
			await observe();
			onConfirmed?.();
		},
		stop: () => observing.stop(),
	};
}

/** How far ahead a clock may be and still be trusted, milliseconds. */
export const stepMs = (retentionMs: number): number => Math.min(STEP_MS, retentionMs);

/** What an operator should know and do. */
export function holdText(hold: ClockHold): string {
	if (hold.kind === "apart")
		return (
			`The database's clock is ${days(hold.aheadMs)} ahead of this node's. ` +
			"Meanwhile, this node deletes nothing and dead-letters nothing for its age. If this node's clock is the wrong one, " +
			"events published through it look old to other nodes, which may close them as expired. Synchronize both with NTP."
		);
	const { now, seenAt, jumpedMs } = hold;
	const earlier = jumpedMs > now - seenAt ? `, and with earlier jumps it is ${days(jumpedMs)} ahead` : "";
	return (
		`This node's clock shows ${new Date(now).toISOString()}, ${days(now - seenAt)} after the last time that was recorded${earlier}. ` +
		`Nothing is deleted or dead-lettered for its age meanwhile. If the clock is wrong, set it. If it is right, because the service was off or the clock was far behind before, confirm it with POST /v1/clock/confirm.`
	);
}

/** A notice about clocks that differ too much; null if they don't. @param aheadMs how far the database's clock is ahead */
export function apartText(aheadMs: number): string | null {
	if (Math.abs(aheadMs) <= APART_MS) return null;
	const which = aheadMs > 0 ? "behind" : "ahead of";
	return (
		`This machine's clock is ${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${which} the database's. Deliveries continue, but the clock that ` +
		"is wrong makes times wrong, and receivers may refuse signatures. Synchronize both with NTP."
	);
}

const days = (ms: number): string => `${(ms / DAY_MS).toFixed(1)} days`;
