import { Readable } from "node:stream";
import { WAITERS } from "../base/budgets.ts";
import type { Clock, Timer } from "../base/clock.ts";
import type { Marks, MarkWatcher } from "../engine/index.ts";
import type { AlarmMark, Storage } from "../storage/port.ts";

/** An event was published; the caller must check for itself; or it may not wait any longer. */
export type WaitEnd = "published" | "recheck" | "timeout";

interface Waiter {
	readonly types: readonly string[] | undefined;
	/** The account of a signed-in user; null for a program with a key. */
	readonly account: string | null;
	readonly end: (why: WaitEnd) => void;
}

/** A call waiting for events, registered before it checks whether there already are some. */
export interface Wait {
	readonly end: Promise<WaitEnd>;
	cancel(): void;
}

/** Lets readers of a log without new events wait, without querying storage until something arrives. */
export class LongPolls {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #byProject = new Map<string, Set<Waiter>>();
	#closed = false;

	constructor(clock: Pick<Clock, "setTimeout">) {
		this.#clock = clock;
	}

	get projects(): Iterable<string> {
		return this.#byProject.keys();
	}

	isWaitedFor(projectId: string): boolean {
		return this.#byProject.has(projectId);
	}

	published(projectId: string, events: readonly { readonly type: string }[]): void {
		for (const { types, end } of this.#byProject.get(projectId) ?? [])
			if (types === undefined || events.some(({ type }) => types.includes(type))) end("published");
	}

	/** Another node has appended to the log, or some may no longer read it: each waiting call checks for itself. */
	recheck(projectId: string): void {
		for (const { end } of [...(this.#byProject.get(projectId) ?? [])]) end("recheck");
	}

	/** The same for the calls of a signed-in user. */
	recheckAccount(account: string): void {
		for (const waiter of allOf(this.#byProject)) if (waiter.account === account) waiter.end("recheck");
	}

	/**
	 * Null if the maximum number of calls is already waiting.
	 *
	 * @param account of the signed-in user who waits; null for a program with a key
	 */
	wait(
		projectId: string,
		types: readonly string[] | undefined,
		ms: number,
		account: string | null = null,
	): Wait | null {
		const waiters = this.#byProject.get(projectId) ?? new Set();
		if (waiters.size >= WAITERS.calls) return null;
		const isFullOfPeople = () => [...waiters].filter((each) => each.account !== null).length >= WAITERS.callsOfPeople;
		if (account !== null && isFullOfPeople()) return null;
		const { promise, resolve } = Promise.withResolvers<WaitEnd>();
		const end = (why: WaitEnd): void => {
			timer.cancel();
			// Only the first call removes it. By a later one, the project may have a new set.
			if (waiters.delete(waiter) && waiters.size === 0) this.#byProject.delete(projectId);
			resolve(why);
		};
		const waiter = { types, account, end };
		const timer = this.#clock.setTimeout(() => end("timeout"), ms);
		this.#byProject.set(projectId, waiters.add(waiter));
		if (this.#closed) end("timeout");
		return { end: promise, cancel: () => end("timeout") };
	}

	/** Ends every wait; later ones end immediately. For shutdown. */
	close(): void {
		this.#closed = true;
		for (const { end } of allOf(this.#byProject)) end("timeout");
	}
}

const allOf = <T>(byProject: ReadonlyMap<string, ReadonlySet<T>>): T[] =>
	[...byProject.values()].flatMap((items) => [...items]);

/** What a client should fetch again. */
export type Hint = "attempts" | "webhooks";

export const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** Minimum time between two equal hints, milliseconds. */
export const GAP_MS = 500;
/** Milliseconds between comments, which keep proxies from closing a quiet stream and find listeners that are gone. */
export const COMMENT_MS = 15_000;

type ChangesClock = Pick<Clock, "now" | "setTimeout">;

/** Notifies listeners that something in a project has changed; they fetch the details themselves. */
export class Changes {
	readonly #clock: ChangesClock;
	readonly #byProject = new Map<string, Set<HintStream>>();
	#closed = false;

	constructor(clock: ChangesClock) {
		this.#clock = clock;
	}

	get projects(): Iterable<string> {
		return this.#byProject.keys();
	}

	isListenedTo(projectId: string): boolean {
		return this.#byProject.has(projectId);
	}

	note(projectId: string, hint: Hint): void {
		const streams = this.#byProject.get(projectId);
		if (streams) for (const stream of streams) stream.hint(hint);
	}

	/**
	 * A stream of server-sent events (WHATWG HTML, 9.2). It ends once `mayListen` says no. `listener`, `project`: that one
	 * already has the maximum number of streams.
	 *
	 * @param endsAt when to ask that again at the latest, milliseconds since the Unix epoch
	 */
	listen(
		projectId: string,
		listener: string,
		mayListen: () => Promise<boolean>,
		endsAt = Number.POSITIVE_INFINITY,
	): Readable | "listener" | "project" {
		if (this.#streamsOf(listener).length >= WAITERS.streams) return "listener";
		const streams = this.#byProject.get(projectId) ?? new Set();
		// Each costs something at every change, and at every end of a right.
		if (streams.size >= WAITERS.streamsOfProject) return "project";
		const stream = new HintStream(this.#clock, listener, mayListen, endsAt);
		this.#byProject.set(projectId, streams.add(stream));
		stream.once("close", () => {
			streams.delete(stream);
			if (streams.size === 0) this.#byProject.delete(projectId);
		});
		if (this.#closed) stream.end();
		return stream;
	}

	/**
	 * Ends streams of a project whose listeners may no longer listen. Rights that end on another node are noticed within
	 * {@link COMMENT_MS}.
	 */
	recheckProject(projectId: string): void {
		for (const stream of this.#byProject.get(projectId) ?? []) void stream.recheck();
	}

	/** The same for the streams of a listener. */
	recheckListener(listener: string): void {
		for (const stream of this.#streamsOf(listener)) void stream.recheck();
	}

	#streamsOf(listener: string): HintStream[] {
		return allOf(this.#byProject).filter((stream) => stream.listener === listener);
	}

	/** Ends every stream; later ones end immediately. */
	close(): void {
		this.#closed = true;
		for (const stream of allOf(this.#byProject)) stream.end();
	}
}

class HintStream extends Readable {
	readonly listener: string;
	/** Hints not sent yet, because the same one was sent recently. */
	readonly #due = new Set<Hint>();
	readonly #clock: ChangesClock;
	readonly #mayListen: () => Promise<boolean>;
	readonly #endsAt: number;
	#comments: Timer;
	readonly #gaps = new Map<Hint, Timer>();
	#ended = false;

	constructor(clock: ChangesClock, listener: string, mayListen: () => Promise<boolean>, endsAt: number) {
		super();
		this.listener = listener;
		this.#clock = clock;
		this.#mayListen = mayListen;
		this.#endsAt = endsAt;
		this.#comments = this.#commentLater();
		this.push(": listening\n\n");
	}

	/** Immediately, unless the same hint was sent recently. */
	hint(hint: Hint): void {
		if (this.#gaps.has(hint)) this.#due.add(hint);
		else this.#send(hint);
	}

	end(): void {
		if (this.#ended) return;
		this.#stop();
		this.push(null);
	}

	override _read(): void {}

	override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
		this.#stop();
		callback(error);
	}

	#stop(): void {
		this.#ended = true;
		this.#comments.cancel();
		for (const gap of this.#gaps.values()) gap.cancel();
	}

	#send(hint: Hint): void {
		if (this.#ended) return;
		this.push(`event: ${hint}\ndata: {}\n\n`);
		const gap = this.#clock.setTimeout(() => {
			this.#gaps.delete(hint);
			if (this.#due.delete(hint)) this.#send(hint);
		}, GAP_MS);
		this.#gaps.set(hint, gap);
	}

	#commentLater(): Timer {
		// A timer may fire a little early.
		const endsInMs = Math.max(1, this.#endsAt - this.#clock.now());
		return this.#clock.setTimeout(() => void this.#comment(), Math.min(COMMENT_MS, endsInMs));
	}

	async #comment(): Promise<void> {
		await this.recheck();
		if (this.#ended) return;
		this.push(":\n\n");
		this.#comments = this.#commentLater();
	}

	/** Ends the stream if its listener may no longer listen. */
	async recheck(): Promise<void> {
		try {
			if (!(await this.#mayListen())) this.end();
		} catch (error) {
			// Storage is unavailable: the listener reconnects, and gets that as its response.
			this.destroy(error as Error);
		}
	}
}

interface RemoteChangesOptions {
	readonly storage: Pick<Storage, "listAttempts">;
	readonly longPolls: LongPolls;
	readonly changes: Changes;
}

/** A project when it was last read. */
interface Seen {
	mark: AlarmMark;
	newestAttempt: string | undefined;
}

/**
 * Where nodes share a database, notifies this node's long polls and open dashboard pages of what other nodes do.
 * Attempts of other nodes raise no mark, so the newest attempt of each project with an open page is read along with its
 * marks.
 */
export class RemoteChanges implements MarkWatcher {
	readonly #options: RemoteChangesOptions;
	readonly #seen = new Map<string, Seen>();
	#isReadingAttempts = false;

	constructor(options: RemoteChangesOptions) {
		this.#options = options;
	}

	get projectIds(): Iterable<string> {
		const { longPolls, changes } = this.#options;
		return new Set([...longPolls.projects, ...changes.projects]);
	}

	watches(projectId: string): boolean {
		const { longPolls, changes } = this.#options;
		return longPolls.isWaitedFor(projectId) || changes.isListenedTo(projectId);
	}

	beforeRead(projectIds: readonly string[]): (marks: Marks) => Promise<void> {
		for (const projectId of this.#seen.keys()) if (!this.watches(projectId)) this.#seen.delete(projectId);
		const watched = projectIds.filter((projectId) => this.watches(projectId));
		return async (marks) => {
			for (const projectId of watched) {
				const mark = marks.get(projectId);
				if (mark) this.#compare(projectId, mark);
			}
			await this.#compareAttempts(watched);
		};
	}

	/** A project that wasn't watched before may have changed since its first waiter read it. */
	#compare(projectId: string, mark: AlarmMark): void {
		const { longPolls, changes } = this.#options;
		const seen = this.#seen.get(projectId);
		const hasGrown = seen?.mark.lastSeq !== mark.lastSeq;
		if (hasGrown) longPolls.recheck(projectId);
		if (hasGrown || seen.mark.revision !== mark.revision) changes.note(projectId, "webhooks");
		if (seen) seen.mark = mark;
		else this.#seen.set(projectId, { mark, newestAttempt: undefined });
	}

	/** Skips this if the last time is still in progress: the next poll comes soon. */
	async #compareAttempts(projectIds: readonly string[]): Promise<void> {
		const { storage, changes } = this.#options;
		if (this.#isReadingAttempts) return;
		this.#isReadingAttempts = true;
		try {
			for (const projectId of projectIds) {
				const seen = this.#seen.get(projectId);
				if (!seen || !changes.isListenedTo(projectId)) continue;
				const page = { limit: 1, maxBytes: 1 };
				const { rows } = await storage.listAttempts({ projectId, filter: {}, page });
				const newestAttempt = rows[0]?.id;
				if (seen.newestAttempt !== newestAttempt) changes.note(projectId, "attempts");
				seen.newestAttempt = newestAttempt;
			}
		} finally {
			this.#isReadingAttempts = false;
		}
	}
}
