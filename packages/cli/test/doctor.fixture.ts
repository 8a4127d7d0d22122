import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect } from "vitest";

export const COMMAND = fileURLToPath(new URL("../bin/posthorn.mjs", import.meta.url));

type State = "ok" | "warning" | "fault";
interface Line {
	readonly state: State;
	readonly text: string;
}
export interface Report {
	readonly code: number | null;
	/** By the name of the check. */
	readonly lines: Readonly<Record<string, Line>>;
	readonly err: string;
	/** Runs `posthorn serve` with the same settings, expecting it not to start. */
	readonly serve: () => Promise<{ code: number | null; out: string; err: string }>;
}

/** A service that starts anyway is killed after this time, milliseconds. */
const SERVES_MS = 50_000;

const STATES: Readonly<Record<string, State>> = { "✔": "ok", "!": "warning", "✘": "fault" };
const folders: string[] = [];
afterAll(() => {
	for (const folder of folders) rmSync(folder, { recursive: true });
});

export function newFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-doctor-"));
	folders.push(folder);
	return folder;
}

/** Runs a command as an operator would, with only these settings. */
export function run(
	args: readonly string[],
	env: Readonly<Record<string, string>>,
	cwd: string,
	timeout?: number,
): Promise<{ code: number | null; out: string; err: string }> {
	return new Promise((resolve) => {
		const { PATH, NODE_COMPILE_CACHE } = process.env;
		const clean = { PATH, NODE_COMPILE_CACHE, NO_COLOR: "1" };
		const child = spawn(process.execPath, args, { cwd, env: { ...clean, ...env }, timeout, killSignal: "SIGKILL" });
		let out = "";
		let err = "";
		child.stdout.on("data", (text) => (out += text));
		child.stderr.on("data", (text) => (err += text));
		child.on("close", (code) => resolve({ code, out, err }));
	});
}

/** Runs `posthorn doctor`, and parses its output: one line per check, starting with a mark and its name. */
export async function doctor(
	env: Readonly<Record<string, string>>,
	cwd = newFolder(),
	{ node = [], flags = [] }: { readonly node?: readonly string[]; readonly flags?: readonly string[] } = {},
): Promise<Report> {
	const { code, out, err } = await run([...node, COMMAND, "doctor", ...flags], env, cwd);
	const said = out.split("\n").slice(0, -1);
	const lines = said.map((line) => {
		const parts = /^(\S) (\S+(?: \S+)*) +(\S.*)$/.exec(line);
		if (!parts) throw new Error(`No mark, name and text: ${line}`);
		const [, mark, name, text] = parts;
		return [name!, { state: STATES[mark!]!, text: text! }] as const;
	});
	const serve = () => run([...node, COMMAND, "serve"], { POSTHORN_PORT: "0", ...env }, cwd, SERVES_MS);
	const report = { code, lines: Object.fromEntries(lines), err, serve };
	expect(Object.keys(report.lines)).toHaveLength(said.length);
	return report;
}

/** Checks that depend on the test machine, and are never more than a warning. */
const OF_THE_MACHINE: readonly string[] = ["Names", "Open files", "Address"];
/** By name. */
const faultsOf = ({ lines }: Report): string[] => Object.keys(lines).filter((name) => lines[name]!.state === "fault");
const warningsOf = ({ lines }: Report): string[] =>
	Object.keys(lines).filter((name) => !OF_THE_MACHINE.includes(name) && lines[name]!.state === "warning");

/** Nothing is wrong: exit code 0. */
export function expectHealthy(report: Report): void {
	expect(report).toMatchObject({ code: 0, err: "" });
	expect([...faultsOf(report), ...warningsOf(report)]).toEqual([]);
}

/**
 * This is the only fault, reported in one line that says what to do, with exit code 1. `serve` refuses with the same
 * line.
 */
export async function expectFault(report: Report, name: string, says: RegExp): Promise<void> {
	expect(report).toMatchObject({ code: 1, err: "" });
	expect(faultsOf(report)).toEqual([name]);
	expect(report.lines[name]!.text).toMatch(says);
	const line = `✘ ${name.padEnd(14)} ${report.lines[name]!.text}\n`;
	// A wrong key stays wrong: the exit code is that of a wrong configuration.
	expect(await report.serve()).toEqual({ code: name === "Seal key" ? 2 : 1, out: "", err: line });
}

/** This is a warning, but the service could run: exit code 0. */
export function expectWarning(report: Report, name: string, says: RegExp): void {
	expect(report).toMatchObject({ code: 0, err: "" });
	expect(warningsOf(report)).toEqual([name]);
	expect(report.lines[name]!.text).toMatch(says);
}
