import type { Clock, Timer } from "../base/clock.ts";

/** What this machine may run out of, as named in the metrics. */
export const SHORTAGES = ["descriptors", "memory", "name_servers", "ports"] as const;

/**
 * - `descriptors`: no file descriptor is free, in the process or on the machine (EMFILE, ENFILE).
 * - `memory`: the kernel has no memory or buffer for a socket (ENOMEM, ENOBUFS).
 * - `name_servers`: none of the machine's name servers responds.
 * - `ports`: every local port to one receiver's address is in use (EADDRNOTAVAIL). Other receivers aren't affected.
 */
export type Shortage = (typeof SHORTAGES)[number];

/** Texts for users: what happened and what to do. */
export const SHORTAGE_TEXT: Readonly<Record<Shortage, string>> = {
	descriptors:
		"This machine is out of file descriptors, so deliveries wait. Raise the limit on open files (LimitNOFILE, ulimit -n).",
	memory: "The kernel has no memory left for connections, so deliveries wait. Give the machine more memory.",
	ports:
		"No local port is free for connections to a receiver, so deliveries wait. Widen net.ipv4.ip_local_port_range or add nodes.",
	name_servers:
		"None of this machine's name servers responds, so deliveries wait. Check /etc/resolv.conf and the network.",
};

/** The delay before the next try, milliseconds. It doubles after each failed try. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 10_000;
/** How often waiting sends are woken, milliseconds. */
const TICK_MS = 1_000;
/** Minimum interval between reports of the same shortage to the operator, milliseconds. */
const TELL_EVERY_MS = 60_000;
/** A shortage has ended if no send has met it for this long: nothing needs the resource now. */
const OVER_AFTER_MS = 3 * LONGEST_DELAY_MS;
/** How many waiters are woken during a shortage. One of them tries; the others are spares. */
const WOKEN_TO_TRY = 16;

interface State {
	/** Number of sends deferred because of it. */
	total: number;
	lasts: boolean;
	trying: boolean;
	delayMs: number;
	/** Monotonic times: when it was last met, and when the next send may try. */
	metAt: number;
	tryAt: number;
	/** Monotonic time of the last report to the operator. */
	toldAt: number;
}

/**
 * What this node is short of, shared by all its sends.
 *
 * The receiver doesn't cause a shortage, so a send that meets one doesn't count as an attempt: its delivery waits and
 * keeps its order. While a shortage lasts, one send after each delay tests whether it still does; the others are
 * deferred without asking the kernel. So 10,000 lanes that meet a shortage cost one try and one timer. Sends that don't
 * need the resource, such as a request on a kept-alive connection, continue.
 *
 *     fine ── a send meets it ──▶ lasting ── a try succeeds ──▶ fine
 *                                  │   ▲
 *                       after a delay  a try fails: the delay doubles
 *                                  ▼   │
 *                                 trying
 */
export class Shortages {
	readonly #clock: Pick<Clock, "elapsed" | "setTimeout">;
	readonly #tell: (shortage: Shortage) => void;
	readonly #states: Readonly<Record<Shortage, State>>;
	readonly #waiting = new Map<() => void, Shortage>();
	#timer: Timer | null = null;

	/** @param tell called when a send meets a shortage, at most once a minute for each kind */
	constructor(clock: Pick<Clock, "elapsed" | "setTimeout">, tell: (shortage: Shortage) => void = () => undefined) {
		this.#clock = clock;
		this.#tell = tell;
		const times = { delayMs: 0, metAt: 0, tryAt: 0, toldAt: Number.NEGATIVE_INFINITY };
		const fine = (): State => ({ total: 0, lasts: false, trying: false, ...times });
		this.#states = { descriptors: fine(), memory: fine(), ports: fine(), name_servers: fine() };
	}

	/** The current shortage, or null; `ports` only if nothing else is short. */
	get current(): Shortage | null {
		return SHORTAGES.find((shortage) => this.lasts(shortage)) ?? null;
	}

	lasts(shortage: Shortage): boolean {
		const state = this.#states[shortage];
		if (state.lasts && this.#clock.elapsed() - state.metAt >= OVER_AFTER_MS) state.lasts = false;
		return state.lasts;
	}

	/** Number of sends deferred because of it so far. */
	total(shortage: Shortage): number {
		return this.#states[shortage].total;
	}

	// ── for the sender ──

	/** Whether a send shouldn't even try. During a shortage only one send after each delay may. */
	blocks(shortage: Shortage): boolean {
		const state = this.#states[shortage];
		if (!state.lasts || !this.lasts(shortage)) return false;
		const now = this.#clock.elapsed();
		if (now < state.tryAt) return true;
		state.trying = true;
		state.tryAt = now + state.delayMs;
		return false;
	}

	/** A send was deferred. @param tried whether it met the shortage itself, rather than being blocked */
	met(shortage: Shortage, tried: boolean): void {
		const state = this.#states[shortage];
		state.total += 1;
		if (!tried) return;
		const now = this.#clock.elapsed();
		const isNew = !this.lasts(shortage);
		state.metAt = now;
		if (now - state.toldAt >= TELL_EVERY_MS) {
			state.toldAt = now;
			try {
				this.#tell(shortage);
			} catch {
				// A failure to log must not become a fault of its own.
			}
		}
		// Sends that started before the shortage was known don't count as tries.
		if (!isNew && !state.trying && now < state.tryAt) return;
		state.delayMs = isNew ? FIRST_DELAY_MS : Math.min(2 * state.delayMs, LONGEST_DELAY_MS);
		state.tryAt = now + state.delayMs;
		state.lasts = true;
		state.trying = false;
	}

	/** A send got what it needed. */
	passed(shortage: Shortage): void {
		this.#states[shortage].lasts = false;
	}

	// ── for waiting lanes ──

	/** Calls `callback` once, when it is time to try again. */
	wait(shortage: Shortage, callback: () => void): void {
		this.#waiting.set(callback, shortage);
		this.#timer ??= this.#clock.setTimeout(this.#tick, TICK_MS);
	}

	forget(callback: () => void): void {
		this.#waiting.delete(callback);
	}

	readonly #tick = (): void => {
		this.#timer = null;
		const now = this.#clock.elapsed();
		const left = new Map<Shortage, number>();
		for (const shortage of SHORTAGES) {
			const mayAllTry = !this.lasts(shortage);
			const mayTry = now >= this.#states[shortage].tryAt;
			left.set(shortage, mayAllTry ? this.#waiting.size : mayTry ? WOKEN_TO_TRY : 0);
		}
		for (const [callback, shortage] of [...this.#waiting]) {
			const more = left.get(shortage)!;
			if (more === 0) continue;
			left.set(shortage, more - 1);
			this.#waiting.delete(callback);
			callback();
		}
		if (this.#waiting.size > 0) this.#timer ??= this.#clock.setTimeout(this.#tick, TICK_MS);
	};
}
