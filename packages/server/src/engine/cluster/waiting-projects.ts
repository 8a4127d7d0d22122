import type { Clock } from "../../base/clock.ts";
import type { OwnedProjects } from "./owned-projects.ts";

/** For how long a project that another node was found to own isn't asked for again, milliseconds. */
const ELSEWHERE_MS = 1_000;

/** Projects that are known to have work and wait for this node to take them, each list in the order of the first poke. */
export class WaitingProjects {
	readonly #clock: Pick<Clock, "now">;
	readonly #owned: OwnedProjects;
	readonly #poked = new Set<string>();
	/** Projects in which a user requested something: these don't wait for capacity. */
	readonly #requested = new Set<string>();
	/** Projects released while others waited, and when each next has work: they are poked then. */
	readonly #later = new Map<string, number>();
	/** Projects found to be owned by other nodes, and until when not to ask for them again. */
	readonly #elsewhere = new Map<string, number>();

	constructor(clock: Pick<Clock, "now">, owned: OwnedProjects) {
		this.#clock = clock;
		this.#owned = owned;
	}

	poke(projectId: string): void {
		this.#poked.add(projectId);
	}

	request(projectId: string): void {
		this.#requested.add(projectId);
	}

	/** Pokes the project at this time. */
	pokeAt(projectId: string, at: number): void {
		this.#later.set(projectId, at);
	}

	/** Pokes projects whose time has come. */
	pokeDue(): void {
		const now = this.#clock.now();
		for (const [projectId, at] of this.#later) {
			if (at > now) continue;
			this.#later.delete(projectId);
			this.#poked.add(projectId);
		}
	}

	/** From now on alarms wake the projects that were to be poked later. */
	leaveToAlarms(): void {
		this.#later.clear();
	}

	/** Removes projects that can be taken now. A poke while they are being taken puts them back. */
	nextPoked(most: number): string[] {
		return this.#next(this.#poked, most);
	}

	/** The same for projects in which a user requested something. */
	nextRequested(most: number): string[] {
		return this.#next(this.#requested, most);
	}

	get hasRequested(): boolean {
		return this.#count(this.#requested, 1) > 0;
	}

	/** How many poked projects can be taken now, up to `most`. */
	countPoked(most: number): number {
		return this.#count(this.#poked, most);
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

	#next(list: Set<string>, most: number): string[] {
		const next: string[] = [];
		for (const projectId of list) {
			if (next.length === most) break;
			if (!this.#owned.isFree(projectId)) continue;
			list.delete(projectId);
			next.push(projectId);
		}
		return next;
	}

	#count(list: Set<string>, most: number): number {
		let count = 0;
		for (const projectId of list) {
			if (count === most) break;
			if (this.#owned.isFree(projectId)) count += 1;
		}
		return count;
	}
}
