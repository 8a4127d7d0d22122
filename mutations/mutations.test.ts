import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { BITES } from "../simulation/bites/index.ts";
import { AREAS } from "./index.ts";
import { faultsOf } from "./runner/apply.ts";

const ROOT = dirname(import.meta.dirname);

test("every mutation applies to its file, parses, and names existing tests", () => {
	expect(faultsOf(ROOT, Object.values(AREAS).flat())).toEqual([]);
});

/** The text of a test file, with what it and its suites import. */
function suiteText(path: string, known = new Set<string>()): string {
	if (known.has(path) || !existsSync(path)) return "";
	known.add(path);
	const text = readFileSync(path, "utf8");
	if (!path.includes("test")) return text;
	const imports = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, file]) => join(dirname(path), file!));
	return [text, ...imports.map((file) => suiteText(file, known))].join("\n");
}

test("every test name that limits a mutation occurs in the mutation's tests", () => {
	const gone = Object.values(AREAS)
		.flat()
		.flatMap(({ name, only, tests }) => {
			const text = only === undefined ? "" : tests.map((file) => suiteText(join(ROOT, "packages", file))).join("\n");
			return (only?.split("|") ?? []).filter((part) => !new RegExp(part).test(text)).map((part) => [name, part]);
		});
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
