/** `npm run simulate`: see options.ts for what it takes. */

import { HELP, OptionError, type Options, readOptions } from "./options.ts";
import { makePlan, type Plan, type Step } from "./plan.ts";
import { Progress } from "./progress.ts";
import { type Run, run } from "./run.ts";
import { shrink } from "./shrink.ts";
import { Trace, timeText } from "./trace.ts";
import { type Result, runTask } from "./worker.ts";
import { World } from "./world.ts";

/** Plans that shrinking tries at most. */
const MAX_TRIES = 400;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
	let options: Options;
	try {
		options = readOptions(args);
	} catch (error) {
		if (!(error instanceof OptionError)) throw error;
		process.stderr.write(`${error.message}\nSee npm run simulate -- --help.\n`);
		return 2;
	}
	if (options.help) {
		process.stdout.write(HELP);
		return 0;
	}
	if (options.trace) return traceOne(options, makePlan(options.seed!, options.style));
	return runMany(options);
}

async function runMany(options: Options): Promise<number> {
	const { hours, storage, seed, style, workers } = options;
	const progress = new Progress(seed === null ? hours : null);
	const result: Run = await run({
		...{ hours, storage, style },
		workers: seed === null ? workers : 1,
		firstSeed: seed ?? 1,
		single: seed !== null,
		onResult: (_, totals) => progress.show(totals),
	});
	progress.end(result.totals);
	if (result.failed === null) return 0;
	await explain(options, result.failed);
	return 1;
}

/** Says which promise was broken, shrinks the plan, and how to see it again. */
async function explain(options: Options, { seed, style, ending, error }: Result): Promise<void> {
	const replay = `npm run simulate -- --seed ${seed} --trace${options.style ? ` --style ${options.style}` : ""}${options.storage === "memory" ? "" : ` --storage ${options.storage}`}`;
	const out = (line: string): void => void process.stdout.write(`${line}\n`);
	out(`\nSeed ${seed} (${style}) failed.`);
	if (error !== null) {
		out(`The world itself threw:\n${error}\n\nSee it again:\n  ${replay}`);
		return;
	}
	const { promise, message, at, ...about } = ending!.breach!;
	out(`\n  Broken   ${promise}`);
	out(`  At       ${timeText(at).trim()}`);
	for (const [name, id] of Object.entries(about)) out(`  ${name.replace("Id", "").padEnd(8)} ${id}`);
	out(`  What     ${message}`);
	const plan = makePlan(seed, options.style);
	const judge = async (candidate: Plan): Promise<string | null> => {
		const { ending: again } = await runTask({ seed, storage: options.storage, style: options.style, plan: candidate });
		return again?.breach?.promise ?? null;
	};
	const isLive = process.stdout.isTTY === true;
	const small = await shrink(plan, promise, judge, MAX_TRIES, (tried, steps) => {
		if (isLive)
			process.stdout.write(`\r  Shrinking: ${tried} plans tried, ${steps} of ${plan.steps.length} steps left `);
	});
	if (isLive) process.stdout.write("\r\x1b[K");
	out(`\nThe fewest steps that still break it (${small.steps.length} of ${plan.steps.length}):`);
	for (const step of small.steps) out(`  ${timeText(step.at)}  ${stepText(step)}`);
	out(`\nSee it again:\n  ${replay}`);
}

async function traceOne(options: Options, plan: Plan): Promise<number> {
	const trace = new Trace((line) => process.stdout.write(`${line}\n`), process.stdout.isTTY === true);
	const world = new World(plan, { storage: options.storage, onHappening: (happening) => trace.tell(happening) });
	const { breach } = await world.run();
	if (breach) trace.broken(breach);
	return breach ? 1 : 0;
}

function stepText(step: Step): string {
	const { id, at, do: deed, ...rest } = step;
	return `${deed.padEnd(14)} ${JSON.stringify(rest)}`;
}
