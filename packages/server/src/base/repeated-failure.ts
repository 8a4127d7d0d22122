import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** From the first failure to the second line, milliseconds. It doubles from line to line, up to the maximum. */
const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;

interface FailureContext {
	readonly logger: Logger;
	readonly clock: Pick<Clock, "elapsed">;
}

interface Messages {
	/** The message of a failure, and that of the first success afterwards. */
	readonly failed: string;
	readonly over: string;
	/** The level at which failures are logged; `error` by default. */
	readonly level?: "warn" | "error";
}

/**
 * Logs the failures of something that is retried all the time, such as every second while the database is away: the
 * first of each kind, then their number at growing intervals, and the first success.
 */
export class RepeatedFailure {
	readonly #context: FailureContext;
	readonly #messages: Messages;
	/** Monotonic time of the first failure; null after a success. */
	#since: number | null = null;
	#failures = 0;
	/** Codes of the errors since then. */
	readonly #kinds = new Set<unknown>();
	#waitMs = 0;
	#nextAt = 0;

	constructor(context: FailureContext, messages: Messages) {
		this.#context = context;
		this.#messages = messages;
	}

	/** @param details further fields of the line */
	failed(error: unknown, details: object = {}): void {
		const { logger, clock } = this.#context;
		const { failed, level = "error" } = this.#messages;
		const now = clock.elapsed();
		if (this.#since === null) {
			this.#since = now;
			this.#failures = 0;
			this.#waitMs = FIRST_MS;
			this.#nextAt = now + FIRST_MS;
		}
		this.#failures++;
		const kind = (error as { readonly code?: unknown } | null)?.code;
		if (this.#kinds.has(kind)) {
			if (now < this.#nextAt) return;
			this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_MS);
			this.#nextAt = now + this.#waitMs;
		}
		this.#kinds.add(kind);
		logger[level]({ err: error, ...details, ...(this.#failures > 1 && this.#summary(this.#since)) }, failed);
	}

	succeeded(): void {
		const since = this.#since;
		if (since === null) return;
		this.#context.logger.warn(this.#summary(since), this.#messages.over);
		this.#since = null;
		this.#kinds.clear();
	}

	#summary(since: number) {
		return { failures: this.#failures, forMs: Math.round(this.#context.clock.elapsed() - since) };
	}
}
