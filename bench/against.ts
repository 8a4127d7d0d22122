import { join } from "node:path";
import { PostgresServer } from "@posthorn/testkit/postgres";
import type { Receiver } from "./load/receiver.ts";
import { type Stage, setStage } from "./load/stage.ts";
import { WARM_UP_PER_S, type WorkReading, work } from "./measures/throughput.ts";
import type { Engine } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { Against, AgainstRun } from "./results.ts";
import type { ServiceOptions } from "./service.ts";
import { median } from "./side-by-side.ts";
import type { Workspace } from "./workspace.ts";

const SHAPE = { webhooks: 100, fanout: 1 };
/** One side's turn takes about this share of `seconds`. */
const TURN_SHARE = 0.3;
/** Turns of each side before those that count: until then V8 still compiles hot code. */
const WARM_UP_TURNS = 3;
/** Turns of each side that count, in each round. */
const TURNS = 5;

type Side = "here" | "there";

/**
 * Throughput and CPU per delivery of this checkout over those of another one, with 100 webhooks and one event to each.
 * In each round both services are restarted, since two processes of the same code differ by several percent from start to
 * end. Both run at once and take turns at the same work, seconds apart, so that a machine that slows down slows both.
 * Which one starts first, and which one takes the first turn, alternates.
 *
 * @param other the root of a checkout that is set up
 * @throws if a delivery is missing or out of order
 */
export async function measureAgainst(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	{ other, engines, rounds, seconds }: { other: string; engines: readonly Engine[]; rounds: number; seconds: number },
	progress: Progress,
): Promise<Against> {
	const programs = { here: undefined, there: join(other, "packages/cli/bin/posthorn.mjs") };
	const compared: AgainstRun[] = [];
	for (const engine of engines) {
		const postgres = engine === "postgres" ? await PostgresServer.start({ fsync: true }) : null;
		const start = (side: Side): Promise<Stage> => {
			const program = programs[side];
			return setStage(workspace, receiver, { ...options, postgres, ...(program && { program }) }, SHAPE);
		};
		progress.start(`against ${other}, ${engine}`);
		const per_s: number[] = [];
		const cpu_us: number[] = [];
		try {
			for (let round = 0; round < rounds; round++) {
				const ratios = await measureRound(start, round % 2 === 0 ? ["here", "there"] : ["there", "here"], seconds);
				per_s.push(ratios.per_s);
				cpu_us.push(ratios.cpu_us);
				progress.update(round + 1, rounds);
			}
		} finally {
			await postgres?.stop();
		}
		const [per_s_median, cpu_us_median] = [median(per_s), median(cpu_us)];
		progress.finish(`${per_s_median.toFixed(2)} of the rate, ${cpu_us_median.toFixed(2)} times the CPU`);
		compared.push({ engine, per_s, cpu_us, per_s_median, cpu_us_median });
	}
	return { rounds, engines: compared };
}

/** Starts both services, and compares the medians of their turns. */
async function measureRound(
	start: (side: Side) => Promise<Stage>,
	order: readonly [Side, Side],
	seconds: number,
): Promise<{ readonly per_s: number; readonly cpu_us: number }> {
	const stages = new Map<Side, Stage>();
	try {
		for (const side of order) stages.set(side, await start(side));
		const events = await warmUp([...stages.values()], seconds);
		const readings = { here: [] as WorkReading[], there: [] as WorkReading[] };
		for (let turn = 0; turn < TURNS; turn++)
			for (const side of turn % 2 === 0 ? order : order.toReversed())
				readings[side].push(await measureTurn(side, stages.get(side)!, events));
		const ratio = (of: (reading: WorkReading) => number): number =>
			Number((median(readings.here.map(of)) / median(readings.there.map(of))).toFixed(3));
		return {
			per_s: ratio(({ perSecond }) => perSecond),
			cpu_us: ratio(({ cpuMicros, deliveries }) => (cpuMicros ?? Number.NaN) / deliveries),
		};
	} finally {
		for (const { service } of stages.values()) await service.stop();
	}
}

/** @returns events for each project that a turn takes */
async function warmUp(stages: readonly Stage[], seconds: number): Promise<number> {
	let perSecond = 0;
	for (const stage of stages) {
		const warm = await work(stage, Math.ceil((WARM_UP_PER_S * seconds) / SHAPE.webhooks), () => {});
		perSecond = Math.max(perSecond, warm.perSecond);
	}
	const events = Math.max(2, Math.ceil((perSecond * seconds * TURN_SHARE) / SHAPE.webhooks));
	for (let turn = 0; turn < WARM_UP_TURNS; turn++) for (const stage of stages) await work(stage, events, () => {});
	return events;
}

async function measureTurn(side: Side, stage: Stage, events: number): Promise<WorkReading> {
	const reading = await work(stage, events, () => {});
	if (reading.missing > 0 || reading.outOfOrder > 0)
		throw new Error(`${side}: ${reading.missing} deliveries missing, ${reading.outOfOrder} out of order.`);
	return reading;
}
