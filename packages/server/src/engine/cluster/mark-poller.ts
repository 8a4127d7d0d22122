/**
 * Where nodes share a database, other nodes publish to projects, change their webhooks and queue replays. One poller
 * reads the marks of the projects that this node watches: regularly, because hints may be lost and nothing else wakes a
 * project's owner, and soon after storage passes on a hint. The owned projects ({@link Peers}) and the calls that wait
 * at the API share it.
 *
 * Reads run one at a time, hinted projects first. What a watcher does with the marks delays no other read.
 */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { AlarmMark, PeerStorage } from "../../storage/port.ts";

/** How often marks are read without a hint. */
const POLL_MS = 1_000;
/** Minimum time between handling hints, so that a busy peer costs only a few reads per second. */
const HINT_GAP_MS = 50;
/** Maximum number of projects whose marks are read in one call. */
const MARKS_BATCH = 1_000;

export type Marks = ReadonlyMap<string, AlarmMark>;

/** A component that needs to know what other nodes changed. */
export interface MarkWatcher {
	readonly projectIds: Iterable<string>;
	watches(projectId: string): boolean;
	/**
	 * Called just before the marks of these projects are read; some may be other watchers'.
	 *
	 * @returns receives the marks; a project that doesn't exist has none
	 */
	beforeRead(projectIds: readonly string[]): (marks: Marks) => Promise<void>;
}

export interface MarkPollerOptions {
	readonly storage: Pick<PeerStorage, "readMarks" | "subscribe">;
	readonly clock: Pick<Clock, "elapsed" | "setTimeout">;
	readonly logger: Logger;
	/** Receives the hints of projects that have work and may have no holder. */
	readonly onUnowned: (projectIds: readonly string[]) => void;
}

export class MarkPoller {
	readonly #options: MarkPollerOptions;
	readonly #failure: RepeatedFailure;
	readonly #watchers = new Set<MarkWatcher>();
	/** Hints since they were last handled. */
	readonly #hinted = new Set<string>();
	/** Those of them that may have no holder. */
	readonly #unowned = new Set<string>();
	/** Projects whose marks are read next: after a hint … */
	readonly #urgent = new Set<string>();
	/** … and regularly. */
	readonly #regular = new Set<string>();
	#reading: Promise<void> | null = null;
	/** What watchers are doing with the marks that they received. */
	readonly #reactions = new Set<Promise<void>>();
	#pollTimer: Timer | null = null;
	#hintGap: Timer | null = null;
	#unsubscribe: (() => void) | null = null;
	#stopped = false;

	constructor(options: MarkPollerOptions) {
		this.#options = options;
		this.#failure = new RepeatedFailure(options, {
			failed: "failed to read what other nodes changed",
			over: "what other nodes changed is read again",
		});
	}

	watch(watcher: MarkWatcher): void {
		this.#watchers.add(watcher);
	}

	start(): void {
		this.#unsubscribe = this.#options.storage.subscribe((projectIds, unowned) => this.#hint(projectIds, unowned));
		this.#pollLater();
	}

	/** Resolves once the watchers have handled everything that they received. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#unsubscribe?.();
		this.#pollTimer?.cancel();
		this.#hintGap?.cancel();
		await this.#reading;
		await Promise.all(this.#reactions);
	}

	#pollLater(): void {
		this.#pollTimer = this.#options.clock.setTimeout(() => {
			for (const { projectIds } of this.#watchers) for (const projectId of projectIds) this.#regular.add(projectId);
			this.#read();
			this.#pollLater();
		}, POLL_MS);
	}

	#hint(projectIds: readonly string[], unowned: readonly string[]): void {
		if (this.#stopped) return;
		for (const projectId of unowned) this.#unowned.add(projectId);
		for (const projectId of projectIds) this.#hinted.add(projectId);
		if (this.#hintGap === null) this.#handleHints();
	}

	/** Handles the first hint immediately, and those that follow it together, after the gap. */
	#handleHints(): void {
		this.#hintGap = null;
		if (this.#hinted.size === 0) return;
		this.#hintGap = this.#options.clock.setTimeout(() => this.#handleHints(), HINT_GAP_MS);
		const hinted = [...this.#hinted];
		this.#hinted.clear();
		if (this.#unowned.size > 0) this.#options.onUnowned([...this.#unowned]);
		this.#unowned.clear();
		for (const projectId of hinted)
			if (this.#watchers.values().some((watcher) => watcher.watches(projectId))) this.#urgent.add(projectId);
		this.#read();
	}

	#read(): void {
		this.#reading ??= this.#readAll().finally(() => {
			this.#reading = null;
		});
	}

	async #readAll(): Promise<void> {
		const { storage } = this.#options;
		try {
			for (let next = this.#next(); next.length > 0 && !this.#stopped; next = this.#next()) {
				const projectIds = next;
				const receivers = [...this.#watchers].map((watcher) => watcher.beforeRead(projectIds));
				const marks = await storage.readMarks({ projectIds });
				this.#failure.succeeded();
				for (const receive of receivers) this.#react(receive(marks));
			}
		} catch (error) {
			// The next poll reads all of them.
			this.#urgent.clear();
			this.#regular.clear();
			this.#failure.failed(error, { retryInMs: POLL_MS });
		}
	}

	#next(): string[] {
		const next: string[] = [];
		for (const list of [this.#urgent, this.#regular])
			for (const projectId of list) {
				if (next.length === MARKS_BATCH) return next;
				this.#urgent.delete(projectId);
				this.#regular.delete(projectId);
				next.push(projectId);
			}
		return next;
	}

	#react(reaction: Promise<void>): void {
		const handled = reaction
			.catch((error: unknown) => this.#options.logger.error({ err: error }, "failed to apply what other nodes changed"))
			.finally(() => this.#reactions.delete(handled));
		this.#reactions.add(handled);
	}
}
