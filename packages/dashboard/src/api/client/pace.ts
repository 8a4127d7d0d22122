/** The minimum time between two starts, in milliseconds. */
const GAP_MS = 500;
/** How many times as long as the last run took to wait after it: so runs take at most a quarter of the time. */
const REST = 3;

interface Turn {
	/** Set while it waits for its time. */
	timer: number | undefined;
	running: boolean;
	/** Whether it is wanted again after the current run. */
	again: boolean;
	/** The earliest time for the next run, by `performance.now()`. */
	from: number;
}

/**
 * Runs something for each key when it is wanted: the first time immediately, then at most every half a second, less often
 * if it takes long, and never twice at the same time. So a run that takes long ends although it is wanted constantly.
 */
export class Pace<Key> {
	readonly #run: (key: Key) => Promise<unknown>;
	readonly #turns = new Map<Key, Turn>();

	constructor(run: (key: Key) => Promise<unknown>) {
		this.#run = run;
	}

	want(key: Key): void {
		let turn = this.#turns.get(key);
		if (turn === undefined) {
			turn = { timer: undefined, running: false, again: false, from: Number.NEGATIVE_INFINITY };
			this.#turns.set(key, turn);
		}
		if (turn.running) turn.again = true;
		else if (turn.timer === undefined) this.#schedule(key, turn);
	}

	/** Drops what is wanted. A run in progress continues. */
	stop(): void {
		for (const { timer } of this.#turns.values()) window.clearTimeout(timer);
		this.#turns.clear();
	}

	#schedule(key: Key, turn: Turn): void {
		const wait = Math.max(0, turn.from - performance.now());
		turn.timer = window.setTimeout(() => void this.#start(key, turn), wait);
	}

	async #start(key: Key, turn: Turn): Promise<void> {
		turn.timer = undefined;
		turn.running = true;
		const begun = performance.now();
		try {
			await this.#run(key);
		} finally {
			const ended = performance.now();
			turn.running = false;
			turn.from = Math.max(begun + GAP_MS, ended + REST * (ended - begun));
			const again = turn.again && this.#turns.get(key) === turn;
			turn.again = false;
			if (again) this.#schedule(key, turn);
		}
	}
}
