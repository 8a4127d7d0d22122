import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
// @ts-expect-error: it is plain JavaScript, which has no types
import { ROOT } from "./setup.mjs";
// @ts-expect-error: it is plain JavaScript, which has no types
import { fromPlaywright, fromVitest } from "./test-reports.mjs";

// Within the checkout, so that the tests below can import their runner.
let folder: string;
beforeEach(() => {
	const cache = join(ROOT, ".cache");
	mkdirSync(cache, { recursive: true });
	folder = mkdtempSync(join(cache, "test-reports-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("failed tests of vitest are named, and files that can't be loaded", () => {
	write(
		"some.test.js",
		`import { describe, expect, test } from "vitest";
		test("adds", () => expect(1 + 1).toBe(2));
		test.skip("is skipped", () => {});
		describe("numbers", () => test("are equal", () => expect(1, "the first").toBe(2)));`,
	);
	write("broken.test.js", `throw new Error("no such thing");`);
	write("vitest.config.js", "export default {};");
	const { failures, ...counts } = fromVitest(
		run("vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${join(folder, "report.json")}`),
	);
	// The broken file has no test to count.
	expect(counts).toEqual({ passed: 1, failed: 1, skipped: 1 });
	expect(failures.sort()).toEqual([
		`${relative(ROOT, folder)}/broken.test.js: no such thing`,
		`${relative(ROOT, folder)}/some.test.js › numbers › are equal: AssertionError: the first: expected 1 to be 2 // Object.is equality`,
	]);
});

test("failed tests of Playwright are named, and files that can't be loaded", () => {
	write(
		"some.spec.js",
		`import { expect, test } from "@playwright/test";
		test("adds", () => expect(1 + 1).toBe(2));
		test.skip("is skipped", () => {});
		test.describe("numbers", () => test("are equal", () => expect(1).toBe(2)));`,
	);
	write("playwright.config.js", `export default { testDir: ".", respectGitIgnore: false };`);
	const here = () => fromPlaywright(run("@playwright/test/cli.js", "test", "--reporter=json"));
	const { failures, ...counts } = here();
	expect(counts).toEqual({ passed: 1, failed: 1, skipped: 1 });
	expect(failures).toEqual([
		"some.spec.js › numbers › are equal: Error: expect(received).toBe(expected) // Object.is equality",
	]);

	write("broken.spec.js", `throw new Error("no such thing");`);
	expect(here().failures).toContain("playwright: Error: no such thing");
});

function write(name: string, text: string) {
	writeFileSync(join(folder, name), text);
}

function run(program: string, ...args: string[]) {
	const report = join(folder, "report.json");
	rmSync(report, { force: true });
	const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, "node_modules", program), ...args], {
		cwd: folder,
		encoding: "utf8",
		env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: report, VITEST: undefined, FORCE_COLOR: "0" },
	});
	try {
		return JSON.parse(readFileSync(report, "utf8"));
	} catch (cause) {
		throw new Error(`No report: ${stdout}${stderr}`, { cause });
	}
}
