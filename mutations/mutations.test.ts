import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
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
