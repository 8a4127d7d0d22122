/**
 * Carries actors over to the database's next epoch, whose state may be an earlier one. No actor starts anything until
 * the node has joined the epoch. Actors whose state the database hasn't lost continue: their outcomes are settled as
 * after any broken connection. The others end, and their projects are read again.
 */
import type { Claim, EpochKeeper, Lease } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import type { ActorContext } from "../actor/context.ts";
import type { OwnedProjects } from "./owned-projects.ts";

export interface EpochChangeOptions {
	readonly holder: string;
	readonly owned: OwnedProjects;
	/** Makes the actor apply what is stored. */
	readonly reload: (actor: Actor) => Promise<void>;
	/** Takes projects that no other node can have held meanwhile. */
	readonly takeAgain: (projectIds: readonly string[]) => void;
}

type ChangeContext = Pick<ActorContext, "logger" | "onLost">;

export class EpochChange implements EpochKeeper {
	readonly #context: ChangeContext;
	readonly #options: EpochChangeOptions;
	/** Halted actors, and whether their lease was trusted when they were halted. */
	readonly #halted = new Map<Actor, boolean>();
	#found = 0;

	constructor(context: ChangeContext, options: EpochChangeOptions) {
		this.#context = context;
		this.#options = options;
	}

	/** Rises when a new epoch is found. What storage did before may be lost. */
	get found(): number {
		return this.#found;
	}

	/** A new epoch was found: starts nothing more based on earlier state. */
	halt(): void {
		this.#found += 1;
		for (const actor of this.#options.owned.actors.values()) {
			if (this.#halted.has(actor)) continue;
			this.#halted.set(actor, actor.lease.isTrusted);
			actor.hold();
		}
	}

	claims(): Claim[] {
		const { owned, holder } = this.#options;
		return [...owned.actors.values()].flatMap((actor) => (this.#halted.has(actor) && actor.claim(holder)) || []);
	}

	begun(kept: readonly Lease[], opensInMs: number): void {
		const { owned, reload, takeAgain } = this.#options;
		const leases = new Map(kept.map((lease) => [lease.projectId, lease]));
		const ended = [...owned.actors.values()].filter((actor) => !leases.has(actor.projectId));
		for (const actor of ended) {
			owned.drop(actor);
			this.#context.onLost("epoch");
		}
		this.#context.logger.warn(
			{ kept: owned.actors.size, projects: ended.length },
			"the database resumed from another state: projects that may have lost data are read again",
		);
		for (const actor of owned.actors.values()) {
			actor.lease.continueAs(leases.get(actor.projectId)!, opensInMs);
			void reload(actor).then(() => actor.release());
		}
		takeAgain(ended.filter((actor) => this.#halted.get(actor)).map(({ projectId }) => projectId));
		this.#halted.clear();
	}
}
