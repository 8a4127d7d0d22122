import type { Actor } from "./actor.ts";

/** Actors on a node at most; beyond, rung projects wait until idle ones were given back. */
export const MAX_ACTORS = 10_000;

/** The projects that this node works, an actor for each, and those whose lease is on its way back. */
export class Roster {
	/** As many projects as this node takes up by itself. */
	share = MAX_ACTORS;
	/** The node stops: nothing is taken up any more. */
	closing = false;
	readonly #actors = new Map<string, Actor>();
	readonly #leaving = new Set<string>();

	/** By their projects. */
	get actors(): ReadonlyMap<string, Actor> {
		return this.#actors;
	}

	/** The project's actor, unless it is giving the project back. */
	working(projectId: string): Actor | undefined {
		const actor = this.#actors.get(projectId);
		return actor?.retiring ? undefined : actor;
	}

	/** Whether it is this actor that works its project. */
	has(actor: Actor): boolean {
		return this.#actors.get(actor.projectId) === actor;
	}

	/** Whether nothing of the project is here, so that its lease may be taken. */
	isFree(projectId: string): boolean {
		return !this.#actors.has(projectId) && !this.#leaving.has(projectId);
	}

	/** A former actor of its project ends. */
	add(actor: Actor): void {
		this.#actors.get(actor.projectId)?.end();
		this.#actors.set(actor.projectId, actor);
	}

	/** It ends, and works its project no longer. */
	drop(actor: Actor): void {
		if (this.has(actor)) this.#actors.delete(actor.projectId);
		actor.end();
	}

	/** Drops the actor; until `release` has ended its project is on its way back. */
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
