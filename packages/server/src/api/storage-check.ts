import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { type Storage, StorageError } from "../storage/port.ts";

/** Storage must respond within this time. */
const PING_MS = 2_000;
/** How long a result is reused: anyone may ask, and each check costs a commit or a line in the log. */
const COUNTS_MS = 1_000;

/** `full`: it reads, but has no room for what is published. `silent`: it fails, or doesn't respond in time. */
export type StorageState = "ok" | "full" | "silent";

interface StorageCheckParts {
	readonly storage: Pick<Storage, "ping">;
	readonly clock: Pick<Clock, "elapsed" | "setTimeout" | "setImmediate">;
	readonly logger: Logger;
}

/** Whether storage reads and commits. Checked at most once a second, one check at a time, however many callers ask. */
export class StorageCheck {
	readonly #storage: Pick<Storage, "ping">;
	readonly #clock: Pick<Clock, "elapsed" | "setTimeout" | "setImmediate">;
	readonly #logger: Logger;
	#answer: Promise<StorageState> | null = null;
	#countsUntil = 0;

	constructor({ storage, clock, logger }: StorageCheckParts) {
		this.#storage = storage;
		this.#clock = clock;
		this.#logger = logger;
	}

	read(): Promise<StorageState> {
		const answer = this.#answer;
		// In a later turn of the event loop, like a new answer, so that a connection's requests don't all run in this one.
		if (answer !== null && this.#clock.elapsed() < this.#countsUntil)
			return new Promise((resolve) => this.#clock.setImmediate(() => resolve(answer)));
		this.#countsUntil = Number.POSITIVE_INFINITY;
		this.#answer = this.#ask().finally(() => {
			this.#countsUntil = this.#clock.elapsed() + COUNTS_MS;
		});
		return this.#answer;
	}

	async #ask(): Promise<StorageState> {
		const late = Promise.withResolvers<StorageState>();
		const timer = this.#clock.setTimeout(() => late.resolve("silent"), PING_MS);
		try {
			return await Promise.race([this.#ping(), late.promise]);
		} finally {
			timer.cancel();
		}
	}

	async #ping(): Promise<StorageState> {
		try {
			await this.#storage.ping();
			return "ok";
		} catch (error) {
			this.#logger.warn({ err: error }, "storage did not read and commit");
			return error instanceof StorageError && error.code === "full" ? "full" : "silent";
		}
	}
}
