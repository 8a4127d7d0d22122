import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Engine } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { Against, Results, ThroughputRun } from "./results.ts";
import { median } from "./side-by-side.ts";

const run = promisify(execFile);
const HERE = join(import.meta.dirname, "..");
const WEBHOOKS = 100;
/** The JSON of a run is some kilobytes. */
const MAX_OUTPUT_BYTES = 16 * 1_024 * 1_024;

/**
 * Throughput and CPU per delivery of this checkout over those of another one, with 100 webhooks and one event to each, in
 * turns: whichever went first goes second in the next round. Each side is measured by its own `bench/main.ts`.
 *
 * @param other the root of a checkout that is set up
 */
export async function measureAgainst(
	other: string,
	engines: readonly Engine[],
	rounds: number,
	seconds: number,
	progress: Progress,
): Promise<Against> {
	progress.start(`against ${other}`);
	const sides = { here: HERE, there: other };
	const runs: Record<keyof typeof sides, ThroughputRun[]> = { here: [], there: [] };
	for (let round = 0; round < rounds; round++) {
		const order = round % 2 === 0 ? (["here", "there"] as const) : (["there", "here"] as const);
		for (const [turn, side] of order.entries()) {
			runs[side].push(...(await throughput(sides[side], engines, seconds)));
			progress.update(2 * round + turn + 1, 2 * rounds);
		}
	}
	const compared = engines.map((engine) => {
		const [here, there] = [runs.here, runs.there].map((all) => all.filter((one) => one.engine === engine)) as [
			ThroughputRun[],
			ThroughputRun[],
		];
		const ratios = (value: (one: ThroughputRun) => number) =>
			here.map((one, i) => Number((value(one) / value(there[i]!)).toFixed(3)));
		const per_s = ratios((one) => one.per_s);
		const cpu_us = ratios((one) => one.cpu_us ?? Number.NaN);
		return { engine, per_s, cpu_us, per_s_median: median(per_s), cpu_us_median: median(cpu_us) };
	});
	progress.finish(compared.map((one) => `${one.engine} ${one.per_s_median.toFixed(2)}`).join(", "));
	return { rounds, engines: compared };
}

async function throughput(
	root: string,
	engines: readonly Engine[],
	seconds: number,
): Promise<readonly ThroughputRun[]> {
	const args = ["--webhooks", String(WEBHOOKS), "--fanout", "1", "--seconds", String(seconds), "--json"];
	if (engines.includes("postgres")) args.push("--database", "postgres");
	const { stdout } = await run(process.execPath, [join(root, "bench/main.ts"), ...args], {
		cwd: root,
		maxBuffer: MAX_OUTPUT_BYTES,
	});
	return (JSON.parse(stdout) as Results).runs ?? [];
}
