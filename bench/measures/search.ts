/**
 * What the index of order ids and customers costs: the service publishes and delivers events that have both, and events
 * of the same size that have the same values in fields that aren't indexed. Two services take turns, so each is idle
 * while the other works. Everything is indexed before each turn. A turn should take longer than the five seconds after
 * which indexing begins in the background.
 */
import { PostgresServer } from "@posthorn/testkit/postgres";
import type { Receiver } from "../load/receiver.ts";
import { type Stage, setStage } from "../load/stage.ts";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { SearchRun } from "../results.ts";
import type { ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import { work } from "./throughput.ts";

const SHAPE = { webhooks: 10, fanout: 1 };
/** Deliveries of the turns that warm a service up. */
const WARM_UP = 30_000;
const INDEXED = { order: "order_id", customer: "customer_email" };
/** Names of the same lengths. */
const NOT_INDEXED = { order: "order_no", customer: "customer_mails" };
/** The goal: at least this share of the rate without the index. */
export const SEARCH_LEAST_SHARE = 0.95;

export async function measureSearch(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	{
		engines,
		seconds,
		rounds,
	}: { readonly engines: readonly Engine[]; readonly seconds: number; readonly rounds: number },
	progress: Progress,
): Promise<SearchRun[]> {
	const runs: SearchRun[] = [];
	for (const engine of engines) {
		const postgres = engine === "postgres" ? await PostgresServer.start({ fsync: true }) : null;
		const stages: Stage[] = [];
		try {
			progress.start(`index of orders and customers on ${engine}: setting up`);
			for (const references of [INDEXED, NOT_INDEXED])
				stages.push({ ...(await setStage(workspace, receiver, { ...options, postgres }, SHAPE)), references });
			const [withIndex, without] = stages as [Stage, Stage];
			runs.push(await measureStages(engine, withIndex, without, seconds, rounds, progress));
		} finally {
			for (const { service } of stages) await service.stop();
			await postgres?.stop();
		}
	}
	return runs;
}

async function measureStages(
	engine: Engine,
	withIndex: Stage,
	without: Stage,
	seconds: number,
	rounds: number,
	progress: Progress,
): Promise<SearchRun> {
	const events = WARM_UP / SHAPE.webhooks;
	const turn = async (stage: Stage, count: number): Promise<Turn> => {
		await indexAll(stage);
		const { perSecond, cpuMicros, deliveries, missing, outOfOrder } = await work(stage, count, () => {});
		if (missing + outOfOrder > 0) throw new Error(`${missing} deliveries are missing, ${outOfOrder} out of order.`);
		return { perSecond, cpuMicros: (cpuMicros ?? Number.NaN) / deliveries };
	};
	// The first turn starts cold, so its rate is lower than the later ones.
	const warm = [await turn(withIndex, events), await turn(without, events)];
	const rate = Math.min(...warm.map(({ perSecond }) => perSecond));
	const each = Math.max(2, Math.ceil((rate * seconds) / SHAPE.webhooks));
	progress.start(`index of orders and customers on ${engine}`);
	const pairs: { readonly with: Turn; readonly without: Turn }[] = [];
	for (let n = 0; n < rounds; n++) {
		// Each begins every other round.
		const order = n % 2 === 0 ? [withIndex, without] : [without, withIndex];
		const turns = new Map<Stage, Turn>();
		for (const stage of order) turns.set(stage, await turn(stage, each));
		pairs.push({ with: turns.get(withIndex)!, without: turns.get(without)! });
		progress.update(n + 1, rounds);
	}
	await indexAll(withIndex);
	await mustFind(withIndex, 1);
	await mustFind(without, 0);
	const ratiosOf = (of: (turn: Turn) => number) =>
		pairs.map((pair) => Number((of(pair.with) / of(pair.without)).toFixed(3)));
	const ratios = ratiosOf(({ perSecond }) => perSecond);
	progress.finish(`${median(ratios).toFixed(2)} of the rate without it`);
	return {
		engine,
		events: each * SHAPE.webhooks,
		with_per_s: Math.round(median(pairs.map((pair) => pair.with.perSecond))),
		without_per_s: Math.round(median(pairs.map((pair) => pair.without.perSecond))),
		ratios,
		ratio: median(ratios),
		cpu_ratio: median(ratiosOf(({ cpuMicros }) => cpuMicros)),
		met: median(ratios) >= SEARCH_LEAST_SHARE,
	};
}

interface Turn {
	readonly perSecond: number;
	/** The service's CPU time per delivery. */
	readonly cpuMicros: number;
}

/** A search indexes a part of its project's log first. */
async function indexAll({ service: { api }, projectIds }: Stage): Promise<void> {
	for (const projectId of projectIds) while (!(await api.findOrder(projectId, "none")).complete);
}

async function mustFind({ service: { api }, projectIds, published }: Stage, count: number): Promise<void> {
	const { found } = await api.findOrder(projectIds[0]!, `ord_${published - 1}`);
	if (found !== count) throw new Error(`${found} events have the last order's id, not ${count}.`);
}
