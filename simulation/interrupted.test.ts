import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../packages/testkit/src/until.ts";

test("an interrupted run leaves no process and no folder behind", { timeout: 60_000 }, async () => {
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
	// Its processes share its output: that ends with the last of them.
	const closed = once(program, "close");
	program.kill("SIGINT");
	expect(await closed).toEqual([130, null]);
	expect(readdirSync(folder)).toEqual([]);
});
