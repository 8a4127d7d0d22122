/** How a project leaves this node: wait for attempts in flight, then hand over the remaining ones. */
import { sleep } from "../../base/clock.ts";
import { type HandedOver, type LaneProgress, type Settlement, StorageError } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Outcome, Sent } from "../send/outcome.ts";
import { changesOf, type SettleItem } from "../settle/settler.ts";
import { type Attempts, consequenceOf, type InFlight } from "./attempt.ts";
import type { ActorContext, ProjectWork } from "./context.ts";

/** How long a project that changes nodes waits for its attempts in flight. Those that take longer are handed over. */
const HANDOVER_WAIT_MS = 500;

export class Retirement {
	readonly #work: ProjectWork;
	readonly #attempts: Attempts;
	/** Whether nothing more is started. */
	begun = false;
	/** The attempts being handed over; null before that, or if there are none. From then on nothing may be written. */
	handover: Handover | null = null;

	constructor(work: ProjectWork, attempts: Attempts) {
		this.#work = work;
		this.#attempts = attempts;
	}

	/** See {@link Actor.retire}. @param quiet resolves when nothing is in flight, or when the actor has ended */
	async run(lanes: Iterable<Lane>, quiet: () => Promise<void>): Promise<void> {
		this.begun = true;
		const { context, post } = this.#work;
		const timer = context.clock.setTimeout(() => post({ kind: "hand_over" }), HANDOVER_WAIT_MS);
		await quiet();
		timer.cancel();
		for (const lane of lanes) this.#attempts.storeProgress(lane);
		await quiet();
	}

	/** Puts unwritten attempts back into their queues. The others are settled once the lease is released. */
	handOver(): void {
		const { context, inFlight, lease, open } = this.#work;
		if (inFlight.size === 0) return;
		const all = inFlight.takeAll();
		for (const inFlight of all) {
			if (inFlight.writtenAt !== null) open.end();
			else this.#attempts.putBack(inFlight);
		}
		const written = all.filter(({ writtenAt }) => writtenAt !== null);
		this.handover = new Handover(context, lease, written);
	}
}

/** An attempt is settled at most this long after its deadline; then another node may repeat it. */
const MARGIN_MS = 5_000;
/** Delay before an outcome is settled again when storage is unavailable. */
const RETRY_MS = 500;

interface Entry {
	readonly attempt: HandedOver;
	/** The lane's progress when the project was released, as if this attempt were settled; null for a retry. */
	readonly lane: LaneProgress | null;
	/** Its webhook was already deleted: there is no next attempt. */
	readonly gone: boolean;
}

/**
 * Attempts in flight that outlive the actor that started them. A project that changes nodes doesn't wait for a receiver
 * that hangs: its lease is released together with a list of the attempts whose requests were written, and this node
 * settles each of them, by that list, when it ends. Until then the project's next owner counts them as in flight.
 */
export class Handover {
	readonly #context: ActorContext;
	readonly #lease: SettleItem["lease"];
	/** Of those that aren't settled. */
	readonly #entries = new Map<InFlight, Entry>();
	readonly #released = Promise.withResolvers<void>();
	readonly #over = Promise.withResolvers<void>();

	constructor(context: ActorContext, lease: SettleItem["lease"], attempts: readonly InFlight[]) {
		this.#context = context;
		this.#lease = lease;
		for (const inFlight of attempts) this.#entries.set(inFlight, this.#entryOf(inFlight));
		if (attempts.length === 0) this.#over.resolve();
	}

	get attempts(): readonly HandedOver[] {
		return [...this.#entries.values()].map(({ attempt }) => attempt);
	}

	/** The release has finished. If it failed or the lease was lost, settling is rejected. */
	released(): void {
		this.#released.resolve();
	}

	/** Resolves when all attempts are settled or rejected. */
	get over(): Promise<void> {
		return this.#over.promise;
	}

	/** @returns whether this attempt was handed over: it is settled once the lease is released */
	ended(inFlight: InFlight, outcome: Outcome | Sent): boolean {
		const entry = this.#entries.get(inFlight);
		if (!entry) return false;
		inFlight.ended();
		void this.#settle(inFlight, entry, outcome);
		return true;
	}

	async #settle(inFlight: InFlight, entry: Entry, outcome: Outcome | Sent): Promise<void> {
		const delays = entry.gone ? [] : this.#context.retryDelaysMs;
		// A request written to a connection that turned out to be closed doesn't count as an attempt: the next owner makes
		// it.
		const isNone = outcome.kind === "cancelled" || outcome.kind === "deferred";
		const consequence = isNone ? null : consequenceOf(inFlight, outcome, delays);
		const { projectId, generation } = this.#lease;
		const changes = changesOf(consequence ? [{ ...consequence, lane: entry.lane }] : []);
		const settlement = { projectId, generation, ...changes };
		if (consequence) this.#context.unsettled.begin();
		await this.#released.promise;
		const result = await this.#commit(entry.attempt, settlement);
		if (consequence) this.#context.unsettled.end(result);
		if (result === "stale")
			this.#context.logger.warn(
				{ projectId },
				"an attempt that was handed over ended too late: another node may repeat it",
			);
		else if (consequence) {
			const { attempt, lagMs } = consequence;
			this.#context.observer.attempted?.(projectId, inFlight.eventId, attempt, lagMs);
		}
		this.#context.onHandedOverSettled(projectId);
		this.#entries.delete(inFlight);
		if (this.#entries.size === 0) this.#over.resolve();
	}

	async #commit(attempt: HandedOver, settlement: Settlement): Promise<"settled" | "stale"> {
		const { storage, clock, logger } = this.#context;
		for (;;) {
			try {
				return await storage.settleHandedOver({ handedOver: attempt, settlement });
			} catch (error) {
				const { projectId } = settlement;
				const isAway = error instanceof StorageError && error.code !== "closed";
				// From then on another node may repeat the attempt, and this settlement is rejected.
				if (!isAway || clock.now() >= attempt.until) {
					logger.error({ err: error, projectId }, "failed to settle an attempt that was handed over");
					return "stale";
				}
				logger.error(
					{ err: error, projectId, retryInMs: RETRY_MS },
					"storage is unavailable: outcomes wait to be committed",
				);
				await sleep(clock, RETRY_MS);
			}
		}
	}

	#entryOf({ lane, seq, replay, retry, writtenAt }: InFlight): Entry {
		const { clock, attemptTimeoutMs } = this.#context;
		const { webhookId, position, open } = lane.progress;
		// An upper bound: the deadline counts from the attempt's start, which is postponed while the attempt waits to
		// connect.
		const leftMs = Math.max(0, writtenAt! + attemptTimeoutMs - clock.elapsed());
		const until = clock.now() + leftMs + MARGIN_MS;
		return {
			attempt: { webhookId, seq, replay, queue: retry?.queue ?? null, until },
			lane: retry ? null : { webhookId, position, open: open.filter((other) => other !== seq) },
			gone: lane.gone || lane.deleted,
		};
	}
}
