import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const MODULE = JSON.stringify(new URL("warnings.ts", import.meta.url).href);
const PROGRAM = `
	const { reportWarnings } = await import(${MODULE});
	reportWarnings(({ name, code, message }) => console.log(name, code, message));
	process.emitWarning("old", "DeprecationWarning", "DEP9999");
	process.emitWarning("new", "ExperimentalWarning");
`;

/** What a program that emits two warnings reports of them, and what Node prints. */
async function warningsWith(options: readonly string[], env: NodeJS.ProcessEnv = {}) {
	const { NODE_OPTIONS: _, ...own } = process.env;
	const args = [...options, "--input-type=module", "--eval", PROGRAM];
	const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: { ...own, ...env } });
	return { reported: stdout.trim().split("\n"), printed: stderr };
}

const [OLD, NEW] = ["DeprecationWarning DEP9999 old", "ExperimentalWarning undefined new"];

// Warnings that Node was told not to print were logged.
test("reports warnings, except those that Node was told not to print", async () => {
	expect(await warningsWith([])).toEqual({ reported: [OLD, NEW], printed: "" });
	expect(await warningsWith(["--disable-warning=ExperimentalWarning"])).toEqual({ reported: [OLD], printed: "" });
	expect(await warningsWith(["--disable-warning", "DEP9999"])).toEqual({ reported: [NEW], printed: "" });
	const env = { NODE_OPTIONS: "--disable-warning=DEP9999 --disable-warning=ExperimentalWarning" };
	expect(await warningsWith([], env)).toEqual({ reported: [""], printed: "" });
	expect(await warningsWith(["--no-warnings"])).toEqual({ reported: [""], printed: "" });
});

// Neither did the file get them, nor the log their stacks.
test("leaves warnings to Node where it writes them to a file, or with stacks", async () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-warnings-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const file = join(folder, "warnings");
	expect(await warningsWith([`--redirect-warnings=${file}`])).toEqual({ reported: [""], printed: "" });
	expect(readFileSync(file, "utf8")).toMatch(/DEP9999.*old[\s\S]*new/);
	expect((await warningsWith([], { NODE_REDIRECT_WARNINGS: file })).reported).toEqual([""]);
	expect((await warningsWith(["--trace-warnings"])).printed).toMatch(/new\n +at /);
});
