import { join } from "node:path";
import { PostgresServer } from "@posthorn/testkit/postgres";
import type { Engine } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { Receiver } from "./receiver.ts";
import type { Against, AgainstRun } from "./results.ts";
import type { ServiceOptions } from "./service.ts";
import { median } from "./side-by-side.ts";
import { type Stage, setStage } from "./stage.ts";
import { WARM_UP_PER_S, type WorkReading, work } from "./throughput.ts";
import type { Workspace } from "./workspace.ts";

const SHAPE = { webhooks: 100, fanout: 1 };
/** A round of one side takes about this part of `seconds`. */
const ROUND_SHARE = 0.4;
/** Rounds before the first that counts: until then V8 still compiles what is hot, on cores that the measured need. */
const WARM_UP_ROUNDS = 3;
const SIDES = ["here", "there"] as const;

/**
 * Throughput and CPU per delivery of this checkout over those of another one, with 100 webhooks and one event to each.
 * Both services run; they take turns at the same work, seconds apart, so that a machine that slows down slows both. Which
 * one goes first alternates.
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
	const compared: AgainstRun[] = [];
	for (const engine of engines) {
		const postgres = engine === "postgres" ? await PostgresServer.start({ fsync: true }) : null;
		progress.start(`against ${other}, ${engine}: warming up`);
		const stages: Stage[] = [];
		try {
			for (const root of [null, other]) {
				const program = root === null ? null : join(root, "packages/cli/bin/posthorn.mjs");
				stages.push(await setStage(workspace, receiver, { ...options, postgres, ...(program && { program }) }, SHAPE));
			}
			const events = await warmUp(stages, seconds);
			progress.start(`against ${other}, ${engine}`);
			compared.push({ engine, ...(await takeTurns(stages, events, rounds, progress)) });
		} finally {
			for (const { service } of stages) await service.stop();
			await postgres?.stop();
		}
	}
	return { rounds, engines: compared };
}

/** @returns events for each project that a round takes */
async function warmUp(stages: readonly Stage[], seconds: number): Promise<number> {
	let perSecond = 0;
	for (const stage of stages) {
		const warm = await work(stage, Math.ceil((WARM_UP_PER_S * seconds) / SHAPE.webhooks), () => {});
		perSecond = Math.max(perSecond, warm.perSecond);
	}
	const events = Math.max(2, Math.ceil((perSecond * seconds * ROUND_SHARE) / SHAPE.webhooks));
	for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const stage of stages) await work(stage, events, () => {});
	return events;
}

async function takeTurns(
	stages: readonly Stage[],
	events: number,
	rounds: number,
	progress: Progress,
): Promise<Omit<AgainstRun, "engine">> {
	const readings = { here: [] as WorkReading[], there: [] as WorkReading[] };
	for (let round = 0; round < rounds; round++) {
		const order = round % 2 === 0 ? SIDES : SIDES.toReversed();
		for (const [turn, side] of order.entries()) {
			const reading = await work(stages[SIDES.indexOf(side)]!, events, () => {});
			if (reading.missing > 0 || reading.outOfOrder > 0)
				throw new Error(`${side}: ${reading.missing} deliveries missing, ${reading.outOfOrder} out of order.`);
			readings[side].push(reading);
			progress.update(2 * round + turn + 1, 2 * rounds);
		}
	}
	const ratios = (of: (reading: WorkReading) => number): number[] =>
		readings.here.map((reading, i) => Number((of(reading) / of(readings.there[i]!)).toFixed(3)));
	const per_s = ratios((reading) => reading.perSecond);
	const cpu_us = ratios((reading) => (reading.cpuMicros ?? Number.NaN) / reading.deliveries);
	const [per_s_median, cpu_us_median] = [median(per_s), median(cpu_us)];
	progress.finish(`${per_s_median.toFixed(2)} of the rate, ${cpu_us_median.toFixed(2)} times the CPU`);
	return { per_s, cpu_us, per_s_median, cpu_us_median };
}
