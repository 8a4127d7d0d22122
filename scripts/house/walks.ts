/**
 * The files that an event passes. Imports don't show them, because storage, the sender and the clock are injected. So
 * walks.json lists them, each with the function that handles the event or its outcome, and the list is checked where
 * possible.
 *
 * A walk has the functions that run for every event when nothing fails, and that hold the event, pass it on, or decide
 * whether and when it continues. It doesn't have those that only count, log or time it, nor constants and types.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isNode, type Node, nodesOf, readSource, type Source } from "./source.ts";

/** The folder to which walks' file names are relative. */
export const SERVER = "packages/server/src";
export const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

/** Stops are `file#function`. */
export interface Walk {
	readonly name: string;
	/** The stops before and after storage. */
	readonly both: readonly string[];
	readonly sqlite: readonly string[];
	readonly postgres: readonly string[];
}

const FILE = "scripts/house/walks.json";

/** The walks of a checkout; null if it lists none. */
export function readWalks(root: string): Walk[] | null {
	const path = join(root, FILE);
	return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Walk[]) : null;
}

/** The files of several walks, each once. */
export function filesOf(walks: readonly Walk[], engine: Engine): string[] {
	return [...new Set(walks.flatMap((walk) => [...walk.both, ...walk[engine]].map(fileOf)))];
}

/**
 * What is wrong with a walk: a file that is missing, one that doesn't declare its function, or one that can't be
 * reached because no earlier file names that function or the file itself (as a thread's program).
 */
export function faultsOfWalk(root: string, { name, both, ...own }: Walk): string[] {
	const faults = new Set<string>();
	for (const engine of ENGINES) {
		const named = new Set<string>();
		for (const [index, stop] of [...both, ...own[engine]].entries()) {
			const [file, fn] = [fileOf(stop), stop.split("#")[1]!];
			const path = join(root, SERVER, file);
			if (!existsSync(path)) {
				faults.add(`${name}: ${file} is missing`);
				continue;
			}
			const source = readSource(path);
			if (!declarationsOf(source).has(fn)) faults.add(`${name}: ${file} declares no ${fn}`);
			if (index > 0 && !named.has(fn) && !named.has(basename(file, ".ts")))
				faults.add(`${name}: no file before ${file} names ${fn}`);
			for (const word of wordsOf(source)) named.add(word);
		}
	}
	return [...faults];
}

const fileOf = (stop: string): string => stop.split("#")[0]!;

function declarationsOf({ program }: Source): Set<string> {
	const names = new Set<string>();
	for (const node of nodesOf(program)) {
		const name = isNode(node.id) ? node.id : DECLARED.has(node.type) && isNode(node.key) ? node.key : null;
		if (typeof name?.name === "string") names.add(name.name);
	}
	return names;
}

const DECLARED = new Set(["MethodDefinition", "PropertyDefinition", "Property", "TSAbstractMethodDefinition"]);

/** Identifiers and strings. */
function* wordsOf({ program }: Source): Generator<string> {
	for (const node of nodesOf(program)) {
		const word: unknown = (node as Node & { name?: unknown }).name ?? node.value;
		if (typeof word === "string") yield word;
	}
}
