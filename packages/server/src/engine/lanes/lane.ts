import type { SigningKey } from "@posthorn/protocol";
import type { Timer } from "../../base/clock.ts";
import type { LaneState, LogEvent, RetryQueue as QueueName, Retry } from "../../storage/port.ts";
import type { Target } from "../send/sender.ts";
import type { Chunk } from "./chunk.ts";
import { ANY_READ } from "./log-reader.ts";
import { RetryQueue } from "./retry-queue.ts";

/** Retries of one webhook in flight at once, beside its lane, or `maxInFlight` where that is more. */
const RETRIES_IN_FLIGHT = 16;
/** All queues. What a person asked for comes first. */
export const QUEUE_NAMES = ["requested", "retry", "replay"] as const satisfies readonly QueueName[];
/** With more than one in flight, events settled beyond the oldest one under way, at most. Kept in the lane's row. */
const MAX_AHEAD = 256;

/**
 * One webhook's way through its project's log.
 *
 * ```
 *   1 2 3 4 5 6 7 8 9 …            the log
 *       ▲   ▲     ▲
 *       │   │     └ position       looked at up to here: settled, under way, or not wanted
 *       │   └ under way            first attempts, `maxInFlight` at most
 *       └ cursor                   everything up to here is settled or not wanted
 * ```
 *
 * What is settled between cursor and position is `ahead`. A lane is data and small rules; only its actor changes it.
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
	/** The owner deleted the webhook: nothing starts any more, and what is under way is settled for good. */
	gone = false;
	/** Looking for events whose retention has ended, also while paused. */
	sweeping = true;
	/** Looking, while paused, for retries and replays that have waited since before the retention began. */
	sweepingQueues = true;
	/** The chunk that it reads from, or undefined when it must find one. */
	chunk: Chunk | undefined;
	/** The key of the read that it waits for. */
	awaits: string | null = null;
	/** The alarm that is set for its next retry. */
	alarm: { readonly at: number; readonly timer: Timer } | null = null;

	#state: LaneState;
	#typesKey: string | null = null;
	#types: readonly string[] | undefined;
	#position: number;
	#cursor: number;
	#committedCursor: number;
	readonly #ahead: Set<number>;
	/** First attempts under way: the lowest one holds the cursor. */
	readonly #open = new Set<number>();
	#sending = 0;
	#index = 0;
	/** The series of retries and replays from their start until their outcome is committed, by their event. */
	readonly #underWay = new Map<number, number>();
	readonly #queuedSending: Record<QueueName, number> = { retry: 0, replay: 0, requested: 0 };

	constructor(projectId: string, state: LaneState, key: SigningKey, allTypes: number) {
		this.webhookId = state.webhookId;
		this.target = { projectId, url: state.url, key, withheld: state.status !== "active" };
		this.#state = state;
		this.#position = state.cursor;
		this.#cursor = state.cursor;
		this.#committedCursor = state.cursor;
		this.#ahead = new Set(state.ahead);
		this.#readTypes(allTypes);
	}

	get state(): LaneState {
		return this.#state;
	}

	get active(): boolean {
		return this.#state.status === "active" && !this.gone;
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

	get cursor(): number {
		return this.#cursor;
	}

	get ahead(): readonly number[] {
		return this.#ahead.size === 0 ? [] : [...this.#ahead].sort((a, b) => a - b);
	}

	/** How far storage's cursor is behind: events that were passed over without an attempt. */
	get lag(): number {
		return this.#cursor - this.#committedCursor;
	}

	/** The owner's settings as they are now. The lane's own place stands, unless the owner moved it on. */
	reload(state: LaneState, key: SigningKey, allTypes: number): void {
		const resumed = this.#state.status === "paused" && state.status === "active";
		this.#state = state;
		this.target.url = state.url;
		this.target.key = key;
		this.target.withheld = !this.active;
		this.chunk = undefined;
		if (state.cursor > this.#position) this.#position = state.cursor;
		if (state.cursor > this.#cursor) {
			this.#cursor = state.cursor;
			this.#committedCursor = state.cursor;
			for (const seq of this.#ahead) if (seq <= state.cursor) this.#ahead.delete(seq);
		}
		this.#readTypes(allTypes);
		if (resumed) this.invalidateRetries();
	}

	/** Retries or replays were stored by others. */
	invalidateRetries(): void {
		for (const queue of Object.values(this.#queues)) queue.invalidate();
	}

	// ── first attempts ──

	get mayStartFirst(): boolean {
		return this.#sending < this.#state.maxInFlight && (this.#ahead.size < MAX_AHEAD || this.#open.size === 0);
	}

	/** The next event that this webhook wants, from the chunk at hand; undefined when the chunk is used up. */
	peekEvent(): LogEvent | undefined {
		const { chunk } = this;
		if (!chunk) return undefined;
		for (; this.#index < chunk.events.length; this.#index++) {
			const event = chunk.events[this.#index]!;
			if (event.seq > this.#position && this.#wants(event)) return event;
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
		this.#position = event.seq;
		this.#index += 1;
		this.#open.add(event.seq);
		this.#sending += 1;
	}

	/** Its attempt is over; the next may start, though the outcome is not committed yet. */
	firstEnded(seq: number): void {
		this.#sending -= 1;
		this.#open.delete(seq);
		if (seq > this.#cursor) this.#ahead.add(seq);
		this.#advance();
	}

	/** Its attempt was withheld: it waits in its place again. */
	putBack(seq: number): void {
		this.#sending -= 1;
		this.#open.delete(seq);
		if (seq > this.#position) return;
		// Resumed "from now", the lane may have been moved beyond it meanwhile.
		this.#position = Math.max(this.#cursor, seq - 1);
		this.chunk = undefined;
	}

	/** The webhook was deleted, or this node works it no longer: nothing leaves any more. */
	end(): void {
		this.gone = true;
		this.target.withheld = true;
	}

	/** Storage holds this cursor. */
	committed(cursor: number): void {
		this.#committedCursor = Math.max(this.#committedCursor, cursor);
	}

	// ── retries and replays ──

	queue(name: QueueName): RetryQueue {
		return this.#queues[name];
	}

	/** Within the webhook's own limits. Those for what a person asked for do not apply to slots that are set aside for it. */
	mayStartQueued(name: QueueName): boolean {
		const { maxInFlight } = this.#state;
		return this.#queuedSending[name] < (name === "retry" ? Math.max(RETRIES_IN_FLIGHT, maxInFlight) : maxInFlight);
	}

	/** When something of its queues is due that may be started then, or null. */
	get nextDueAt(): number | null {
		let next: number | null = null;
		for (const name of QUEUE_NAMES) {
			const due = this.mayStartQueued(name) ? this.#queues[name].nextDueAt : null;
			if (due !== null && (next === null || due < next)) next = due;
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

	#wants(event: LogEvent): boolean {
		return this.#subscribes(event) && !this.#ahead.has(event.seq) && !this.#open.has(event.seq);
	}

	/** Nothing up to here is left to look at. */
	#pass(seq: number): void {
		if (seq <= this.#position) return;
		this.#position = seq;
		this.#advance();
	}

	#advance(): void {
		let cursor = this.#position;
		for (const seq of this.#open) if (seq <= cursor) cursor = seq - 1;
		if (cursor <= this.#cursor) return;
		this.#cursor = cursor;
		if (this.#ahead.size > 0) for (const seq of this.#ahead) if (seq <= cursor) this.#ahead.delete(seq);
	}

	#readTypes(allTypes: number): void {
		const types = [...this.#state.subscriptions.keys()].sort();
		this.#types = types.length === allTypes ? undefined : types;
		this.#typesKey = this.#types ? types.join(" ") : null;
	}
}
