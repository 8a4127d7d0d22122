import { RETENTION } from "../base/budgets.ts";
import { type Repetition, repeat, restAfter } from "../base/clock.ts";
import type { PeerStorage, RetentionStorage, Sweep, SweepStep } from "../storage/port.ts";
import type { ActorContext } from "./actor/context.ts";

/** Time between the end of a pass and the next one. */
const REST_MS = 55 * 60_000;
const LOOK_EVERY_MS = 5 * 60_000;
/** If a sweeping node doesn't renew for this long, the next node that checks takes over. */
const TERM_MS = 2 * 60_000;
/** Rows dated further ahead than this were written while a clock was wrong. */
const CLOCKS_DIFFER_MS = 24 * 60 * 60_000;
/**
 * After a step, the sweep leaves the database to publishing and settling for this many times as long as the step took,
 * within these bounds. If the process was suspended during the step, it seems to have taken that long.
 */
const PAUSE_TIMES = 2;
const PAUSE_MS = 20;
const PAUSE_MAX_MS = 60_000;

type SweepContext = Pick<
	ActorContext,
	"clock" | "disk" | "logger" | "holder" | "retentionMs" | "retentionNow" | "observer"
> & {
	readonly storage: RetentionStorage & { readonly peers: Pick<PeerStorage, "takeSweep" | "endSweep"> | null };
};

/**
 * Deletes everything older than the log retention, in small steps that block nothing, and finds events that expired
 * without an attempt, so that their lanes dead-letter them first. Only one node sweeps at a time; each pass may run on a
 * different one.
 *
 * @param onUnattempted called with projects whose paused lanes have events that expired without an attempt
 */
export function createSweeper(context: SweepContext, onUnattempted: (projectIds: readonly string[]) => void) {
	const { storage, clock, disk, logger, holder, retentionMs, retentionNow, observer } = context;
	const { peers } = storage;
	let looking: Repetition | null = null;
	let pass: Promise<void> | null = null;
	/** Monotonic times: when the next pass is due here, and when this node last took or renewed the sweep. */
	let dueAt = 0;
	let takenAt = 0;
	/** Whether this node got the sweep when it last asked for it. */
	let isTaken = false;
	let endRest: () => void = () => undefined;
	let isStopped = false;

	/** Runs a pass, or joins the current one. @param early whether to run it even if it isn't due */
	function sweep(early = true): Promise<void> {
		pass ??= runPass(early).finally(() => {
			pass = null;
		});
		return pass;
	}

	/** Whether to delete nothing more: the service is stopping, its clock isn't trusted, or the database is in quarantine. */
	const mustEnd = (): boolean => isStopped || !Number.isFinite(retentionNow());

	async function runPass(early: boolean): Promise<void> {
		// A node whose clock isn't trusted leaves the pass to others.
		const now = retentionNow();
		if (!Number.isFinite(now)) return;
		const range = { now, cutoff: now - retentionMs, latest: now + CLOCKS_DIFFER_MS, limit: RETENTION.rowsPerStep };
		try {
			if (!(await take(early))) return;
			const attempts = await runSteps("attempts", (from) => storage.sweepAttempts({ ...range, from }));
			const events = await runSteps("events", (from) => sweepEvents({ ...range, from }));
			if (attempts + events > 0) logger.info({ attempts, events }, "deleted expired events and delivery log entries");
			// Another node has taken over the pass.
			if (!isTaken) return;
			const restMs = mustEnd() ? 0 : REST_MS;
			dueAt = clock.elapsed() + restMs;
			await peers?.endSweep({ holder, restMs });
			if (!mustEnd()) observer.passed?.();
		} catch (error) {
			// The next node that checks may try again.
			logger.error({ err: error, retryInMs: LOOK_EVERY_MS }, "the retention sweep failed");
		}
	}

	async function sweepEvents(p: Sweep): Promise<SweepStep> {
		const done = await storage.sweepEvents(p);
		if (done.unattempted.length > 0) onUnattempted(done.unattempted);
		return done;
	}

	/** Takes or renews the sweep. Returns whether this node has it. */
	async function take(early: boolean): Promise<boolean> {
		takenAt = clock.elapsed();
		isTaken = peers === null ? early || takenAt >= dueAt : await peers.takeSweep({ holder, termMs: TERM_MS, early });
		return isTaken;
	}

	/** Whether this node still has the sweep: it may have been suspended and replaced. */
	async function keeps(): Promise<boolean> {
		return isTaken && (peers === null || clock.elapsed() - takenAt < TERM_MS / 4 || take(false));
	}

	async function runSteps(what: "attempts" | "events", step: (from: number) => Promise<SweepStep>): Promise<number> {
		let deleted = 0;
		for (let from: number | null = 0; from !== null && !mustEnd() && (await keeps()); ) {
			const begunAt = disk.elapsed();
			const done: SweepStep = await step(from);
			deleted += done.deleted;
			if (done.deleted > 0) observer.swept?.(what, done.deleted);
			from = done.next;
			if (from !== null) await rest(Math.max(PAUSE_MS, restAfter(disk, begunAt, PAUSE_TIMES, PAUSE_MAX_MS)));
		}
		return deleted;
	}

	/** Ends early when the service stops. */
	function rest(ms: number): Promise<void> {
		if (isStopped) return Promise.resolve();
		return new Promise((resolve) => {
			endRest = resolve;
			disk.setTimeout(resolve, ms);
		});
	}

	return {
		start(): void {
			void sweep();
			looking = repeat(clock, LOOK_EVERY_MS, async () => {
				void sweep(false);
				return LOOK_EVERY_MS;
			});
		},
		sweep,
		async stop(): Promise<void> {
			isStopped = true;
			endRest();
			await looking?.stop();
			await pass;
		},
	};
}
