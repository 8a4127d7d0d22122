/** Runs one world, and says how it ended. */
import type { Plan } from "../plan.ts";
import { makePlan } from "../plans/make.ts";
import type { Nodes } from "../plans/shapes.ts";
import type { StorageKind } from "../storage/database.ts";
import { type Ending, World } from "../world.ts";

/** A world to run: of a seed, or of a plan that was changed. */
export interface Task {
	readonly seed: number;
	readonly storage: StorageKind;
	/** A running server, for worlds on PostgreSQL. */
	readonly postgresUrl?: string | undefined;
	readonly style?: string | undefined;
	readonly nodes?: Nodes | undefined;
	/** A plan that was changed, instead of the seed's own. */
	readonly plan?: Plan;
}

export function planOf({ seed, storage, style, nodes }: Task): Plan {
	// SQLite belongs to one node.
	return makePlan(seed, style, storage === "sqlite" ? "one" : nodes);
}

export interface Result {
	readonly seed: number;
	readonly style: string;
	readonly ending: Ending | null;
	/** What the world threw: a mistake of its own. */
	readonly error: string | null;
}

export async function runTask(task: Task): Promise<Result> {
	const { seed, storage, postgresUrl } = task;
	const made = task.plan ?? planOf(task);
	try {
		const ending = await new World(made, { storage, postgresUrl }).run();
		return { seed, style: made.shape.name, ending, error: null };
	} catch (error) {
		return { seed, style: made.shape.name, ending: null, error: (error as Error).stack ?? String(error) };
	}
}
