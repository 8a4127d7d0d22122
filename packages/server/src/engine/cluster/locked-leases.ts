import type { Clock, Timer } from "../../base/clock.ts";

/** First delay before retrying a lease whose row is locked, real milliseconds. It doubles … */
const LOCKED_MS = 5;
/** … up to this. */
const LOCKED_MAX_MS = 1_000;

/**
 * Leases whose rows were locked when this node tried to take them: another transaction has them, usually only briefly.
 * That doesn't mean that another node owns the project, so each is tried again.
 */
export class LockedLeases {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #locked = new Map<string, { waitMs: number; timer: Timer | null }>();

	/** @param clock real time: what holds the row runs outside the engine */
	constructor(clock: Pick<Clock, "setTimeout">) {
		this.#clock = clock;
	}

	/** Whether the project's row was locked at the last try. */
	has(projectId: string): boolean {
		return this.#locked.has(projectId);
	}

	/** Whether a retry of the project is scheduled. */
	isWaiting(projectId: string): boolean {
		const { timer = null } = this.#locked.get(projectId) ?? {};
		return timer !== null;
	}

	/** The project's row wasn't locked any more: cancels its retry. */
	forget(projectId: string): void {
		this.#locked.get(projectId)?.timer?.cancel();
		this.#locked.delete(projectId);
	}

	retry(projectId: string, again: () => void): void {
		const last = this.#locked.get(projectId);
		last?.timer?.cancel();
		const waitMs = Math.min(LOCKED_MAX_MS, 2 * (last?.waitMs ?? LOCKED_MS / 2));
		const waiting: { waitMs: number; timer: Timer | null } = { waitMs, timer: null };
		waiting.timer = this.#clock.setTimeout(() => {
			waiting.timer = null;
			again();
		}, waitMs);
		this.#locked.set(projectId, waiting);
	}

	cancel(): void {
		for (const { timer } of this.#locked.values()) timer?.cancel();
	}
}
