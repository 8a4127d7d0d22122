import { PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

interface Setback {
	/** How many came soon after each other. */
	readonly count: number;
	/** When the project may send again, by the clock that is never set. */
	readonly until: number;
}

/**
 * Projects that send without getting anywhere: storage refuses their outcomes, or our code fails on them. Each time they
 * are taken up, receivers get the same events again. So they rest after each setback, twice as long as after the one
 * before, up to {@link PROJECTS.longestRestMs}. One that works for as long as that starts from the beginning. Each node
 * counts what it has met itself.
 */
export class Setbacks {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #firstRestMs: number;
	readonly #setbacks = new Map<string, Setback>();

	constructor(clock: Pick<Clock, "elapsed">, firstRestMs: number) {
		this.#clock = clock;
		this.#firstRestMs = firstRestMs;
	}

	/** How many projects rest now. */
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

	/** How much longer the project rests, milliseconds; 0 if it does not. */
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
