import { PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
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
	room(most: number): number {
		const { size } = this.#actors;
		return Math.max(0, Math.min(most - (size - this.#retiring.size), 2 * this.limit - size));
	}

	/** Actors by project id. */
	get actors(): ReadonlyMap<string, Actor> {
		return this.#actors;
	}

	/** The project's actor, unless it is releasing the project. */
	working(projectId: string): Actor | undefined {
		const actor = this.#actors.get(projectId);
		return actor && this.#retiring.has(actor) ? undefined : actor;
	}

	/** Whether this actor owns its project. */
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

	/** Whether this actor finishes its work, and starts nothing more. */
	isRetiring(actor: Actor): boolean {
		return this.#retiring.has(actor);
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

interface Failures {
	/** Number of failures in quick succession. */
	readonly count: number;
	/** Monotonic time from which the project may send again. */
	readonly until: number;
}

/**
 * Projects that send without making progress: storage rejects their outcomes, or our code fails on them. Each time such
 * a project is taken, receivers get the same events again. So it rests after each failure, twice as long each time, up
 * to {@link PROJECTS.longestRestMs}. The count restarts once a project has run for that long. Each node counts only its
 * own failures.
 */
export class FailureBackoff {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #firstRestMs: number;
	readonly #failures = new Map<string, Failures>();

	constructor(clock: Pick<Clock, "elapsed">, firstRestMs: number) {
		this.#clock = clock;
		this.#firstRestMs = firstRestMs;
	}

	/** Number of projects resting now. */
	get resting(): number {
		const now = this.#clock.elapsed();
		let resting = 0;
		for (const { until } of this.#failures.values()) if (until > now) resting += 1;
		return resting;
	}

	/** @returns how long the project rests, milliseconds */
	failed(projectId: string): number {
		this.#forgetOld();
		const count = (this.#failures.get(projectId)?.count ?? 0) + 1;
		const restMs = Math.min(this.#firstRestMs * 2 ** (count - 1), PROJECTS.longestRestMs);
		this.#failures.set(projectId, { count, until: this.#clock.elapsed() + restMs });
		return restMs;
	}

	/** Remaining rest of the project in milliseconds; 0 if it isn't resting. */
	restOf(projectId: string): number {
		const failures = this.#failures.get(projectId);
		return failures ? Math.max(0, failures.until - this.#clock.elapsed()) : 0;
	}

	#forgetOld(): void {
		const now = this.#clock.elapsed();
		for (const [projectId, { until }] of this.#failures)
			if (now - until >= PROJECTS.longestRestMs) this.#failures.delete(projectId);
	}
}
