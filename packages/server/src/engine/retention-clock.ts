import { type Clock, type Moment, momentOf, type Repetition, repeat } from "../base/clock.ts";
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
/** Where retention doesn't advance, nothing is old. */
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

/**
 * The time as retention sees it. A wrong clock must not delete the log, nor dead-letter pending deliveries: a time that is
 * far ahead is only believed once an operator confirms it.
 *
 * The database keeps the latest trusted time. Each node raises it once a minute. A node whose clock is more than a step
 * ahead of it is on hold, unless its monotonic clock says that so much time has passed since its own last observation.
 * Smaller jumps add up to a step; time that the node has seen pass makes up for them.
 *
 * A clock that is ahead looks the same whether it jumped, the service restarts while it is ahead, an old backup was
 * restored, or the machine really was off. Only a person knows which, so all of them wait for a person.
 *
 *     observed ──▶ trusted ◀──────────── confirmed by an operator, here or on another node;
 *                     │                  or the clock was set back
 *                     └──▶ on hold ──────────▲
 */
export class RetentionClock {
	readonly #options: RetentionClockOptions;
	readonly #stepMs: number;
	#trusted: Moment | null = null;
	#ahead: ClockHold | null = null;
	/** Whether the clocks were found to differ when they were last compared. */
	#isApart = false;
	#observing: Repetition | null = null;

	private constructor(options: RetentionClockOptions) {
		this.#options = options;
		this.#stepMs = stepMs(options.retentionMs);
	}

	/** Compares the clock before anything can be old. Rejects if storage fails. */
	static async start(options: RetentionClockOptions): Promise<RetentionClock> {
		const clock = new RetentionClock(options);
		await clock.observe();
		clock.#observing = repeat(options.clock, OBSERVE_EVERY_MS, () => clock.#observeAgain());
		return clock;
	}

	/** The current time, or one before everything while it can't be trusted. */
	readonly now = (): number => {
		const { clock } = this.#options;
		if (this.#trusted === null || this.hold !== null) return NEVER;
		const elapsed = clock.elapsed() - this.#trusted.elapsed;
		return Math.min(clock.now(), this.#trusted.now + elapsed + SLACK_MS);
	};

	/** Whether the time that the clock shows is believed. */
	readonly isTrusted = (): boolean => {
		const { clock } = this.#options;
		if (this.#trusted === null || this.hold !== null) return false;
		return clock.now() <= this.#trusted.now + (clock.elapsed() - this.#trusted.elapsed) + this.#stepMs;
	};

	get hold(): ClockHold | null {
		const aheadMs = this.#databaseAheadMs;
		return aheadMs > this.#stepMs ? { kind: "apart", aheadMs } : this.#ahead;
	}

	/** What is wrong with the clock, and what to do; null if nothing is. */
	get notice(): string | null {
		return this.hold === null ? apartText(this.#databaseAheadMs) : holdText(this.hold);
	}

	get #databaseAheadMs(): number {
		return this.#options.databaseAheadMs?.() ?? 0;
	}

	async observe(): Promise<void> {
		const { storage, clock, logger } = this.#options;
		const at = momentOf(clock);
		const vouched = this.#trusted === null ? 0 : this.#trusted.now + (at.elapsed - this.#trusted.elapsed);
		const { isAhead, ...seen } = await storage.observeClock({ now: at.now, vouched, stepMs: this.#stepMs });
		const wasAhead = this.#ahead !== null;
		this.#ahead = isAhead ? { kind: "ahead", now: at.now, ...seen } : null;
		if (!isAhead) this.#trusted = at;
		if (this.hold !== null) logger.error(this.hold, holdText(this.hold));
		else if (wasAhead) logger.warn({}, "the clock is trusted again: expired rows will be deleted");
		this.#reportApart();
	}

	#reportApart(): void {
		const { logger } = this.#options;
		const aheadMs = this.#databaseAheadMs;
		const text = apartText(aheadMs);
		if (text !== null && !this.#isApart) logger.warn({ aheadMs }, text);
		if (text === null && this.#isApart)
			logger.warn({ aheadMs }, "the clocks of this node and the database agree again");
		this.#isApart = text !== null;
	}

	/** Trusts the time that the clock shows: an operator has confirmed it. */
	async confirm(): Promise<void> {
		const { storage, clock } = this.#options;
		await storage.confirmClock({ now: clock.now() });
		await this.observe();
		this.#options.onConfirmed?.();
	}

	async stop(): Promise<void> {
		await this.#observing?.stop();
	}

	async #observeAgain(): Promise<number> {
		await this.observe().catch((error: unknown) => {
			// The monotonic clock vouches for the time until it can be compared again.
			this.#options.logger.warn({ err: error }, "failed to compare the clock with the database's record");
		});
		return OBSERVE_EVERY_MS;
	}
}

/** How far ahead a clock may be and still be trusted, milliseconds. */
export const stepMs = (retentionMs: number): number => Math.min(STEP_MS, retentionMs);

/** What an operator should know and do. */
export function holdText(hold: ClockHold): string {
	const nothing = "Nothing is deleted or dead-lettered for its age meanwhile.";
	if (hold.kind === "apart")
		return `The database's clock is ${days(hold.aheadMs)} ahead of this node's. ${nothing} Synchronize both with NTP.`;
	const { now, seenAt, jumpedMs } = hold;
	const earlier = jumpedMs > now - seenAt ? `, and with earlier jumps it is ${days(jumpedMs)} ahead` : "";
	return (
		`This node's clock shows ${new Date(now).toISOString()}, ${days(now - seenAt)} after the last time that was recorded${earlier}. ` +
		`${nothing} If the clock is wrong, set it. If it is right, because the service was off, confirm it with POST /v1/clock/confirm.`
	);
}

/** The same for clocks that differ too much; null if they don't. @param aheadMs how far the database's clock is ahead */
export function apartText(aheadMs: number): string | null {
	if (Math.abs(aheadMs) <= APART_MS) return null;
	const which = aheadMs > 0 ? "behind" : "ahead of";
	return (
		`This machine's clock is ${(Math.abs(aheadMs) / 1_000).toFixed(1)} s ${which} the database's. Deliveries continue, but the clock that ` +
		"is wrong makes times wrong, and receivers may refuse signatures. Synchronize both with NTP."
	);
}

const days = (ms: number): string => `${(ms / DAY_MS).toFixed(1)} days`;
