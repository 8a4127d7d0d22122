import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { OptionError, readOptions } from "./options.ts";
import type { Results } from "./results.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const run = promisify(execFile);

test("a short run prints one JSON object with all deliveries, in order", async () => {
	const args = ["--quick", "--seconds", "0.2", "--webhooks", "1", "--fanout", "1", "--json"];
	const { stdout } = await run(process.execPath, [MAIN, ...args]);
	const results = JSON.parse(stdout) as Results;
	expect(results.limit_per_s).toBeGreaterThan(0);
	expect(results.runs).toHaveLength(1);
	expect(results.runs![0]).toMatchObject({ engine: "sqlite", webhooks: 1, fanout: 1, out_of_order: 0, missing: 0 });
	expect(results.runs![0]!.deliveries).toBeGreaterThan(0);
	expect(results.runs![0]!.per_s).toBeGreaterThan(0);
	expect(results.runs![0]!.ratio).toBeGreaterThan(0);
	expect(results.latency_ms!.p50).toBeGreaterThan(0);
	expect(results.latency_ms!.p99).toBeGreaterThanOrEqual(results.latency_ms!.p50);
	expect(results.machine.cpus).toBeGreaterThan(0);
});

test("measures a quiet project next to a hostile neighbor", async () => {
	const { stdout } = await run(process.execPath, [MAIN, "--neighbour", "stalls uploads", "--seconds", "0.4", "--json"]);
	const { neighbours, runs } = JSON.parse(stdout) as Results;
	expect(runs).toBeUndefined();
	expect(neighbours).toHaveLength(1);
	const [{ neighbour, alone, beside, refusals }] = neighbours as [NonNullable<Results["neighbours"]>[number]];
	expect(neighbour).toBe("stalls uploads");
	expect(alone.p50).toBeGreaterThan(0);
	expect(beside.p99).toBeGreaterThanOrEqual(beside.p50);
	expect([beside.missing, beside.refused, refusals]).toEqual([0, 0, []]);
});

test("exits with 2 and explains after a wrong option", async () => {
	const failure = run(process.execPath, [MAIN, "--database", "oracle"]);
	await expect(failure).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining("give sqlite or postgres") });
});

// All but the first of several numbers were ignored, without a neighbor of the name nothing was measured, and without a
// checkout the run failed a minute later.
test.each([
	["--rounds", "3,5"],
	["--events", "1,2"],
	["--neighbour", "nobody"],
	["--against", "/nowhere"],
])("refuses %s %s", (name, value) => {
	expect(() => readOptions([name, value])).toThrow(OptionError);
});
