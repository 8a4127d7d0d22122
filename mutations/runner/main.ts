// `npm run mutate`: deliberate faults, one at a time in a copy of the checkout, and whether the tests notice them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AREAS } from "../index.ts";
import { faultsOf } from "./apply.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import { copies, tryAll, tryWithout, withFolder } from "./run.ts";
import { isEnough, lineOf, reportOf, summaryOf } from "./verdict.ts";

const ROOT = dirname(dirname(import.meta.dirname));
const REPORT = join(ROOT, ".cache/mutations.md");

// What was begun is cleaned up when the process exits.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

process.exitCode = await main();

async function main(): Promise<number> {
	let options: Options;
	try {
		options = readOptions(process.argv.slice(2), AREAS);
	} catch (error) {
		console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
		return 1;
	}
	const { chosen, list } = options;
	if (list) {
		for (const { area, mutation } of chosen) console.log(`${area}  ${mutation.name}: ${mutation.why}`);
		return 0;
	}
	const all = Object.values(AREAS).flat();
	return report(faultsOf(ROOT, all)) ? 1 : withFolder((folder) => tryIn(folder, options));
}

async function tryIn(folder: string, { chosen }: Options): Promise<number> {
	const places = copies(ROOT, folder);
	console.log(`${chosen.length} mutations. First their tests, without any …`);
	if (report(await tryWithout(places[0]!, chosen))) return 1;
	let done = 0;
	const verdicts = await tryAll(places, chosen, (verdict) => {
		done += 1;
		console.log(lineOf(verdict, done, chosen.length));
	});
	mkdirSync(dirname(REPORT), { recursive: true });
	writeFileSync(REPORT, reportOf(verdicts));
	console.log(`Survivors, and which test caught the others: ${REPORT}`);
	console.log(summaryOf(verdicts));
	return isEnough(verdicts) ? 0 : 1;
}

/** @returns whether there were any */
function report(faults: readonly string[]): boolean {
	for (const fault of faults) console.error(fault);
	return faults.length > 0;
}
