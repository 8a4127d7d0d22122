import { PROJECTS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Actor } from "../actor/actor.ts";

/** The projects that this node owns, with an actor for each, and those whose lease is being released. */
export class OwnedProjects {
	/** Maximum number of projects owned at a time. Any more take turns. */
	readonly limit: number;
	/** Extra capacity for projects in which a user requested something. */
	readonly reserved: number;
	/** Maximum number of projects that this node takes on its own initiative. */
	share: number;
	/** The node is stopping: it takes no more projects. */
	closing = false;
	readonly #actors = new Map<string, Actor>();
	/** Actors that finish their work before their lease is released. */
	readonly #retiring = new Set<Actor>();
	readonly #leaving = new Set<string>();

	constructor(limit: number = PROJECTS.active) {
		this.limit = limit;
		this.reserved = Math.min(PROJECTS.reserved, limit);
		this.share = limit;
	}

	/**
	 * How many more projects may be taken if `most` may be owned. Retiring projects don't count towards `most`, but all
	 * projects together are limited to twice the limit.
	 */
	room(most = this.limit): number {
		const { size } = this.#actors;
		return Math.max(0, Math.min(most - (size - this.#retiring.size), 2 * this.limit - size));
	}

	get actors(): ReadonlyMap<string, Actor> {
		return this.#actors;
	}

	/** The project's actor, unless it is releasing the project. */
	working(projectId: string): Actor | undefined {
		const actor = this.#actors.get(projectId);
		return actor && this.#retiring.has(actor) ? undefined : actor;
	}

	has(actor: Actor): boolean {
		return this.#actors.get(actor.projectId) === actor;
	}

	/** Whether this node holds nothing of the project, so that it may take the lease. */
	isFree(projectId: string): boolean {
		return !this.#actors.has(projectId) && !this.#leaving.has(projectId);
	}

	/** Adds an actor; a previous actor of the project ends. */
	add(actor: Actor): void {
		const previous = this.#actors.get(actor.projectId);
		if (previous) this.drop(previous);
		this.#actors.set(actor.projectId, actor);
	}

	/** Ends the actor and removes it if it owns its project. */
	drop(actor: Actor): void {
		if (this.has(actor)) this.#actors.delete(actor.projectId);
		this.#retiring.delete(actor);
		actor.end();
	}

	/** Lets the actor finish its work. See {@link Actor.retire}. */
	retire(actor: Actor): ReturnType<Actor["retire"]> {
		if (this.has(actor)) this.#retiring.add(actor);
		return actor.retire();
	}

	/** Drops the actor. Its project isn't free until `release` has finished. */
	async leave(actor: Actor, release: () => Promise<void>): Promise<void> {
		this.drop(actor);
		this.#leaving.add(actor.projectId);
		try {
			await release();
		} finally {
			this.#leaving.delete(actor.projectId);
		}
	}
}

/** For how long a project that another node was found to own isn't asked for again, milliseconds. */
const ELSEWHERE_MS = 1_000;

/** Projects that wait for this node to take them, in the order in which they were first added. */
class WaitingList extends Set<string> {
	readonly #owned: OwnedProjects;

	constructor(owned: OwnedProjects) {
		super();
		this.#owned = owned;
	}

	/** Those that can be taken now, up to `most`. */
	free(most: number): string[] {
		const isFree = (projectId: string): boolean => this.#owned.isFree(projectId);
		return this.values().filter(isFree).take(most).toArray();
	}

	/** Removes those that can be taken now, up to `most`. A poke while they are being taken puts them back. */
	removeFree(most: number): string[] {
		const free = this.free(most);
		for (const projectId of free) this.delete(projectId);
		return free;
	}
}

/** Projects with work that this node hasn't taken yet. */
export class WaitingProjects {
	readonly #clock: Pick<Clock, "now" | "elapsed">;
	readonly poked: WaitingList;
	/** Projects in which a user requested something: these don't wait for capacity. */
	readonly requested: WaitingList;
	/** Projects released while others waited, and when each next has work: they are poked then. */
	readonly later = new Map<string, number>();
	/** Projects found to be owned by other nodes, and until when not to ask for them again. */
	readonly #elsewhere = new Map<string, number>();

	constructor(clock: Pick<Clock, "now" | "elapsed">, owned: OwnedProjects) {
		this.#clock = clock;
		this.poked = new WaitingList(owned);
		this.requested = new WaitingList(owned);
	}

	/** Whether the project was poked and hasn't been taken since. */
	has(projectId: string): boolean {
		return this.poked.has(projectId) || this.requested.has(projectId);
	}

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
		const now = this.#clock.elapsed();
		for (const [projectId, until] of this.#elsewhere) if (until <= now) this.#elsewhere.delete(projectId);
		for (const projectId of projectIds) this.#elsewhere.set(projectId, now + ELSEWHERE_MS);
	}

	/** For how long not to ask for the project, because another node was just found to own it, milliseconds. */
	elsewhereMs(projectId: string): number {
		return Math.max(0, (this.#elsewhere.get(projectId) ?? Number.NEGATIVE_INFINITY) - this.#clock.elapsed());
	}
}

/** First delay before retrying a lease whose row is locked, real milliseconds. It doubles … */
const LOCKED_MS = 5;
/** … up to this. */
const LOCKED_MAX_MS = 1_000;

interface Locked {
	readonly waitMs: number;
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
