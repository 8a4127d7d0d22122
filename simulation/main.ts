/** `npm run simulate`: see options.ts for what it takes. */

import { onInterrupt } from "@posthorn/testkit/interrupt";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { CLEAR_LINE, redrawn } from "@posthorn/testkit/terminal";
import { BITES } from "./bites/index.ts";
import type { Plan, Step } from "./plan.ts";
import { bite, bittenLine } from "./runner/bite.ts";
import { HELP, OptionError, type Options, readOptions, replayCommand } from "./runner/options.ts";
import { Progress } from "./runner/progress.ts";
import { type Run, run, Worker } from "./runner/run.ts";
import { shrink } from "./runner/shrink.ts";
import { planOf, type Result, runTask } from "./runner/task.ts";
import { Trace, timeText } from "./trace.ts";
import { World } from "./world.ts";

/** Plans that shrinking tries at most. */
const MAX_TRIES = 400;

/** Every database of the run is on it. */
let server: PostgresServer | null = null;

onInterrupt((exitCode) => void end().finally(() => process.exit(exitCode)));

try {
	process.exitCode = await main(process.argv.slice(2));
} finally {
	await end();
}

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
	if (options.storage === "postgres") server = await PostgresServer.start();
	if (options.bite) return biteAll(options);
	return options.trace ? traceOne(options) : runMany(options);
}

/** Leaves no process and no folder behind. */
async function end(): Promise<void> {
	await Worker.endAll();
	await server?.stop();
	server = null;
}

async function runMany(options: Options): Promise<number> {
	const { hours, storage, seed, from, style, nodes, workers } = options;
	const progress = new Progress(seed === null ? hours : null);
	const result: Run = await run({
		...{ hours, storage, style, nodes, postgresUrl: server?.url },
		workers: seed === null ? workers : 1,
		firstSeed: seed ?? from,
		single: seed !== null,
		onResult: (_, totals) => progress.show(totals),
	});
	progress.end(result.totals);
	if (result.failed === null) return 0;
	await explain(options, result.failed);
	return 1;
}

async function biteAll({ workers }: Options): Promise<number> {
	const all = await bite(BITES, workers, (bitten) => process.stdout.write(`${bittenLine(bitten)}\n`));
	const caught = all.filter(({ promise }) => promise !== null).length;
	process.stdout.write(`caught ${caught} of ${all.length}\n`);
	return caught === all.length ? 0 : 1;
}

/** Says which promise was broken, shrinks the plan, and how to see it again. */
async function explain(options: Options, { seed, style, ending, error }: Result): Promise<void> {
	const replay = replayCommand(seed, options);
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
	const task = { ...options, seed, postgresUrl: server?.url };
	const plan = planOf(task);
	const judge = async (candidate: Plan): Promise<string | null> => {
		const { ending: again } = await runTask({ ...task, plan: candidate });
		return again?.breach?.promise ?? null;
	};
	out(`\nSee it again:\n  ${replay}\n\nLooking for the fewest steps that still break it (Ctrl-C ends this) …`);
	const isLive = process.stdout.isTTY === true;
	const small = await shrink(plan, promise, judge, MAX_TRIES, (tried, steps) => {
		if (isLive)
			process.stdout.write(redrawn(`  Shrinking: ${tried} plans tried, ${steps} of ${plan.steps.length} steps left `));
	});
	if (isLive) process.stdout.write(CLEAR_LINE);
	out(`${small.steps.length} of ${plan.steps.length} steps are enough:`);
	for (const step of small.steps) out(`  ${timeText(step.at)}  ${stepText(step)}`);
}

async function traceOne(options: Options): Promise<number> {
	const plan = planOf({ ...options, seed: options.seed! });
	const trace = new Trace((line) => process.stdout.write(`${line}\n`), process.stdout.isTTY === true);
	const world = new World(plan, {
		...{ storage: options.storage, postgresUrl: server?.url },
		onHappening: (happening) => trace.tell(happening),
	});
	const { breach } = await world.run();
	if (breach) trace.broken(breach);
	return breach ? 1 : 0;
}

function stepText(step: Step): string {
	const { id, at, do: deed, ...rest } = step;
	return `${deed.padEnd(14)} ${JSON.stringify(rest)}`;
}
