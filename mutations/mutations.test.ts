import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { BITES } from "../simulation/bites/index.ts";
import { AREAS } from "./index.ts";
import { faultsOf } from "./runner/apply.ts";

const ROOT = dirname(import.meta.dirname);

test("every mutation applies to its file, parses, and names existing tests", () => {
	expect(faultsOf(ROOT, Object.values(AREAS).flat())).toEqual([]);
});

test("every test name that limits a mutation occurs in the tests", () => {
	const files = globSync("packages/*/{src,test}/**/*.ts", { cwd: ROOT });
	const text = files.map((file) => readFileSync(join(ROOT, file), "utf8")).join("\n");
	const gone = Object.values(AREAS)
		.flat()
		.flatMap(({ name, only }) => (only?.split("|") ?? []).map((part) => [name, part] as const))
		.filter(([, part]) => !new RegExp(part).test(text));
	expect(gone).toEqual([]);
});

test("the faults that reviews found are kept: the README names existing bites and mutations, with all from reviews", () => {
	const readme = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
	const cells = [...readme.matchAll(/^\| [^|]+ \|([^|]*)\|([^|]*)\|$/gm)].slice(1);
	const namesIn = (column: 1 | 2): string[] =>
		cells.flatMap((cell) => cell[column]!.split(",").map((name) => name.trim())).filter((name) => name !== "");
	const bites = new Set(BITES.map(({ name }) => name));
	expect(namesIn(1).filter((name) => !bites.has(name))).toEqual([]);
	const mutations = Object.values(AREAS).flat();
	const named = namesIn(2);
	expect(named.filter((name) => !mutations.some((mutation) => mutation.name === name))).toEqual([]);
	expect(mutations.filter(({ name, review }) => review && !named.includes(name)).map(({ name }) => name)).toEqual([]);
});
