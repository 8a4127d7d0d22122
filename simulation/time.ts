/**
 * The one true time of a world, and the clocks of its nodes, which drift, are set, and stand still while their machine
 * sleeps. Everything that happens is an event here. Events run one after another: all that one leads to without time
 * passing has ended before the next one begins.
 */
import type { Clock, Timer } from "../packages/server/src/base/clock.ts";
import type { Host } from "./nodes/host.ts";

interface Event {
	readonly at: number;
	readonly order: number;
	run: (() => void) | null;
}

/** Events between two looks at the machine's event loop: promises are done after each of them all the same. */
const EVENTS_A_TURN = 32;

/** True time, milliseconds from the world's beginning, and what is to happen when. */
export class Timeline {
	#now = 0;
	#order = 0;
	readonly #events: Event[] = [];
	/** Calls to a real database that have not come back: time stands still meanwhile. */
	#awaited = 0;
	/** Continues once the last of them has come back. */
	#resume: (() => void) | null = null;
	/** Events that have happened. */
	count = 0;

	now(): number {
		return this.#now;
	}

	/** Has `run` happen at this time, behind all that was to happen then before. What is past happens now. */
	at(ms: number, run: () => void): Timer {
		const event: Event = { at: Math.max(Math.ceil(ms), this.#now), order: this.#order++, run };
		push(this.#events, event);
		return {
			cancel: () => {
				event.run = null;
			},
		};
	}

	after(ms: number, run: () => void): Timer {
		return this.at(this.#now + ms, run);
	}

	/** Time stands still until this is settled: it takes real time, and no virtual one. */
	hold<T>(work: Promise<T>): Promise<T> {
		this.#awaited += 1;
		const done = (): void => {
			this.#awaited -= 1;
			if (this.#awaited > 0 || this.#resume === null) return;
			const resume = this.#resume;
			this.#resume = null;
			setImmediate(resume);
		};
		work.then(done, done);
		return work;
	}

	/**
	 * Runs until `isOver`, which is checked after each event, or until no events are left. Rejects with what an event
	 * throws.
	 */
	run(isOver: () => boolean): Promise<void> {
		return new Promise((resolve, reject) => {
			let stopped = false;
			const stop = (end: () => void): void => {
				if (!stopped) end();
				stopped = true;
			};
			// Between two of these calls Node does everything that promises wait for.
			const step = (): void => {
				if (stopped || this.#awaited > 0) return;
				try {
					if (isOver() || !this.#next()) stop(resolve);
				} catch (error) {
					stop(() => reject(error));
				}
			};
			const turn = (): void => {
				if (stopped) return;
				if (this.#awaited > 0) {
					this.#resume = turn;
					return;
				}
				for (let i = 0; i < EVENTS_A_TURN; i++) setImmediate(step);
				setImmediate(turn);
			};
			turn();
		});
	}

	#next(): boolean {
		for (;;) {
			const event = pop(this.#events);
			if (!event) return false;
			if (!event.run) continue;
			this.#now = event.at;
			this.count += 1;
			event.run();
			return true;
		}
	}
}

/** A node's own clock. Times are whole milliseconds, as Node's are; the monotonic hand runs at its own rate. */
export class NodeClock implements Clock {
	readonly #timeline: Timeline;
	readonly #host: Host;
	#since: number;
	#elapsed: number;
	#rate = 1;
	#asleep = false;
	/** The time of day is so much more than `elapsed`. */
	#offset: number;

	/**
	 * @param startMs the true time of day when the world began; milliseconds since the Unix epoch
	 * @param aheadMs how far this clock is ahead of it
	 */
	constructor(timeline: Timeline, host: Host, startMs: number, aheadMs: number) {
		this.#timeline = timeline;
		this.#host = host;
		this.#since = timeline.now();
		// Each machine has been up for some other time.
		this.#elapsed = 1_000_000;
		this.#offset = startMs + timeline.now() + aheadMs - this.#elapsed;
	}

	now(): number {
		return Math.floor(this.elapsed() + this.#offset);
	}

	elapsed(): number {
		if (this.#asleep) return this.#elapsed;
		return this.#elapsed + (this.#timeline.now() - this.#since) * this.#rate;
	}

	setTimeout(fn: () => void, ms: number): Timer {
		const due = this.elapsed() + Math.max(1, Math.floor(ms));
		let current: Timer | null = null;
		let isOver = false;
		const wait = (): void => {
			current = this.#timeline.after((due - this.elapsed()) / this.#rate, ring);
		};
		const ring = (): void => {
			// The clock ran slower meanwhile, or stood still.
			if (this.#asleep) this.#onAwake.push(ring);
			else if (this.elapsed() < due - 1e-3) wait();
			else
				this.#host.run(() => {
					if (isOver) return;
					isOver = true;
					fn();
				});
		};
		wait();
		return {
			cancel: () => {
				isOver = true;
				current?.cancel();
			},
		};
	}

	setImmediate(fn: () => void): void {
		this.#timeline.after(0, () => this.#host.run(fn));
	}

	/** From now on it runs at this rate: 1 is right. */
	drift(rate: number): void {
		this.#rebase();
		this.#rate = rate;
	}

	/** Sets the time of day forward by `ms`, or back. */
	set(ms: number): void {
		this.#offset += ms;
	}

	/** The machine sleeps: the monotonic hand stands still. */
	sleep(): void {
		this.#rebase();
		this.#asleep = true;
	}

	/** It is awake again, and its time of day right as before. */
	wake(): void {
		this.#offset += this.#timeline.now() - this.#since;
		this.#since = this.#timeline.now();
		this.#asleep = false;
		for (const ring of this.#onAwake.splice(0)) ring();
	}

	readonly #onAwake: (() => void)[] = [];

	#rebase(): void {
		this.#elapsed = this.elapsed();
		this.#since = this.#timeline.now();
	}
}

// ── a binary heap, the earliest event first ──

function isEarlier(a: Event, b: Event): boolean {
	return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
	let at = heap.length;
	heap.push(event);
	while (at > 0) {
		const parent = (at - 1) >> 1;
		if (!isEarlier(event, heap[parent]!)) break;
		heap[at] = heap[parent]!;
		at = parent;
	}
	heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
	const first = heap[0];
	const last = heap.pop();
	if (first === undefined || last === undefined || heap.length === 0) return first;
	let at = 0;
	for (;;) {
		let child = 2 * at + 1;
		if (child >= heap.length) break;
		if (child + 1 < heap.length && isEarlier(heap[child + 1]!, heap[child]!)) child += 1;
		if (!isEarlier(heap[child]!, last)) break;
		heap[at] = heap[child]!;
		at = child;
	}
	heap[at] = last;
	return first;
}
