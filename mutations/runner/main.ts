// `npm run mutate`: inserts deliberate faults, one at a time, into a copy of the checkout, and checks whether the tests
// notice them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onInterrupt } from "@posthorn/testkit/interrupt";
import { AREAS } from "../index.ts";
import { faultsOf } from "./apply.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { commitOf, Results } from "./results.ts";
import { copies, tryAll, tryWithout, withFolder } from "./run.ts";
import { isEnough, lineOf, reportOf, summaryOf, survivorsOf } from "./verdict.ts";

const ROOT = dirname(dirname(import.meta.dirname));
const REPORT = join(ROOT, ".cache/mutations.md");
const RESULTS = join(ROOT, ".cache/mutations.json");

// Runs in progress are cleaned up when the process exits.
onInterrupt((exitCode) => process.exit(exitCode));

process.exitCode = await main();

async function main(): Promise<number> {
	let options: Options;
	try {
		options = readOptions(process.argv.slice(2), AREAS);
	} catch (error) {
		console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
		return 2;
	}
	if (options.help) {
		console.log(USAGE);
		return 0;
	}
	if (options.list) {
		for (const { area, mutation } of options.chosen) console.log(`${area}  ${mutation.name}: ${mutation.why}`);
		return 0;
	}
	const mutations = options.all.map(({ mutation }) => mutation);
	return report(faultsOf(ROOT, mutations)) ? 1 : withFolder((folder) => tryIn(folder, options));
}

async function tryIn(folder: string, { all, chosen, rest, atOnce }: Options): Promise<number> {
	const commit = commitOf(ROOT);
	const results = new Results(RESULTS, commit);
	const left = rest ? chosen.filter((one) => !results.has(one)) : chosen;
	if (left.length > 0) {
		const places = copies(ROOT, folder, atOnce);
		console.log(`${left.length} mutations. First, their tests without mutations …`);
		if (report(await tryWithout(places, left))) return 1;
		let done = 0;
		await tryAll(places, left, (verdict) => {
			done += 1;
			results.add(verdict);
			console.log(lineOf(verdict, done, left.length));
		});
	}
	const [verdicts, known] = [results.on(chosen), results.on(all)];
	mkdirSync(dirname(REPORT), { recursive: true });
	writeFileSync(REPORT, reportOf(known, all.length, commit));
	for (const line of survivorsOf(verdicts)) console.log(line);
	console.log(`Survivors, and the tests that caught the others: ${REPORT}`);
	if (known.length > verdicts.length) console.log(`At this commit, in all runs: ${summaryOf(known, all.length)}`);
	console.log(summaryOf(verdicts, chosen.length));
	return isEnough(verdicts) ? 0 : 1;
}

/** @returns whether there were any */
function report(faults: readonly string[]): boolean {
	for (const fault of faults) console.error(fault);
	return faults.length > 0;
}
