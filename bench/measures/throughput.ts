import type { Limit } from "../limit.ts";
import type { Receiver } from "../load/receiver.ts";
import { publishNext, received, type Stage, setStage } from "../load/stage.ts";
import type { Progress } from "../progress.ts";
import type { ThroughputRun } from "../results.ts";
import type { ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";

/**
 * Warm-up deliveries per measured second: the service is meant to run for months, and in its first five seconds or so a
 * quarter of a core goes into compiling its code. Short runs are for trying things out, and start cold.
 */
export const WARM_UP_PER_S = 8_000;
const MAX_DELIVERIES = 500_000;
/** The warm-up starts cold, so its rate is lower than the later ones. */
const WARMING = 1.2;
/** The limit is read right before and after each round. */
const ROUNDS = 5;
/** After this time, settling, counting and writes after a delivery have finished, and the limit can be measured. */
export const REST_MS = 300;

/**
 * Deliveries per second on the whole path: events are published over the API in batches while the service delivers them
 * to `webhooks` webhooks, each event to `fanout` of them; in rounds, each with its own limit. The work is sized to take
 * about `seconds` in total.
 */
export async function measureThroughput(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	shape: { readonly webhooks: number; readonly fanout: number },
	seconds: number,
	limit: Limit,
	progress: Progress,
): Promise<ThroughputRun> {
	const { webhooks, fanout } = shape;
	const what = `${options.postgres ? "PostgreSQL" : "SQLite"}, webhooks ${webhooks}, one event to ${fanout}`;
	progress.start(`${what}: setting up`);
	const stage = await setStage(workspace, receiver, options, shape);
	try {
		progress.start(what);
		const warm = await work(stage, Math.ceil((WARM_UP_PER_S * seconds) / webhooks), () => {});
		const events = Math.min(MAX_DELIVERIES, warm.perSecond * WARMING * seconds) / webhooks / ROUNDS;
		const rounds: (WorkReading & { readonly ratio: number })[] = [];
		let before = await readLimit(limit);
		for (let n = 0; n < ROUNDS; n++) {
			const reading = await work(stage, Math.max(2, Math.ceil(events)), (done, all) =>
				progress.update(n * all + done, ROUNDS * all),
			);
			const after = await readLimit(limit);
			rounds.push({ ...reading, ratio: reading.perSecond / ((before + after) / 2) });
			before = after;
		}
		const sum = (of: (reading: WorkReading) => number) => rounds.reduce((total, round) => total + of(round), 0);
		const deliveries = sum((round) => round.deliveries);
		const perSecond = median(rounds.map((round) => round.perSecond));
		const ratio = median(rounds.map((round) => round.ratio));
		progress.finish(`${Math.round(perSecond)}/s, ${ratio.toFixed(2)} of the limit, over ${deliveries} deliveries`);
		const cpuMicros = sum(({ cpuMicros }) => cpuMicros ?? Number.NaN) / Math.max(1, deliveries);
		return {
			engine: options.postgres ? "postgres" : "sqlite",
			webhooks,
			fanout,
			deliveries,
			per_s: Math.round(perSecond),
			ratio: Number(ratio.toFixed(3)),
			cpu_us: Number.isNaN(cpuMicros) ? null : Number(cpuMicros.toFixed(1)),
			out_of_order: warm.outOfOrder + sum((round) => round.outOfOrder),
			missing: warm.missing + sum((round) => round.missing),
		};
	} finally {
		await stage.service.stop();
	}
}

async function readLimit(limit: Limit): Promise<number> {
	await new Promise((resolve) => setTimeout(resolve, REST_MS));
	return await limit.read();
}

export interface WorkReading {
	readonly deliveries: number;
	readonly perSecond: number;
	/** CPU time of the service process. Null if the system doesn't report it. */
	readonly cpuMicros: number | null;
	readonly outOfOrder: number;
	readonly missing: number;
}

/** Publishes events to each project, and waits until they are delivered. */
export async function work(
	stage: Stage,
	eventsPerProject: number,
	onCount: (done: number, all: number) => void,
): Promise<WorkReading> {
	const expected = eventsPerProject * stage.webhooks.length;
	await stage.receiver.reset();
	const cpuBefore = stage.service.cpuMicros();
	await Promise.all([
		received(stage, expected, (count) => onCount(count, expected)),
		publishNext(stage, eventsPerProject),
	]);
	const cpuAfter = stage.service.cpuMicros();
	const { distinct, out_of_order, first_at, last_at } = await stage.receiver.stats();
	return {
		deliveries: distinct,
		perSecond: last_at > first_at ? ((distinct - 1) * 1_000) / (last_at - first_at) : 0,
		cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
		outOfOrder: out_of_order,
		missing: expected - distinct,
	};
}
