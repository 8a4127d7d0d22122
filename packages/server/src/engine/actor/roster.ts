import { PROJECTS } from "../../base/budgets.ts";
import type { Actor } from "./actor.ts";

/** The projects that this node works, an actor for each, and those whose lease is on its way back. */
export class Roster {
	/** Projects that this node works at most. Beyond that they take turns. */
	readonly limit: number;
	/** More places, for projects for which a person requested something. */
	readonly setAside: number;
	/** As many projects as this node takes up by itself. */
	share: number;
	/** The node stops: nothing is taken up any more. */
	closing = false;
	readonly #actors = new Map<string, Actor>();
	readonly #leaving = new Set<string>();

	constructor(limit: number = PROJECTS.active) {
		this.limit = limit;
		this.setAside = Math.min(PROJECTS.setAside, limit);
		this.share = limit;
	}

	/**
	 * How many more projects may be taken up where `most` may be worked. Those that only finish what is in flight leave room
	 * for others, as long as they are no more than the limit again.
	 */
	room(most: number): number {
		let retiring = 0;
		for (const actor of this.#actors.values()) if (actor.retiring) retiring += 1;
		const { size } = this.#actors;
		return Math.max(0, Math.min(most - (size - retiring), 2 * this.limit - size));
	}

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
