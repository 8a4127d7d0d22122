import { PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

interface Failures {
	/** Number of failures in quick succession. */
	readonly count: number;
	/** Monotonic time from which the project may send again. */
	readonly until: number;
}

/**
 * Projects that send without making progress: storage rejects their outcomes, or our code fails on them. Each time such
 * a project is taken, receivers get the same events again. So it rests after each failure, twice as long each time, up
 * to {@link PROJECTS.longestRestMs}. The count restarts once a project has run for that long. Each node counts only its
 * own failures.
 */
export class FailureBackoff {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #firstRestMs: number;
	readonly #failures = new Map<string, Failures>();

	constructor(clock: Pick<Clock, "elapsed">, firstRestMs: number) {
		this.#clock = clock;
		this.#firstRestMs = firstRestMs;
	}

	get resting(): number {
		const now = this.#clock.elapsed();
		return [...this.#failures.values()].filter(({ until }) => until > now).length;
	}

	/** @returns how long the project rests, milliseconds */
	failed(projectId: string): number {
		this.#forgetOld();
		const count = (this.#failures.get(projectId)?.count ?? 0) + 1;
		const restMs = Math.min(this.#firstRestMs * 2 ** (count - 1), PROJECTS.longestRestMs);
		this.#failures.set(projectId, { count, until: this.#clock.elapsed() + restMs });
		return restMs;
	}

	/** Remaining rest of the project in milliseconds; 0 if it isn't resting. */
	restOf(projectId: string): number {
		const failures = this.#failures.get(projectId);
		return failures ? Math.max(0, failures.until - this.#clock.elapsed()) : 0;
	}

	#forgetOld(): void {
		const now = this.#clock.elapsed();
		for (const [projectId, { until }] of this.#failures)
			if (now - until >= PROJECTS.longestRestMs) this.#failures.delete(projectId);
	}
}
