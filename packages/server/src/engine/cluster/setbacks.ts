import { PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

interface Setback {
	/** Number of setbacks in quick succession. */
	readonly count: number;
	/** Monotonic time from which the project may send again. */
	readonly until: number;
}

/**
 * Projects that send without making progress: storage rejects their outcomes, or our code fails on them. Each time such
 * a project is taken, receivers get the same events again. So it rests after each setback, twice as long each time, up
 * to {@link PROJECTS.longestRestMs}. The count restarts once a project has run for that long. Each node counts only its
 * own setbacks.
 */
export class Setbacks {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #firstRestMs: number;
	readonly #setbacks = new Map<string, Setback>();

	constructor(clock: Pick<Clock, "elapsed">, firstRestMs: number) {
		this.#clock = clock;
		this.#firstRestMs = firstRestMs;
	}

	/** Number of projects resting now. */
	get resting(): number {
		const now = this.#clock.elapsed();
		let resting = 0;
		for (const { until } of this.#setbacks.values()) if (until > now) resting += 1;
		return resting;
	}

	/** @returns how long the project rests, milliseconds */
	note(projectId: string): number {
		this.#forgetOld();
		const count = (this.#setbacks.get(projectId)?.count ?? 0) + 1;
		const restMs = Math.min(this.#firstRestMs * 2 ** (count - 1), PROJECTS.longestRestMs);
		this.#setbacks.set(projectId, { count, until: this.#clock.elapsed() + restMs });
		return restMs;
	}

	/** Remaining rest of the project in milliseconds; 0 if it isn't resting. */
	restOf(projectId: string): number {
		const setback = this.#setbacks.get(projectId);
		return setback ? Math.max(0, setback.until - this.#clock.elapsed()) : 0;
	}

	#forgetOld(): void {
		const now = this.#clock.elapsed();
		for (const [projectId, { until }] of this.#setbacks)
			if (now - until >= PROJECTS.longestRestMs) this.#setbacks.delete(projectId);
	}
}
