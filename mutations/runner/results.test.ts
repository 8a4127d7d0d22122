import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Results } from "./results.ts";
import type { Verdict } from "./verdict.ts";

function verdictOn(name: string, isCaught: boolean): Verdict {
	const mutation = { name, file: "a.ts", find: "a", replace: "b", tests: ["a.test.ts"], why: "It breaks." };
	const run = { result: isCaught ? "failed" : "passed", ran: ["a"], failed: null, output: "", ms: 1 } as const;
	return { area: "lanes", mutation, run, isCaught };
}

function emptyPath(): string {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-results-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	return join(folder, "kept/results.json");
}

test("partial runs at one commit add up, and a later verdict replaces an earlier one", () => {
	const path = emptyPath();
	const all = ["one", "two", "three"].map((name) => verdictOn(name, true));
	new Results(path, "c1").add(all[0]!);
	const piece = new Results(path, "c1");
	piece.add(verdictOn("two", false));
	piece.add(all[1]!);
	const results = new Results(path, "c1");
	expect(results.on(all)).toEqual(all.slice(0, 2));
	expect(all.map((one) => results.has(one))).toEqual([true, true, false]);
});

test("verdicts on other commits or uncommitted changes don't count", () => {
	const path = emptyPath();
	const all = [verdictOn("one", true)];
	for (const commit of ["c1", null]) new Results(path, commit).add(all[0]!);
	expect(new Results(path, "c2").on(all)).toEqual([]);
	expect(new Results(path, null).on(all)).toEqual([]);
	expect(new Results(path, "c1").on(all)).toEqual(all);
});
