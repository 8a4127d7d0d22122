import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import type { Mutation } from "../mutation.ts";

/** What mutations name their files below. */
export const PACKAGES = "packages";

/** The file with the fault. Throws if the mutation doesn't apply to it. */
export function mutate(root: string, { file, find, replace }: Mutation): string {
	const text = readFileSync(join(root, PACKAGES, file), "utf8");
	const count = text.split(find).length - 1;
	if (count !== 1) throw new Error(`${JSON.stringify(find)} occurs ${count} times in ${file}, not once`);
	if (find === replace) throw new Error("it replaces text with the same text");
	return text.replace(find, () => replace);
}

/** Why these mutations can't be run as they are, one line each; none if they can. */
export function faultsOf(root: string, mutations: readonly Mutation[]): string[] {
	const faults: string[] = [];
	const names = new Set<string>();
	for (const mutation of mutations) {
		const { name, tests } = mutation;
		if (names.has(name)) faults.push(`${name}: another mutation has this name`);
		names.add(name);
		for (const test of tests)
			if (!existsSync(join(root, PACKAGES, test))) faults.push(`${name}: there is no test file ${test}`);
		if (tests.length === 0) faults.push(`${name}: it names no test`);
		try {
			stripTypeScriptTypes(mutate(root, mutation));
		} catch (error) {
			faults.push(`${name}: ${error instanceof Error ? error.message : error}`);
		}
	}
	return faults;
}
