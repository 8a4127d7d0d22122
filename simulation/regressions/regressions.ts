/** Worlds in which a promise was once broken: as plans, since what a seed becomes changes with every new kind of step. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "../plan.ts";
import type { Fault } from "../runner/fault.ts";

export interface Regression {
	/** What broke. */
	readonly name: string;
	readonly plan: Plan;
	/** Undoes the fix: the world breaks a promise with it. */
	readonly fault?: Fault;
}

/** Each is a file of JSON here. */
export const REGRESSIONS: readonly Regression[] = readdirSync(import.meta.dirname)
	.filter((file) => file.endsWith(".json"))
	.sort()
	.map((file) => JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")) as Regression);
