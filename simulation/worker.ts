/** Runs worlds, one after another, in a process of its own; told of seeds, it tells how they went. */
import { makePlan, type Plan } from "./plan.ts";
import type { StorageKind } from "./storage/database.ts";
import { type Ending, World } from "./world.ts";

/** A world to run: of a seed, or of a plan that was changed. */
export interface Task {
	readonly seed: number;
	readonly storage: StorageKind;
	readonly style: string | undefined;
	readonly plan: Plan | null;
}

export interface Result {
	readonly seed: number;
	readonly style: string;
	readonly ending: Ending | null;
	/** What the world threw: a mistake of its own. */
	readonly error: string | null;
}

export async function runTask({ seed, storage, style, plan }: Task): Promise<Result> {
	const made = plan ?? makePlan(seed, style);
	try {
		const ending = await new World(made, { storage }).run();
		return { seed, style: made.shape.name, ending, error: null };
	} catch (error) {
		return { seed, style: made.shape.name, ending: null, error: (error as Error).stack ?? String(error) };
	}
}

process.on("message", (task: Task) => {
	void runTask(task).then((result) => process.send!(result));
});
