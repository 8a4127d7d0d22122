import { SENDS } from "../../base/budgets.ts";
import { type Clock, STOOD_STILL_MS, type Timer } from "../../base/clock.ts";
import { type Linked, LinkedList } from "../../base/collections.ts";

export interface HasDeadline extends Linked<HasDeadline> {
	/** Monotonic time of its deadline, milliseconds. */
	dueAt: number;
	/** The deadline has passed. Must not throw. */
	cut(): void;
}

/**
 * Deadlines of attempts. All have the same time limit, so they expire in the order in which they began, and one timer
 * serves them all. Receivers that hang often reach theirs together, and closing thousands of connections takes long, so in
 * each turn of the event loop attempts are cut off only for a while: on a busy node the last of 8,192 is cut off a few
 * seconds late.
 */
export class Deadlines {
	readonly #clock: Pick<Clock, "elapsed" | "setTimeout">;
	readonly #ms: number;
	/** Earliest first. */
	readonly #timed = new LinkedList<HasDeadline>();
	#timer: Timer | null = null;
	/** Monotonic time at which the timer should fire; infinite if attempts may be cut however late that is. */
	#firesAt = 0;

	/** @param ms how long each attempt may take */
	constructor(clock: Pick<Clock, "elapsed" | "setTimeout">, ms: number) {
		this.#clock = clock;
		this.#ms = ms;
	}

	/** Starts an attempt's time. Call this only once for each. */
	add(timed: HasDeadline): void {
		if (this.#timer === null) this.#fireAfter(this.#ms);
		timed.dueAt = this.#clock.elapsed() + this.#ms;
		this.#timed.add(timed);
	}

	/** Ends an attempt's time. Has no effect if it was cut off, or never started. */
	remove(timed: HasDeadline): void {
		this.#timed.remove(timed);
		if (this.#timed.first !== null) return;
		this.#timer?.cancel();
		this.#timer = null;
	}

	/** Replaces the timer: an attempt that begins while another is cut off has set one. */
	#fireAfter(ms: number): void {
		this.#firesAt = this.#clock.elapsed() + ms;
		this.#timer?.cancel();
		this.#timer = this.#clock.setTimeout(this.#fire, ms);
	}

	readonly #fire = (): void => {
		this.#timer = null;
		const now = this.#clock.elapsed();
		// What receivers sent in time hasn't been read yet: all attempts have this much more time.
		if (now - this.#firesAt > STOOD_STILL_MS) {
			this.#fireAfter(STOOD_STILL_MS);
			this.#firesAt = Number.POSITIVE_INFINITY;
			return;
		}
		for (let timed = this.#timed.first; timed !== null; timed = this.#timed.first) {
			if (timed.dueAt > now) {
				this.#fireAfter(Math.ceil(timed.dueAt - now));
				return;
			}
			if (this.#clock.elapsed() - now >= SENDS.cutMsPerTurn) {
				this.#fireAfter(0);
				return;
			}
			this.#timed.remove(timed);
			timed.cut();
		}
	};
}
