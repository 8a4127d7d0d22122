import type { Clock, Timer } from "../../base/clock.ts";

interface Waiting {
	readonly request: object;
	readonly go: (isItsTurn: boolean) => void;
	readonly patience: Timer;
}

/**
 * Processes one owner's requests one at a time. For large bodies: concurrent ones from one publisher would keep the
 * event loop, the garbage collector and the disk busy for everyone.
 */
export class OneByOne {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #patienceMs: number;
	/** Waiting requests, by the owner whose request has its turn. */
	readonly #lines = new Map<string, Waiting[]>();
	readonly #owners = new WeakMap<object, string>();

	/** @param patienceMs how long a request waits at most */
	constructor(clock: Pick<Clock, "setTimeout">, patienceMs: number) {
		this.#clock = clock;
		this.#patienceMs = patienceMs;
	}

	/**
	 * Resolves when it is the request's turn, which lasts until {@link leave}.
	 *
	 * @returns false if it waited too long and has no turn
	 */
	enter(request: object, owner: string): Promise<boolean> {
		const line = this.#lines.get(owner);
		if (!line) {
			this.#lines.set(owner, []);
			this.#owners.set(request, owner);
			return Promise.resolve(true);
		}
		return new Promise((go) => {
			const patience = this.#clock.setTimeout(() => {
				line.splice(line.indexOf(one), 1);
				go(false);
			}, this.#patienceMs);
			const one: Waiting = { request, go, patience };
			line.push(one);
		});
	}

	/** The work is done, successfully or not. Harmless if repeated, or without a turn. */
	leave(request: object): void {
		const owner = this.#owners.get(request);
		if (owner === undefined) return;
		this.#owners.delete(request);
		const line = this.#lines.get(owner)!;
		const next = line.shift();
		if (!next) {
			this.#lines.delete(owner);
			return;
		}
		next.patience.cancel();
		this.#owners.set(next.request, owner);
		next.go(true);
	}
}
