import type { Clock, Timer } from "../../../src/base/clock.ts";
import { StorageError } from "../../../src/storage/port.ts";

/** How long a call waits for a project whose rows another session holds, in milliseconds. */
const LOCK_WAIT_MS = 500;

const LOCKED = "Another session of the database holds this project's rows.";

interface Waiter {
	readonly timer: Timer;
	readonly resolve: () => void;
	readonly reject: (error: StorageError) => void;
}

/** Projects whose rows (log, lease and lanes) another session holds, as a store's open transaction does. */
export class ProjectLocks {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #waiters = new Map<number, Set<Waiter>>();

	constructor(clock: Pick<Clock, "setTimeout">) {
		this.#clock = clock;
	}

	lock(projectNo: number): void {
		if (!this.#waiters.has(projectNo)) this.#waiters.set(projectNo, new Set());
	}

	/** Resumes waiters in order. */
	unlock(projectNo: number): void {
		const waiters = this.#waiters.get(projectNo) ?? [];
		this.#waiters.delete(projectNo);
		for (const { timer, resolve } of waiters) {
			timer.cancel();
			resolve();
		}
	}

	/** Acts like the loss of the database server, for holders of rows and for waiters. */
	clear(error: StorageError): void {
		const all = [...this.#waiters.values()].flatMap((waiters) => [...waiters]);
		this.#waiters.clear();
		for (const { timer, reject } of all) {
			timer.cancel();
			reject(error);
		}
	}

	has(projectNo: number): boolean {
		return this.#waiters.has(projectNo);
	}

	/** Resolves when the project is unlocked. Rejects as `locked` if that takes too long. */
	released(projectNo: number): Promise<void> {
		const waiters = this.#waiters.get(projectNo);
		if (waiters === undefined) return Promise.resolve();
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const giveUp = (): void => {
			waiters.delete(waiter);
			reject(new StorageError("locked", LOCKED));
		};
		const waiter: Waiter = { timer: this.#clock.setTimeout(giveUp, LOCK_WAIT_MS), resolve, reject };
		waiters.add(waiter);
		return promise;
	}

	/** How a call that may not wait is refused. */
	static refusal(): StorageError {
		return new StorageError("locked", LOCKED);
	}
}
