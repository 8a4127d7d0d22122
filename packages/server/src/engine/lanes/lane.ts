import { EVENT_TYPES, type SigningKey, signingKey } from "@posthorn/protocol";
import { SENDS } from "../../base/budgets.ts";
import type { Timer } from "../../base/clock.ts";
import type { HandedOver, LaneProgress, LaneState, QueueName, Retry } from "../../storage/port.ts";
import type { Target } from "../send/outcome.ts";
import type { Slot } from "../send/slot.ts";
import { ANY_READ, type Chunk, type Log, type LogEnd } from "./log-reader.ts";
import { OpenEvents } from "./open-events.ts";
import type { LaneEvent } from "./packed-events.ts";
import { RetryQueue } from "./retry-queue.ts";

/** All queues. User requests come first. */
export const QUEUE_NAMES = ["requested", "retry", "replay"] as const satisfies readonly QueueName[];

/** A lane that only skips events stores its position once it is this many events ahead. */
const MAX_LAG = 2_000;

/** The keys that sign a webhook's requests. */
export interface LaneKeys {
	/** Null if its secret can't be opened. */
	readonly key: SigningKey | null;
	readonly standardKey: SigningKey | null;
}

/** Used by lanes that send nothing. */
const NO_KEY = signingKey(new Uint8Array(32));

/**
 * One webhook's progress through its project's log.
 *
 *     1  2  3  4  5  6  7  8  9 …  the log
 *        ▲  ▲        ▲
 *        open        position: everything up to here was started, or isn't subscribed to
 *
 * Open events are those up to the position whose first attempt isn't settled: they are in flight, or must be sent again
 * because nothing was sent (the webhook was paused) or the node that sent them died. These go first, in order; then the
 * lane continues after its position. At most `maxInFlight` events are in flight, so at most as many are open, however
 * long one of them takes. A lane is data and simple rules; only its actor changes it.
 */
export class Lane {
	bagIndex = -1;
	readonly webhookId: string;
	/** Read by the sender at the last moment and changed in place, so that edits and rotations apply immediately. */
	readonly target: { -readonly [K in keyof Target]-?: Target[K] };
	readonly #queues: Readonly<Record<QueueName, RetryQueue>> = {
		retry: new RetryQueue(),
		replay: new RetryQueue(),
		requested: new RetryQueue(),
	};
	/** Which kind of attempt starts next: an index into the dispatcher's classes. */
	turn = 0;
	/** Whether to visit it once the actor's messages are handled. */
	marked = false;
	/** The webhook no longer exists: nothing more starts, and attempts in flight are settled without a retry. */
	gone = false;
	/** Checking for events past their retention, even while paused. */
	sweeping = true;
	/** Nothing that waited at the last check was published before this, milliseconds since the epoch. */
	oldestAt = Number.NEGATIVE_INFINITY;
	/** Checking, while paused, for retries and replays past the retention. */
	sweepingQueues = true;
	/** The chunk that it reads from; undefined if it must find one. */
	chunk: Chunk | undefined;
	/** The key of the read that it is waiting for. */
	awaits: string | null = null;
	/** Body size of the next event if it found no slot, bytes. It is then read again only with a slot in hand. */
	refusedBytes: number | null = null;
	/** The slot that the lane holds while it reads its next event. */
	claimed: Slot | null = null;
	alarm: { readonly at: number; readonly timer: Timer } | null = null;

	state: LaneState;
	/** Null if nothing can be signed: then the lane waits as if it was paused. */
	key: SigningKey | null;
	/** The types that it reads, and a key for them: equal keys mean equal types. Null means all types. */
	typesKey: string | null = null;
	types: readonly string[] | undefined;
	/** Everything up to here was started, or isn't subscribed to. */
	position: number;
	#storedPosition: number;
	/** Storage still counts events as waiting that the lane dropped or passed without an attempt. */
	#hasDropped = false;
	/**
	 * Nothing is left for it in the log, and its actor notifies it of the next event of its types. Meanwhile its position
	 * stays where it is: an event costs nothing for webhooks that don't want it.
	 */
	following = false;
	readonly open: OpenEvents;
	/** First attempts in flight: those of open events, and those that the owner has since skipped. */
	#sending = 0;
	#index = 0;
	/** Retries and replays from their start until their outcome is committed: series by event. */
	readonly #inProgress = new Map<number, number>();
	readonly #queuedSending: Record<QueueName, number> = { retry: 0, replay: 0, requested: 0 };

	/** Attempts in flight at a previous owner of the project. */
	#elsewhere: readonly HandedOver[] = [];

	constructor(projectId: string, state: LaneState, { key, standardKey }: LaneKeys) {
		this.webhookId = state.webhookId;
		this.state = state;
		this.key = key;
		this.target = { projectId, url: state.url, key: key ?? NO_KEY, standardKey, active: this.active };
		this.position = state.position;
		this.#storedPosition = state.position;
		this.open = new OpenEvents(state.open);
		this.#readTypes();
	}

	get active(): boolean {
		return this.state.status === "active" && this.key !== null && !this.gone;
	}

	/** It would be active if a seal key opened its secret. */
	get lacksKey(): boolean {
		return this.state.status === "active" && this.key === null && !this.gone;
	}

	/** The owner deleted the webhook, and its pending deliveries are being closed. */
	get deleted(): boolean {
		return this.state.status === "deleted";
	}

	/** Whether no retry or replay is pending or in flight. */
	get queuesEmpty(): boolean {
		return this.#inProgress.size === 0 && Object.values(this.#queues).every((queue) => queue.nextDueAt === null);
	}

	/** Settled with each outcome, so that the lane's next owner knows its progress. */
	get progress(): LaneProgress {
		return { webhookId: this.webhookId, position: this.position, open: this.open.seqs };
	}

	/** Whether it skipped so much without an attempt that its progress should be stored separately. */
	get owesProgress(): boolean {
		return this.position - this.#storedPosition >= MAX_LAG || this.#hasDropped;
	}

	/** Its progress, which is now on its way to storage; null if storage knows it already. */
	takeProgress(): LaneProgress | null {
		if (this.position === this.#storedPosition && !this.#hasDropped) return null;
		this.#hasDropped = false;
		this.stored(this.position);
		return this.progress;
	}

	stored(position: number): void {
		this.#storedPosition = Math.max(this.#storedPosition, position);
	}

	/** Whether first attempts may wait in the log. */
	isBehind({ lastSeq, announced }: LogEnd): boolean {
		return (this.following ? announced : this.position) < lastSeq || this.open.hasWaiting;
	}

	/** Follows the log, unless something in it may be for this lane. */
	follow(log: Log): void {
		this.following = this.awaits === null && !this.isBehind(log);
		if (this.following) log.leave(this);
	}

	/** Ends following, and moves on: nothing up to this number is for it. */
	unfollow(log: Log, through = log.announced): void {
		if (!this.following) return;
		this.following = false;
		this.#pass(through);
		log.enter(this);
	}

	/** Applies the owner's current settings. The lane keeps its own progress, unless the owner moved it ahead. */
	reload(state: LaneState, { key, standardKey }: LaneKeys): void {
		const wasActive = this.active;
		const before = this.state.subscriptions;
		this.state = state;
		this.key = key;
		this.target.url = state.url;
		this.target.key = key ?? NO_KEY;
		this.target.standardKey = standardKey;
		this.target.active = this.active;
		this.following = false;
		this.chunk = undefined;
		this.refusedBytes = null;
		this.open.join(state, this.position);
		this.position = Math.max(this.position, state.position);
		this.stored(state.position);
		this.#readTypes();
		if (this.#hasPassed(before)) this.#hasDropped = true;
		if (this.active && !wasActive) this.invalidateRetries();
	}

	/**
	 * Whether the lane may have passed events of a type that another node has just added, as decision 0015 allows. Storage
	 * must not count them as waiting.
	 */
	#hasPassed(before: LaneState["subscriptions"]): boolean {
		for (const [type, from] of this.state.subscriptions) if (!before.has(type) && from < this.position) return true;
		return false;
	}

	/** Attempts that a previous owner of the project has in flight and may settle. They count as in flight here too. */
	inFlightElsewhere(attempts: readonly HandedOver[]): void {
		const before = this.#elsewhere;
		this.#elsewhere = attempts;
		for (const one of before) if (!attempts.some((other) => isSame(one, other))) this.#endedElsewhere(one);
		for (const { seq, replay, queue } of attempts.filter((one) => !before.some((other) => isSame(one, other)))) {
			if (queue === null) {
				this.#sending += 1;
				this.open.stopWaiting(seq);
			} else {
				this.#inProgress.set(seq, replay);
				this.#queuedSending[queue] += 1;
			}
		}
	}

	/** It was settled (the stored state says what follows), or its node died and it must be repeated. */
	#endedElsewhere({ seq, replay, queue }: HandedOver): void {
		if (queue === null) {
			this.putBack(seq);
			return;
		}
		this.#queuedSending[queue] -= 1;
		if (this.#inProgress.get(seq) === replay) this.#inProgress.delete(seq);
		this.invalidateRetries();
	}

	/** Another component stored retries or replays. */
	invalidateRetries(): void {
		for (const queue of Object.values(this.#queues)) queue.invalidate();
	}

	// ── first attempts ──

	get mayStartFirst(): boolean {
		return this.#sending < this.state.maxInFlight;
	}

	/** The next event in memory that this webhook wants; undefined if there is none. */
	peekEvent(): LaneEvent | undefined {
		if (this.chunk?.isEmptied) this.chunk = undefined;
		const { chunk } = this;
		while (this.open.hasWaiting) {
			const event = this.open.peek();
			if (!event || this.#subscribes(event.type, event.seq)) return event;
			this.open.settle(event.seq);
			this.#hasDropped = true;
		}
		if (!chunk) return undefined;
		for (; this.#index < chunk.events.length; this.#index++) {
			const event = chunk.events.at(this.#index);
			if (event.seq > this.position && this.#subscribes(event.type, event.seq)) return event;
			this.#pass(event.seq);
		}
		this.#pass(chunk.through);
		return undefined;
	}

	/** A window was read; null if that failed. @returns whether the lane waited for it and should be visited again */
	windowRead(key: string, chunk: Chunk | null): boolean {
		if (this.awaits !== key && this.awaits !== ANY_READ) return false;
		if (this.awaits === key && chunk?.serves(this.position, this.typesKey)) this.use(chunk);
		this.awaits = null;
		return true;
	}

	use(chunk: Chunk): void {
		this.chunk = chunk;
		this.#index = chunk.indexAfter(this.position);
	}

	/** Starts the event that `peekEvent` returned. */
	takeEvent(event: LaneEvent): void {
		this.#sending += 1;
		this.refusedBytes = null;
		this.open.take(event.seq);
		if (event.seq <= this.position) return;
		this.position = event.seq;
		this.#index += 1;
	}

	/** Drops events from memory: the lane may be paused for days. */
	forgetEvents(): void {
		this.chunk = undefined;
		this.refusedBytes = null;
		this.open.forgetEvents();
	}

	/** An attempt has ended; the next may start before the outcome is committed. */
	firstEnded(seq: number): void {
		this.#sending -= 1;
		this.open.settle(seq);
	}

	/** An attempt was cancelled: its event waits again, unless the owner has skipped it. */
	putBack(seq: number): void {
		this.#sending -= 1;
		this.open.putBack(seq);
	}

	/** The webhook was deleted, or this node no longer owns it: nothing more is sent. */
	end(): void {
		this.gone = true;
		this.target.active = false;
	}

	// ── retries and replays ──

	queue(name: QueueName): RetryQueue {
		return this.#queues[name];
	}

	/** Whether any queued attempt is or may be due, or was requested by a user: usually none. */
	hasQueued(now: number): boolean {
		const { retry, replay, requested } = this.#queues;
		return retry.mayHaveDue(now) || replay.mayHaveDue(now) || requested.nextDueAt !== null;
	}

	/** Applies the webhook's own limits. Those for user requests don't apply to their reserved slots. */
	mayStartQueued(name: QueueName): boolean {
		const { maxInFlight } = this.state;
		return (
			this.#queuedSending[name] < (name === "retry" ? Math.max(SENDS.retriesPerWebhook, maxInFlight) : maxInFlight)
		);
	}

	/** When the next queued attempt that may then be started is due, or null. */
	get nextDueAt(): number | null {
		let next: number | null = null;
		for (const name of QUEUE_NAMES) {
			const due = this.#queues[name].nextDueAt;
			if (due !== null && (next === null || due < next) && this.mayStartQueued(name)) next = due;
		}
		return next;
	}

	get queuedInFlight(): number {
		return this.#inProgress.size;
	}

	isInFlight({ seq, replay }: Retry): boolean {
		return this.#inProgress.get(seq) === replay;
	}

	queuedStarted(retry: Retry): void {
		this.#inProgress.set(retry.seq, retry.replay);
		this.#queuedSending[retry.queue] += 1;
	}

	queuedEnded(retry: Retry): void {
		this.#queuedSending[retry.queue] -= 1;
	}

	/** Removes this series, unless a newer one of the same delivery is already in flight. */
	queuedCommitted(retry: Retry): void {
		if (this.isInFlight(retry)) this.#inProgress.delete(retry.seq);
	}

	/** Whether this attempt should still be made. @param retry null for a first attempt */
	wants(seq: number, type: string, retry: Retry | null): boolean {
		if (retry) return this.closingReason(retry, type) === null;
		return seq > this.state.skipThrough && this.#subscribes(type, seq);
	}

	/** Why a queued attempt of this event is no longer wanted; null if it still is. */
	closingReason(retry: Retry, type: string): "unsubscribed" | "skipped" | null {
		if (retry.replay > 0 || retry.seq < 0) return null;
		if (retry.seq <= this.state.skipThrough) return "skipped";
		return this.#subscribes(type, retry.seq) ? null : "unsubscribed";
	}

	#subscribes(type: string, seq: number): boolean {
		const from = this.state.subscriptions.get(type);
		return from !== undefined && seq > from;
	}

	/** Moves the position on: nothing up to here is left to start. */
	#pass(seq: number): void {
		if (seq > this.position) this.position = seq;
	}

	/** A webhook that is subscribed to all types reads the log unfiltered. */
	#readTypes(): void {
		const types = [...this.state.subscriptions.keys()].sort();
		this.types = types.length === EVENT_TYPES.length ? undefined : types;
		this.typesKey = this.types ? types.join(" ") : null;
	}
}

const isSame = (one: HandedOver, other: HandedOver): boolean => one.seq === other.seq && one.replay === other.replay;
