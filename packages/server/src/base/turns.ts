import type { Clock } from "./clock.ts";

/** Asks whether to wait before processing this many bytes; null means no. */
export type Pause = (bytes: number) => Promise<void> | null;

/** For small work, or work that shares the event loop with nothing else. */
export const neverPause: Pause = () => null;

/** Runs work that yields the bytes of each piece before it begins, without a break unless `pause` asks for one. */
export function runInSlices<T>(work: Generator<number, T, void>, pause: Pause): T | Promise<T> {
	for (;;) {
		const { done, value } = work.next();
		if (done) return value;
		const turn = pause(value);
		if (turn) return turn.then(() => runInSlices(work, pause));
	}
}

/** Slices per turn of the event loop, if they are short. */
const SLICES = 16;

/**
 * Shares the event loop among owners with heavy computations. Each waits before each slice of its work; owners take
 * turns. Slices run until their share of a turn of the loop is used up, so that other callbacks can run in between.
 */
export class Turns {
	/** Waiting slices by owner; the owner whose turn is next comes first. */
	readonly #waiting = new Map<string, (() => void)[]>();
	readonly #turnMs: number;
	readonly #clock: Pick<Clock, "elapsed" | "setImmediate">;
	/** Slices that may still run in the current or next turn of the loop. */
	#due = 0;
	#begun: number | null = null;

	/**
	 * @param turnMs how long slices run per turn of the event loop: the one that reaches it is the last
	 * @param clock its `setImmediate` lets promises settle before the next call
	 */
	constructor(turnMs: number, clock: Pick<Clock, "elapsed" | "setImmediate">) {
		this.#turnMs = turnMs;
		this.#clock = clock;
	}

	/** Resolves when it is the owner's turn for one slice of work. */
	take(owner: string): Promise<void> {
		return new Promise((resolve) => {
			const queue = this.#waiting.get(owner);
			if (queue) queue.push(resolve);
			else this.#waiting.set(owner, [resolve]);
			this.#arm();
		});
	}

	/**
	 * Splits one owner's work into slices: call the returned function before each piece. It returns null if the piece
	 * still fits into the slice, otherwise a promise for the next turn.
	 *
	 * @param pieceBytes what a piece counts for in addition to its bytes, since many tiny pieces are also work
	 */
	slices(owner: string, sliceBytes: number, pieceBytes = 0): Pause {
		let worked = 0;
		return (bytes) => {
			const piece = bytes + pieceBytes;
			worked += piece;
			if (worked <= sliceBytes) return null;
			worked = piece;
			return this.take(owner);
		};
	}

	#arm(): void {
		if (this.#due > 0) return;
		this.#due = SLICES;
		this.#begun = null;
		for (let n = 0; n < SLICES; n++) this.#clock.setImmediate(() => this.#runSlice());
	}

	#runSlice(): void {
		this.#due--;
		const now = this.#clock.elapsed();
		this.#begun ??= now;
		const resolve = now - this.#begun < this.#turnMs ? this.#next() : null;
		if (this.#due === 0 && this.#waiting.size > 0) this.#arm();
		resolve?.();
	}

	#next(): (() => void) | null {
		const [first] = this.#waiting;
		if (!first) return null;
		const [owner, queue] = first;
		this.#waiting.delete(owner);
		const resolve = queue.shift()!;
		if (queue.length > 0) this.#waiting.set(owner, queue);
		return resolve;
	}
}

interface FairQueueOptions {
	/** Concurrent pieces of work: of one owner, and of all. */
	readonly perOwner: number;
	readonly running: number;
	/** How many pieces of one owner may wait. */
	readonly waiting: number;
	/**
	 * How many may wait in all. Beyond this, the newest of the owner with most of them makes room for one of an owner with
	 * fewer, and rejects with {@link Displaced}: no few owners can keep others out. Any number by default.
	 */
	readonly waitingInAll?: number;
}

/** Work that waited, and won't run, because others have less waiting. */
export class Displaced extends Error {
	override readonly name = "Displaced";
}

interface Waiting {
	readonly run: () => void;
	readonly refuse: (error: Displaced) => void;
}

interface Owner {
	running: number;
	readonly waiting: Waiting[];
}

/** Limits how many pieces of work run concurrently. Waiting ones run in order, owners in turn. */
export class FairQueue {
	readonly #options: FairQueueOptions;
	/** Owners with work; the one whose turn is next comes first. */
	readonly #owners = new Map<string, Owner>();
	#running = 0;
	#waiting = 0;

	constructor(options: FairQueueOptions) {
		this.#options = options;
	}

	/**
	 * Runs `work` when there is room, and resolves or rejects with it. Returns null if `waiting` pieces of this owner
	 * already wait, or too many in all; the first limit comes from the options by default.
	 */
	run<T>(name: string, work: () => Promise<T>, waiting = this.#options.waiting): Promise<T> | null {
		const owner = this.#owners.get(name) ?? { running: 0, waiting: [] };
		if (this.#hasRoom(owner)) {
			this.#owners.set(name, owner);
			this.#countRunning(owner);
			return this.#finish(name, owner, work);
		}
		if (owner.waiting.length >= waiting || !this.#makeRoom(owner)) return null;
		this.#owners.set(name, owner);
		this.#waiting++;
		return new Promise<void>((run, refuse) => owner.waiting.push({ run, refuse })).then(() =>
			this.#finish(name, owner, work),
		);
	}

	/** Whether another piece of this owner may wait, if need be in place of another owner's. */
	#makeRoom(owner: Owner): boolean {
		const { waitingInAll = Number.POSITIVE_INFINITY } = this.#options;
		if (this.#waiting < waitingInAll) return true;
		let [most] = this.#owners;
		for (const each of this.#owners) if (each[1].waiting.length > most![1].waiting.length) most = each;
		if (!most || most[1].waiting.length <= owner.waiting.length + 1) return false;
		this.#waiting--;
		most[1].waiting.pop()!.refuse(new Displaced());
		return true;
	}

	#hasRoom({ running, waiting }: Owner): boolean {
		const { perOwner, running: most } = this.#options;
		return this.#running < most && running < perOwner && waiting.length === 0;
	}

	#countRunning(owner: Owner): void {
		this.#running++;
		owner.running++;
	}

	async #finish<T>(name: string, owner: Owner, work: () => Promise<T>): Promise<T> {
		try {
			return await work();
		} finally {
			this.#running--;
			owner.running--;
			if (owner.running === 0 && owner.waiting.length === 0) this.#owners.delete(name);
			this.#next();
		}
	}

	/** Starts the first waiting piece of the owner whose turn it is. */
	#next(): void {
		for (const [name, owner] of this.#owners) {
			if (this.#running >= this.#options.running) return;
			if (owner.waiting.length === 0 || owner.running >= this.#options.perOwner) continue;
			this.#owners.delete(name);
			this.#owners.set(name, owner);
			this.#countRunning(owner);
			this.#waiting--;
			owner.waiting.shift()!.run();
			return;
		}
	}
}
