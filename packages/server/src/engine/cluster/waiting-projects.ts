import type { Clock, Timer } from "../../base/clock.ts";
import type { OwnedProjects } from "./owned-projects.ts";

/** For how long a project that another node was found to own isn't asked for again, milliseconds. */
const ELSEWHERE_MS = 1_000;

/** Projects that are known to have work and wait for this node to take them, each list in the order of the first poke. */
export class WaitingProjects {
	readonly #clock: Pick<Clock, "now">;
	readonly #owned: OwnedProjects;
	readonly poked = new Set<string>();
	/** Projects in which a user requested something: these don't wait for capacity. */
	readonly requested = new Set<string>();
	/** Projects released while others waited, and when each next has work: they are poked then. */
	readonly later = new Map<string, number>();
	/** Projects found to be owned by other nodes, and until when not to ask for them again. */
	readonly #elsewhere = new Map<string, number>();

	constructor(clock: Pick<Clock, "now">, owned: OwnedProjects) {
		this.#clock = clock;
		this.#owned = owned;
	}

	/** Pokes projects whose time has come. */
	pokeDue(): void {
		const now = this.#clock.now();
		for (const [projectId, at] of this.later) {
			if (at > now) continue;
			this.later.delete(projectId);
			this.poked.add(projectId);
		}
	}

	/** Other nodes own these projects, and learn of new work on their own. */
	foundElsewhere(projectIds: readonly string[]): void {
		const now = this.#clock.now();
		for (const [projectId, until] of this.#elsewhere) if (until <= now) this.#elsewhere.delete(projectId);
		for (const projectId of projectIds) this.#elsewhere.set(projectId, now + ELSEWHERE_MS);
	}

	/** Whether another node was just found to own the project. */
	isElsewhere(projectId: string): boolean {
		return (this.#elsewhere.get(projectId) ?? 0) > this.#clock.now();
	}

	/** Removes projects of a list that can be taken now. A poke while they are being taken puts them back. */
	next(list: Set<string>, most: number): string[] {
		const next: string[] = [];
		for (const projectId of list) {
			if (next.length === most) break;
			if (!this.#owned.isFree(projectId)) continue;
			list.delete(projectId);
			next.push(projectId);
		}
		return next;
	}

	/** How many projects of a list can be taken now, up to `most`. */
	count(list: Set<string>, most: number): number {
		let count = 0;
		for (const projectId of list) {
			if (count === most) break;
			if (this.#owned.isFree(projectId)) count += 1;
		}
		return count;
	}
}

/** First delay before retrying a lease whose row is locked, real milliseconds. It doubles … */
const LOCKED_MS = 5;
/** … up to this. */
const LOCKED_MAX_MS = 1_000;

interface Locked {
	readonly waitMs: number;
	/** Whether a user requested something in the project. */
	isRequested: boolean;
	timer: Timer | null;
}

/**
 * Leases whose rows were locked when this node tried to take them: another transaction has them, usually only briefly.
 * That doesn't mean that another node owns the project, so each is tried again.
 */
export class LockedLeases {
	readonly #clock: Pick<Clock, "setTimeout">;
	readonly #locked = new Map<string, Locked>();

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

	/** A user requested something in the project: if a retry is scheduled, it counts as requested. @returns whether one is */
	request(projectId: string): boolean {
		if (!this.isWaiting(projectId)) return false;
		this.#locked.get(projectId)!.isRequested = true;
		return true;
	}

	/** The project's row wasn't locked any more: cancels its retry. */
	forget(projectId: string): void {
		this.#locked.get(projectId)?.timer?.cancel();
		this.#locked.delete(projectId);
	}

	retry(projectId: string, isRequested: boolean, again: (isRequested: boolean) => void): void {
		const last = this.#locked.get(projectId);
		last?.timer?.cancel();
		const waitMs = Math.min(LOCKED_MAX_MS, 2 * (last?.waitMs ?? LOCKED_MS / 2));
		const waiting: Locked = { waitMs, isRequested: isRequested || last?.isRequested === true, timer: null };
		waiting.timer = this.#clock.setTimeout(() => {
			waiting.timer = null;
			again(waiting.isRequested);
		}, waitMs);
		this.#locked.set(projectId, waiting);
	}

	cancel(): void {
		for (const { timer } of this.#locked.values()) timer?.cancel();
	}
}
