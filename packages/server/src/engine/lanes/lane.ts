import type { SigningKey } from "@posthorn/protocol";
import { SENDS } from "../../base/budgets.ts";
import type { Timer } from "../../base/clock.ts";
import type {
	HandedOver,
	LaneProgress,
	LaneState,
	LogEvent,
	RetryQueue as QueueName,
	Retry,
} from "../../storage/port.ts";
import type { Target } from "../send/sender.ts";
import type { Chunk } from "./chunk.ts";
import { ANY_READ } from "./log-reader.ts";
import { OpenEvents } from "./open-events.ts";
import { RetryQueue } from "./retry-queue.ts";

/** All queues. What a person asked for comes first. */
export const QUEUE_NAMES = ["requested", "retry", "replay"] as const satisfies readonly QueueName[];

/**
 * One webhook's way through its project's log.
 *
 * ```
 *   1 2 3 4 5 6 7 8 9 …            the log
 *       ▲   ▲     ▲
 *       open      position         everything up to here was taken up, or is not wanted
 * ```
 *
 * Open are the events up to the position whose first attempt is not settled: those in flight, and those that have to be
 * sent again, because nothing was sent (the webhook was paused) or the node that sent them died. These go first, in
 * order; then the lane continues beyond its position. At most `maxInFlight` are in flight, so at most as many are open,
 * however long one of them takes. A lane is data and small rules; only its actor changes it.
 */
export class Lane {
	readonly webhookId: string;
	/** What the sender reads at the last moment: changed in place, so that rotation and edits hold at once. */
	readonly target: { -readonly [K in keyof Target]: Target[K] };
	readonly #queues: Readonly<Record<QueueName, RetryQueue>> = {
		retry: new RetryQueue(),
		replay: new RetryQueue(),
		requested: new RetryQueue(),
	};
	/** Whose turn it is to start next: an index into the starter's classes. */
	turn = 0;
	/** Whether it is to be looked at when the actor's messages are done. */
	marked = false;
	/** The webhook is no longer there: nothing starts any more, and what is under way is settled for good. */
	gone = false;
	/** Looking for events whose retention has ended, also while paused. */
	sweeping = true;
	/** Looking, while paused, for retries and replays that have waited since before the retention began. */
	sweepingQueues = true;
	/** The chunk that it reads from, or undefined when it must find one. */
	chunk: Chunk | undefined;
	/** The key of the read that it waits for. */
	awaits: string | null = null;
	/** Its next event found no slot: how large the body was, bytes. Should it be read again, then with a slot in hand. */
	refusedBytes: number | null = null;
	/** The alarm that is set for its next retry. */
	alarm: { readonly at: number; readonly timer: Timer } | null = null;

	#state: LaneState;
	#typesKey: string | null = null;
	#types: readonly string[] | undefined;
	#position: number;
	#committedPosition: number;
	readonly #open: OpenEvents;
	/** First attempts in flight: those of open events, and those that the owner has since moved the lane beyond. */
	#sending = 0;
	#index = 0;
	/** The series of retries and replays from their start until their outcome is committed, by their event. */
	readonly #underWay = new Map<number, number>();
	readonly #queuedSending: Record<QueueName, number> = { retry: 0, replay: 0, requested: 0 };

	/** Attempts that a former holder of the project has in flight. */
	#elsewhere: readonly HandedOver[] = [];

	constructor(projectId: string, state: LaneState, key: SigningKey, allTypes: number) {
		this.webhookId = state.webhookId;
		this.target = { projectId, url: state.url, key, withheld: state.status !== "active" };
		this.#state = state;
		this.#position = state.position;
		this.#committedPosition = state.position;
		this.#open = new OpenEvents(state.open);
		this.#readTypes(allTypes);
	}

	get state(): LaneState {
		return this.#state;
	}

	get active(): boolean {
		return this.#state.status === "active" && !this.gone;
	}

	/** The owner deleted the webhook, and what is pending for it is being closed. */
	get deleted(): boolean {
		return this.#state.status === "deleted";
	}

	/** Whether no retry and no replay is pending or in flight. */
	get queuesEmpty(): boolean {
		return this.#underWay.size === 0 && Object.values(this.#queues).every((queue) => queue.nextDueAt === null);
	}

	get position(): number {
		return this.#position;
	}

	get typesKey(): string | null {
		return this.#typesKey;
	}

	get types(): readonly string[] | undefined {
		return this.#types;
	}

	/** What is settled with each outcome, so that whoever takes the lane up next knows how far it has come. */
	get progress(): LaneProgress {
		return { webhookId: this.webhookId, position: this.#position, open: this.#open.seqs };
	}

	/** How far storage's position is behind: events that were passed over without an attempt. */
	get lag(): number {
		return this.#position - this.#committedPosition;
	}

	/** Whether first attempts wait in a log that ends at `lastSeq`. */
	isBehind(lastSeq: number): boolean {
		return this.#position < lastSeq || this.#open.hasWaiting;
	}

	/** The owner's settings as they are now. The lane keeps its own progress, unless the owner moved it on. */
	reload(state: LaneState, key: SigningKey, allTypes: number): void {
		const resumed = this.#state.status === "paused" && state.status === "active";
		this.#state = state;
		this.target.url = state.url;
		this.target.key = key;
		this.target.withheld = !this.active;
		this.chunk = undefined;
		this.refusedBytes = null;
		this.#open.join(state, this.#position);
		this.#position = Math.max(this.#position, state.position);
		this.committed(state.position);
		this.#readTypes(allTypes);
		if (resumed) this.invalidateRetries();
	}

	/** Attempts that a former holder of the project has in flight, and may settle: they count as in flight here, too. */
	inFlightElsewhere(attempts: readonly HandedOver[]): void {
		const before = this.#elsewhere;
		this.#elsewhere = attempts;
		for (const one of before) if (!attempts.some((other) => isSame(one, other))) this.#endedElsewhere(one);
		for (const { seq, replay, queue } of attempts.filter((one) => !before.some((other) => isSame(one, other)))) {
			if (queue === null) {
				this.#sending += 1;
				this.#open.hold(seq);
			} else {
				this.#underWay.set(seq, replay);
				this.#queuedSending[queue] += 1;
			}
		}
	}

	/** It was settled (storage's state tells what follows), or its node died: then it is made again. */
	#endedElsewhere({ seq, replay, queue }: HandedOver): void {
		if (queue === null) {
			this.putBack(seq);
			return;
		}
		this.#queuedSending[queue] -= 1;
		if (this.#underWay.get(seq) === replay) this.#underWay.delete(seq);
		this.invalidateRetries();
	}

	/** Retries or replays were stored by others. */
	invalidateRetries(): void {
		for (const queue of Object.values(this.#queues)) queue.invalidate();
	}

	// ── first attempts ──

	get mayStartFirst(): boolean {
		return this.#sending < this.#state.maxInFlight;
	}

	/** Open events whose bodies have to be read before the lane can continue, by number: a few at a time. */
	get unread(): readonly number[] {
		return this.#open.unread;
	}

	/** The open events with these numbers were read; those that are missing are not in the log any more. */
	openRead(seqs: readonly number[], chunk: Chunk): void {
		this.#open.read(seqs, chunk);
	}

	/** The next event that this webhook wants, from what is at hand; undefined when that is used up. */
	peekEvent(): LogEvent | undefined {
		if (this.chunk?.isEmptied) this.chunk = undefined;
		const { chunk } = this;
		while (this.#open.hasWaiting) {
			const event = this.#open.peek();
			if (!event || this.#subscribes(event)) return event;
			this.#open.settle(event.seq);
		}
		if (!chunk) return undefined;
		for (; this.#index < chunk.events.length; this.#index++) {
			const event = chunk.events[this.#index]!;
			if (event.seq > this.#position && this.#subscribes(event)) return event;
			this.#pass(event.seq);
		}
		this.#pass(chunk.through);
		return undefined;
	}

	/**
	 * A window of the log was read (or failed to be, if null).
	 *
	 * @returns whether the lane waited for it and should be looked at again
	 */
	windowRead(key: string, chunk: Chunk | null): boolean {
		if (this.awaits !== key && this.awaits !== ANY_READ) return false;
		if (this.awaits === key && chunk?.serves(this.#position, this.#typesKey)) this.use(chunk);
		this.awaits = null;
		return true;
	}

	/** Goes on with this chunk. */
	use(chunk: Chunk): void {
		this.chunk = chunk;
		this.#index = chunk.indexAfter(this.#position);
	}

	/** The event that `peekEvent` gave is taken up. */
	takeEvent(event: LogEvent): void {
		this.#sending += 1;
		this.refusedBytes = null;
		this.#open.take(event.seq);
		if (event.seq <= this.#position) return;
		this.#position = event.seq;
		this.#index += 1;
	}

	/** Lets go of events in memory: the lane may be paused for days. */
	forgetEvents(): void {
		this.chunk = undefined;
		this.refusedBytes = null;
		this.#open.forgetEvents();
	}

	/** Its attempt is over; the next may start, though the outcome is not committed yet. */
	firstEnded(seq: number): void {
		this.#sending -= 1;
		this.#open.settle(seq);
	}

	/** Its attempt was withheld: it waits to be sent again, unless the owner has moved the lane beyond it. */
	putBack(seq: number): void {
		this.#sending -= 1;
		this.#open.putBack(seq);
	}

	/** The webhook was deleted, or this node works it no longer: nothing leaves any more. */
	end(): void {
		this.gone = true;
		this.target.withheld = true;
	}

	/** Storage holds this position. */
	committed(position: number): void {
		this.#committedPosition = Math.max(this.#committedPosition, position);
	}

	// ── retries and replays ──

	queue(name: QueueName): RetryQueue {
		return this.#queues[name];
	}

	/** Whether something of its queues is due or may be, or was asked for by a person: mostly nothing is. */
	hasQueued(now: number): boolean {
		const { retry, replay, requested } = this.#queues;
		return retry.mayHaveDue(now) || replay.mayHaveDue(now) || requested.nextDueAt !== null;
	}

	/** Within the webhook's own limits. Those for what a person asked for do not apply to slots that are set aside for it. */
	mayStartQueued(name: QueueName): boolean {
		const { maxInFlight } = this.#state;
		return (
			this.#queuedSending[name] < (name === "retry" ? Math.max(SENDS.retriesPerWebhook, maxInFlight) : maxInFlight)
		);
	}

	/** When something of its queues is due that may be started then, or null. */
	get nextDueAt(): number | null {
		let next: number | null = null;
		for (const name of QUEUE_NAMES) {
			const due = this.#queues[name].nextDueAt;
			if (due !== null && (next === null || due < next) && this.mayStartQueued(name)) next = due;
		}
		return next;
	}

	get queuedUnderWay(): number {
		return this.#underWay.size;
	}

	isUnderWay({ seq, replay }: Retry): boolean {
		return this.#underWay.get(seq) === replay;
	}

	queuedStarted(retry: Retry): void {
		this.#underWay.set(retry.seq, retry.replay);
		this.#queuedSending[retry.queue] += 1;
	}

	queuedEnded(retry: Retry): void {
		this.#queuedSending[retry.queue] -= 1;
	}

	/** A newer series of the same delivery may be under way already. */
	queuedCommitted(retry: Retry): void {
		if (this.isUnderWay(retry)) this.#underWay.delete(retry.seq);
	}

	/** Whether this attempt should still be made. @param retry null for a first attempt of the lane */
	wants(event: LogEvent, retry: Retry | null): boolean {
		if (retry) return this.closingReason(retry, event) === null;
		return event.seq > this.#state.skipThrough && this.#subscribes(event);
	}

	/** Whether a waiting attempt of this event is still wanted; if not, why it is closed. */
	closingReason(retry: Retry, event: LogEvent): "unsubscribed" | "skipped" | null {
		if (retry.replay > 0 || retry.seq < 0) return null;
		if (retry.seq <= this.#state.skipThrough) return "skipped";
		return this.#subscribes(event) ? null : "unsubscribed";
	}

	#subscribes(event: LogEvent): boolean {
		const from = this.#state.subscriptions.get(event.type);
		return from !== undefined && event.seq > from;
	}

	/** Nothing up to here is left to look at. */
	#pass(seq: number): void {
		if (seq > this.#position) this.#position = seq;
	}

	#readTypes(allTypes: number): void {
		const types = [...this.#state.subscriptions.keys()].sort();
		this.#types = types.length === allTypes ? undefined : types;
		this.#typesKey = this.#types ? types.join(" ") : null;
	}
}

const isSame = (one: HandedOver, other: HandedOver): boolean => one.seq === other.seq && one.replay === other.replay;
