import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../packages/testkit/src/until.ts";

/** Starts a run and waits until each of two processes has begun a world. All its files are in `folder`. */
async function begin(): Promise<{ program: ChildProcess; folder: string }> {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-interrupted-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const args = ["--storage", "sqlite", "--hours", "1000000", "--workers", "2"];
	const program = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], {
		env: { ...process.env, TMPDIR: folder, TEMP: folder },
		stdio: ["ignore", "pipe", "inherit"],
	});
	program.stdout.resume();
	const begun = () => readdirSync(folder).filter((worker) => readdirSync(join(folder, worker)).length > 0);
	await until("worlds to begin", async () => begun().length === 2);
	return { program, folder };
}

// The folders stayed when the run was killed.
test.for([
	["SIGINT", [130, null]],
	["SIGKILL", [null, "SIGKILL"]],
] as const)("a run that gets %s leaves no process and no folder behind", async ([signal, ending]) => {
	const { program, folder } = await begin();
	// Its processes share its output: that ends with the last of them.
	const closed = once(program, "close");
	program.kill(signal);
	expect(await closed).toEqual(ending);
	expect(readdirSync(folder)).toEqual([]);
});

// npm sends a copy of the terminal's signal, which ended the run before it had cleaned up.
test.skipIf(process.platform !== "linux")("a second signal doesn't interrupt the cleanup", async () => {
	const { program, folder } = await begin();
	const closed = once(program, "close");
	const [slow] = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, "utf8").match(/\d+/g)!.map(Number);
	process.kill(slow!, "SIGSTOP");
	program.kill("SIGINT");
	await until("the other process to end", async () => readdirSync(folder).length === 1);
	program.kill("SIGINT");
	process.kill(slow!, "SIGCONT");
	expect(await closed).toEqual([130, null]);
	expect(readdirSync(folder)).toEqual([]);
});
