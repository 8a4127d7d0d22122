/**
 * If nodes share a database, notifies waiting calls (readers that wait for events, open dashboard pages) of what other
 * nodes do: immediately on a hint from storage, and by occasional polling, because hints may be lost and a peer's
 * deliveries cause none. Only watched projects are polled.
 */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Storage } from "../../storage/port.ts";
import type { Changes } from "./changes.ts";
import type { Arrivals } from "./long-poll.ts";

/** Time between polls, milliseconds. */
const LOOK_MS = 1_000;

export interface ElsewhereOptions {
	readonly storage: Pick<Storage, "neighbours" | "listAttempts">;
	readonly arrivals: Arrivals;
	readonly changes: Changes;
	readonly clock: Clock;
	readonly logger: Logger;
}

/** A project's state at the last poll. */
interface Seen {
	lastSeq: number;
	revision: number;
	newestAttempt: string | undefined;
}

export class Elsewhere {
	readonly #options: ElsewhereOptions;
	#seen = new Map<string, Seen>();
	#timer: Timer | null = null;
	#unsubscribe: (() => void) | null = null;
	#looking: Promise<void> | null = null;
	#stopped = false;
	#away = false;

	constructor(options: ElsewhereOptions) {
		this.#options = options;
	}

	/** Does nothing if one process owns the database. */
	start(): void {
		const { neighbours } = this.#options.storage;
		if (neighbours === null) return;
		this.#unsubscribe = neighbours.subscribe((projectIds) => {
			const watched = this.#watched();
			if (projectIds.some((id) => watched.has(id))) void this.#lookNow();
		});
		this.#lookLater();
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		this.#unsubscribe?.();
		this.#timer?.cancel();
		await this.#looking;
	}

	#watched(): Set<string> {
		const { arrivals, changes } = this.#options;
		return new Set([...arrivals.projects, ...changes.projects]);
	}

	#lookLater(): void {
		if (this.#stopped) return;
		this.#timer = this.#options.clock.setTimeout(async () => {
			await this.#lookNow();
			this.#lookLater();
		}, LOOK_MS);
	}

	/** One poll at a time: callers during a poll get another one after it. */
	async #lookNow(): Promise<void> {
		while (this.#looking !== null) await this.#looking;
		if (this.#stopped) return;
		this.#looking = this.#look().finally(() => {
			this.#looking = null;
		});
		await this.#looking;
	}

	async #look(): Promise<void> {
		const { storage, arrivals, changes, logger } = this.#options;
		const watched = this.#watched();
		const before = this.#seen;
		this.#seen = new Map();
		if (watched.size === 0) return;
		const pages = new Set(changes.projects);
		try {
			const marks = (await storage.neighbours?.readMarks([...watched])) ?? new Map();
			for (const [projectId, { lastSeq, revision }] of marks) {
				const known = before.get(projectId);
				const newestAttempt = pages.has(projectId) ? await this.#newestAttempt(projectId) : undefined;
				this.#seen.set(projectId, { lastSeq, revision, newestAttempt });
				// A project that wasn't watched before may have changed since the caller read it.
				if (known?.lastSeq !== lastSeq) arrivals.noteElsewhere(projectId);
				if (known?.lastSeq !== lastSeq || known?.revision !== revision) changes.note(projectId, "webhooks");
				if (known?.newestAttempt !== newestAttempt) changes.note(projectId, "attempts");
			}
			this.#away = false;
		} catch (error) {
			if (!this.#away) logger.warn({ err: error }, "failed to read what other nodes changed");
			this.#away = true;
		}
	}

	async #newestAttempt(projectId: string): Promise<string | undefined> {
		const { rows } = await this.#options.storage.listAttempts({
			projectId,
			filter: {},
			page: { limit: 1, maxBytes: 1 },
		});
		return rows[0]?.id;
	}
}
