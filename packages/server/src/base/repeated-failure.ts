import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** From the first failure to the second line, milliseconds. It doubles from line to line, up to the maximum. */
const FIRST_MS = 10_000;
const LONGEST_MS = 600_000;
/** How many projects a line names at most besides its own, and how many of an outage are remembered. */
const [NAMED, REMEMBERED] = [20, 1_000];

interface Details {
	/** The project that it failed for, if it was for one. */
	readonly projectId?: string | undefined;
	readonly [field: string]: unknown;
}

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
	/** Whether an error is a failure; by default, all are. Others are bugs, each of which is logged with its stack. */
	readonly isFailure?: (error: unknown) => boolean;
}

/**
 * Logs the failures of something that is retried all the time, such as every second while the database is away: the
 * first of each kind, then their number at growing intervals, and the first success.
 *
 * Several callers may share it, and one of them may fail while the others succeed, such as the project whose part of a
 * database is damaged. So a failure soon after a success continues the outage, and is logged by its intervals; if
 * everything fails, once {@link FIRST_MS} have passed. A project that fails, too, is named within {@link FIRST_MS}.
 */
export class RepeatedFailure {
	readonly #context: FailureContext;
	readonly #messages: Messages;
	/** Monotonic time of the first failure; null if there was none. */
	#since: number | null = null;
	/** Monotonic time of the last success after it; null if the last try failed. */
	#overAt: number | null = null;
	/** Whether the log says that it fails. */
	#isLogged = false;
	#failures = 0;
	/** Codes of the errors since then. */
	readonly #kinds = new Set<unknown>();
	#waitMs = 0;
	#nextAt = 0;
	/** Monotonic time of the first failure after a success within the outage. */
	#againAt = 0;
	/** Projects that failed since then: those that the log has named or counted … */
	readonly #named = new Set<string>();
	/** … and the others. */
	readonly #unnamed = new Set<string>();
	#loggedAt = 0;

	constructor(context: FailureContext, messages: Messages) {
		this.#context = context;
		this.#messages = messages;
	}

	/** @param details further fields of the line */
	failed(error: unknown, details: Details = {}): void {
		const { logger, clock } = this.#context;
		const { failed, level = "error", isFailure } = this.#messages;
		if (isFailure?.(error) === false) {
			logger.error({ err: error, ...details }, failed);
			return;
		}
		const now = clock.elapsed();
		if (this.#since === null || (this.#overAt !== null && now - this.#overAt >= FIRST_MS)) {
			this.#since = now;
			this.#failures = 0;
			this.#kinds.clear();
			this.#named.clear();
			this.#unnamed.clear();
			this.#waitMs = FIRST_MS;
			this.#nextAt = now + FIRST_MS;
		} else if (this.#overAt !== null) this.#againAt = now;
		this.#overAt = null;
		this.#failures++;
		const { projectId } = details;
		if (projectId !== undefined && !this.#named.has(projectId) && this.#named.size + this.#unnamed.size < REMEMBERED)
			this.#unnamed.add(projectId);
		const kind = (error as { readonly code?: unknown } | null)?.code;
		if (this.#kinds.has(kind)) {
			const isAgain = !this.#isLogged && now - this.#againAt >= FIRST_MS;
			const isNews = this.#unnamed.size > 0 && now - this.#loggedAt >= FIRST_MS;
			if (now < this.#nextAt && !isAgain && !isNews) return;
			if (!isNews || now >= this.#nextAt) {
				this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_MS);
				this.#nextAt = now + this.#waitMs;
			}
		}
		this.#kinds.add(kind);
		this.#isLogged = true;
		this.#loggedAt = now;
		const summary = this.#failures > 1 && this.#summary(this.#since);
		logger[level]({ err: error, ...details, ...summary, ...this.#nameOthers(projectId) }, failed);
	}

	succeeded(): void {
		if (this.#since === null || this.#overAt !== null) return;
		this.#overAt = this.#context.clock.elapsed();
		if (this.#isLogged) this.#context.logger.warn(this.#summary(this.#since), this.#messages.over);
		this.#isLogged = false;
	}

	/** The projects that no line has named yet, apart from that of the current one. */
	#nameOthers(projectId: string | undefined) {
		const others = [...this.#unnamed].filter((id) => id !== projectId);
		for (const id of this.#unnamed) this.#named.add(id);
		this.#unnamed.clear();
		return others.length > 0 && { otherProjects: { count: others.length, first: others.slice(0, NAMED) } };
	}

	#summary(since: number) {
		return { failures: this.#failures, forMs: Math.round(this.#context.clock.elapsed() - since) };
	}
}
