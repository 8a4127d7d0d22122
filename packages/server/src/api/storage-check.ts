import { within } from "../base/clock.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import { StorageError } from "../storage/port.ts";
import type { ApiParts } from "./route.ts";

/** Storage must respond within this time, milliseconds. */
const PING_MS = 2_000;
/** How long a result is reused, milliseconds: anyone may ask, and each check costs a commit or a line in the log. */
const COUNTS_MS = 1_000;

/** `full`: it reads, but has no room for what is published. `silent`: it fails, or doesn't respond in time. */
export type StorageState = "ok" | "full" | "silent";

/**
 * Whether storage reads and commits. However many callers ask, a check begins at the earliest a second after the previous
 * one ended, or was given up.
 */
export class StorageCheck {
	readonly #parts: Pick<ApiParts, "storage" | "clock">;
	readonly #failure: RepeatedFailure;
	#answer: Promise<StorageState> | null = null;
	#countsUntil = 0;

	constructor({ storage, clock, logger }: Pick<ApiParts, "storage" | "clock" | "logger">) {
		this.#parts = { storage, clock };
		this.#failure = new RepeatedFailure(
			{ logger, clock },
			{ failed: "storage did not read and commit", over: "storage reads and commits again", level: "warn" },
		);
	}

	read(): Promise<StorageState> {
		const { clock } = this.#parts;
		const answer = this.#answer;
		// In a later turn of the event loop, like a new answer, so that a connection's requests don't all run in this one.
		if (answer !== null && clock.elapsed() < this.#countsUntil)
			return new Promise((resolve) => clock.setImmediate(() => resolve(answer)));
		this.#countsUntil = Number.POSITIVE_INFINITY;
		this.#answer = within(clock, PING_MS, this.#ping())
			.then((state) => state ?? "silent")
			.finally(() => {
				this.#countsUntil = clock.elapsed() + COUNTS_MS;
			});
		return this.#answer;
	}

	async #ping(): Promise<StorageState> {
		try {
			await this.#parts.storage.ping();
			this.#failure.succeeded();
			return "ok";
		} catch (error) {
			this.#failure.failed(error);
			return error instanceof StorageError && error.code === "full" ? "full" : "silent";
		}
	}
}
