import type { Clock, Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { RetentionStorage, SweepStep } from "../storage/port.ts";

/** Interval between passes. */
const EVERY_MS = 60 * 60 * 1000;
/** Rows examined per step. Each step is a short transaction. */
const STEP_ROWS = 500;
/** Rows dated further ahead than this were written while a clock was wrong. */
const CLOCKS_DIFFER_MS = 24 * 60 * 60 * 1000;
/** Pause between steps, for publishing and settling. */
const BETWEEN_STEPS_MS = 50;

export interface RetentionOptions {
	readonly storage: RetentionStorage;
	readonly clock: Clock;
	/** Real time, for the pauses between steps. */
	readonly disk: Clock;
	readonly logger: Logger;
	readonly retentionMs: number;
	/** The time that retention uses. */
	readonly retentionNow: () => number;
	/** Called with projects whose paused lanes have events that aged out without an attempt. */
	readonly onUnattempted: (projectIds: readonly string[]) => void;
}

/**
 * Deletes everything older than the log retention, in small steps that block nothing, and finds events that aged out
 * without an attempt, so that their lanes dead-letter them first.
 */
export class RetentionSweeper {
	readonly #options: RetentionOptions;
	#timer: Timer | null = null;
	#pass: Promise<void> | null = null;
	#stopped = false;

	constructor(options: RetentionOptions) {
		this.#options = options;
	}

	start(): void {
		void this.sweep();
		this.#timer = this.#options.clock.setTimeout(() => this.start(), EVERY_MS);
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		this.#timer?.cancel();
		await this.#pass;
	}

	/** Runs one whole pass, or joins the current one. */
	sweep(): Promise<void> {
		this.#pass ??= this.#sweep().finally(() => {
			this.#pass = null;
		});
		return this.#pass;
	}

	async #sweep(): Promise<void> {
		const { storage, logger, retentionNow, retentionMs } = this.#options;
		const now = retentionNow();
		if (!Number.isFinite(now)) return;
		const pass = { cutoff: now - retentionMs, latest: now + CLOCKS_DIFFER_MS, limit: STEP_ROWS };
		try {
			const attempts = await this.#steps((from) => storage.sweepAttempts({ ...pass, from }));
			const events = await this.#steps((from) => storage.sweepEvents({ ...pass, from }));
			if (attempts + events > 0) logger.info({ attempts, events }, "deleted expired events and delivery log entries");
		} catch (error) {
			logger.error({ err: error, retryInMs: EVERY_MS }, "the retention sweep failed");
		}
	}

	async #steps(step: (from: number) => Promise<SweepStep>): Promise<number> {
		const { disk, onUnattempted } = this.#options;
		let deleted = 0;
		for (let from: number | null = 0; from !== null && !this.#stopped; ) {
			const done: SweepStep = await step(from);
			deleted += done.deleted;
			if (done.unattempted.length > 0) onUnattempted(done.unattempted);
			from = done.next;
			if (from !== null) await new Promise<void>((resolve) => disk.setTimeout(resolve, BETWEEN_STEPS_MS));
		}
		return deleted;
	}
}
