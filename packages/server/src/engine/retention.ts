import { RETENTION } from "../base/budgets.ts";
import type { Timer } from "../base/clock.ts";
import type { PeerStorage, RetentionStorage, SweepStep } from "../storage/port.ts";
import type { ActorContext } from "./actor/context.ts";

/** Time between the end of a pass and the next one. */
const REST_MS = 55 * 60_000;
const LOOK_EVERY_MS = 5 * 60_000;
/** If a sweeping node doesn't renew for this long, the next node that checks takes over. */
const TERM_MS = 2 * 60_000;
/** Rows dated further ahead than this were written while a clock was wrong. */
const CLOCKS_DIFFER_MS = 24 * 60 * 60_000;
/** The pause after a step, for publishing and settling: this many times what the step took, and at least this long. */
const PAUSE_TIMES = 2;
const PAUSE_MS = 20;

type SweepContext = Pick<
	ActorContext,
	"clock" | "disk" | "logger" | "holder" | "retentionMs" | "retentionNow" | "observer"
> & {
	readonly storage: RetentionStorage & { readonly peers: Pick<PeerStorage, "takeSweep" | "endSweep"> | null };
};

/**
 * Deletes everything older than the log retention, in small steps that block nothing, and finds events that aged out
 * without an attempt, so that their lanes dead-letter them first. Of several nodes one sweeps at a time; which one is
 * chosen again for each pass.
 */
export class RetentionSweeper {
	readonly #context: SweepContext;
	readonly #onUnattempted: (projectIds: readonly string[]) => void;
	#timer: Timer | null = null;
	#pass: Promise<void> | null = null;
	/** Monotonic times: when the next pass is due here, and when this node last took or renewed the sweep. */
	#dueAt = 0;
	#takenAt = 0;
	#endRest: () => void = () => undefined;
	#stopped = false;

	/** @param onUnattempted called with projects whose paused lanes have events that aged out without an attempt */
	constructor(context: SweepContext, onUnattempted: (projectIds: readonly string[]) => void) {
		this.#context = context;
		this.#onUnattempted = onUnattempted;
	}

	start(): void {
		void this.sweep();
		this.#lookAgain();
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		this.#timer?.cancel();
		this.#endRest();
		await this.#pass;
	}

	/** Runs one whole pass, or joins the current one. `early`: even if it isn't due. */
	sweep(early = true): Promise<void> {
		this.#pass ??= this.#sweep(early).finally(() => {
			this.#pass = null;
		});
		return this.#pass;
	}

	#lookAgain(): void {
		this.#timer = this.#context.clock.setTimeout(() => {
			void this.sweep(false);
			this.#lookAgain();
		}, LOOK_EVERY_MS);
	}

	async #sweep(early: boolean): Promise<void> {
		const { storage, logger, retentionNow, retentionMs } = this.#context;
		// A node whose clock isn't trusted leaves the pass to others.
		const now = retentionNow();
		if (!Number.isFinite(now)) return;
		const pass = { cutoff: now - retentionMs, latest: now + CLOCKS_DIFFER_MS, limit: RETENTION.rowsPerStep };
		try {
			if (!(await this.#take(early))) return;
			const attempts = await this.#steps("attempts", (from) => storage.sweepAttempts({ ...pass, from }));
			const events = await this.#steps("events", (from) => storage.sweepEvents({ ...pass, from }));
			if (attempts + events > 0) logger.info({ attempts, events }, "deleted expired events and delivery log entries");
			await this.#end(this.#stopped ? 0 : REST_MS);
			if (!this.#stopped) this.#context.observer.passed?.();
		} catch (error) {
			// Any node may try again when it looks.
			logger.error({ err: error, retryInMs: LOOK_EVERY_MS }, "the retention sweep failed");
		}
	}

	/** Whether this node sweeps now. */
	async #take(early: boolean): Promise<boolean> {
		const { storage, clock, holder } = this.#context;
		this.#takenAt = clock.elapsed();
		if (storage.peers === null) return early || this.#takenAt >= this.#dueAt;
		return storage.peers.takeSweep({ holder, termMs: TERM_MS, early });
	}

	async #end(restMs: number): Promise<void> {
		const { storage, clock, holder } = this.#context;
		this.#dueAt = clock.elapsed() + restMs;
		await storage.peers?.endSweep({ holder, restMs });
	}

	/** Whether this node still sweeps: it may have been suspended, and replaced. */
	async #keeps(): Promise<boolean> {
		const { storage, clock } = this.#context;
		if (storage.peers === null || clock.elapsed() - this.#takenAt < TERM_MS / 4) return true;
		return this.#take(false);
	}

	async #steps(what: "attempts" | "events", step: (from: number) => Promise<SweepStep>): Promise<number> {
		const { disk, observer } = this.#context;
		let deleted = 0;
		for (let from: number | null = 0; from !== null && !this.#stopped && (await this.#keeps()); ) {
			const begunAt = disk.elapsed();
			const done: SweepStep = await step(from);
			deleted += done.deleted;
			if (done.deleted > 0) observer.swept?.(what, done.deleted);
			if (done.unattempted.length > 0) this.#onUnattempted(done.unattempted);
			from = done.next;
			const pauseMs = Math.max(PAUSE_MS, PAUSE_TIMES * (disk.elapsed() - begunAt));
			if (from !== null) await this.#rest(pauseMs);
		}
		return deleted;
	}

	/** Ends early when the service stops. */
	#rest(ms: number): Promise<void> {
		if (this.#stopped) return Promise.resolve();
		return new Promise((resolve) => {
			this.#endRest = resolve;
			this.#context.disk.setTimeout(resolve, ms);
		});
	}
}
