import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { forwardingOf } from "./forwarding.ts";
import { measure } from "./measure.ts";
import { parseSource } from "./source.ts";
import { tableOf } from "./table.ts";
import { ENGINES, faultsOfWalk, readWalks, type Walk } from "./walks.ts";

const ROOT = resolve(fileURLToPath(new URL("../..", import.meta.url)));

/** A checkout with these files below the server's folder. */
function checkout(files: Readonly<Record<string, string>>): string {
	const root = mkdtempSync(join(tmpdir(), "posthorn-house-"));
	onTestFinished(() => rmSync(root, { recursive: true }));
	for (const [name, text] of Object.entries(files)) {
		const path = join(root, "packages/server/src", name);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, text);
	}
	return root;
}

const functionsIn = (text: string) => forwardingOf(parseSource("a.ts", text)).functions;

test("the listed walks lead through existing files, each named by an earlier one", () => {
	const walks = readWalks(ROOT)!;
	expect(walks.map(({ name }) => name)).toEqual(["route to INSERT", "log to request", "response to delivery log"]);
	expect(walks.flatMap((walk) => faultsOfWalk(ROOT, walk))).toEqual([]);
});

test("a walk is refused if a file is missing, lacks the function, or isn't named by an earlier file", () => {
	const root = checkout({ "a.ts": "export const first = 1;\n", "b.ts": "export function second() {}\n" });
	const walkOf = (...both: string[]): Walk => ({ name: "w", both, sqlite: [], postgres: [] });
	expect(faultsOfWalk(root, walkOf("a.ts#first", "c.ts#third"))).toEqual(["w: c.ts is missing"]);
	expect(faultsOfWalk(root, walkOf("a.ts#last"))).toEqual(["w: a.ts declares no last"]);
	expect(faultsOfWalk(root, walkOf("a.ts#first", "b.ts#second"))).toEqual(["w: no file before b.ts names second"]);
	expect(faultsOfWalk(root, walkOf("b.ts#second"))).toEqual([]);
});

test.each([
	"function f(a: number, b = 2) { return g(a, b); }",
	"class A { async f(id: string) { await this.write('f', id); } }",
	"class A { f(id: string) { return this.read((c) => f(c, id), 'engine'); } }",
	"const f = (...all: number[]) => g(...all);",
])("counts as forwarding: %s", (text) => {
	expect(functionsIn(text)).toBe(1);
});

test.each([
	"function f(a: number, b: number) { return g(b, a); }",
	"function f(a: number, b: number) { return g(a); }",
	"function f(a: number) { return g(a + 1); }",
	"function f(a: number) { h(); return g(a); }",
	"function f() { return g(); }",
	"all.map((a) => g(a));",
])("does not count as forwarding: %s", (text) => {
	expect(functionsIn(text)).toBe(0);
});

test("files and lines are counted by folder, without tests and their helpers", () => {
	const root = checkout({
		"main.ts": "one();\ntwo();\n",
		"api/route.ts": "one();\n",
		"api/route.test.ts": "one();\n",
		"api/api.fixture.ts": "one();\n",
		"storage/port.ts": "one();\n",
		"storage/sqlite/migrations/one.ts": "one();\n",
		"storage/sqlite/two.ts": `${"one();\n".repeat(30)}function f(a: number) {\n\treturn g(a);\n}\n`,
		"storage/sqlite/three.ts": "one();\n",
		"storage/conformance/suite.ts": "one();\n",
		"storage/memory/log.ts": "one();\n",
	});
	const house = measure(root, [
		{ name: "w", both: ["main.ts#f", "gone.ts#f"], sqlite: [], postgres: ["api/route.ts#f"] },
	]);
	expect(house.rooms).toEqual({
		".": { files: 1, lines: 2 },
		api: { files: 1, lines: 1 },
		storage: { files: 1, lines: 1 },
		"storage/sqlite": { files: 3, lines: 35 },
	});
	expect(house.total).toEqual({ files: 6, lines: 39 });
	expect(house.small).toBe(5);
	expect(house.largestFolder).toEqual({ folder: "storage/sqlite", files: 2 });
	expect(house.forwarding).toEqual({ functions: 1, lines: 3 });
	expect(house.walks).toEqual([{ name: "w", sqlite: 1, postgres: 2 }]);
	expect(house.faults).toContain("w: gone.ts is missing");
	expect(tableOf([{ name: "here", house }])).toMatch(/^storage\/sqlite +3 +35$/m);
});

test("this checkout is measured with as many stops as its walks have", () => {
	const { stops, walks } = measure(ROOT, []);
	for (const engine of ENGINES) {
		expect(stops[engine]).toBeGreaterThanOrEqual(Math.max(...walks.map((walk) => walk[engine])));
		expect(stops[engine]).toBeLessThanOrEqual(walks.reduce((sum, walk) => sum + walk[engine], 0));
	}
});
