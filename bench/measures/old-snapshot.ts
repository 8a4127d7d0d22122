import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import type { Receiver } from "../load/receiver.ts";
import { type Stage, setStage } from "../load/stage.ts";
import type { Progress } from "../progress.ts";
import type { OldSnapshot } from "../results.ts";
import type { ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import { work } from "./throughput.ts";

/** Few, so that the rows of each change often. */
const PROJECTS = 10;
/** One event in a request, so that each changes its project's rows. */
const SHAPE = { eventsPerRequest: 1 };
/** Per second, for all projects together: events before the rounds, and in each. */
const BEFORE_PER_S = 5_000;
const ROUND_PER_S = 500;
const ROUNDS = 5;

interface Side extends Stage {
	readonly url: string;
}

/**
 * Deliveries on PostgreSQL while a transaction keeps a snapshot open, as a dump does, after many events that were
 * published since; alternating with as many on a database without that transaction.
 */
export async function measureOldSnapshot(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<OldSnapshot> {
	const postgres = await PostgresServer.start({ fsync: true });
	const sides: Side[] = [];
	let dump: Client | undefined;
	try {
		for (let n = 0; n < 2; n++) {
			const url = await postgres.createDatabase();
			const settings = { POSTHORN_DATABASE_URL: url };
			const stage = await setStage(workspace, receiver, { ...options, settings }, { webhooks: PROJECTS, fanout: 1 });
			sides.push({ ...stage, ...SHAPE, url });
		}
		const [usual, held] = sides as [Side, Side];
		dump = new Client({ connectionString: held.url });
		await dump.connect();
		await dump.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
		await dump.query("SELECT count(*) FROM posthorn.events");
		const before = BEFORE_PER_S * seconds;
		await round(usual, before, progress, "events before the rounds, without a snapshot");
		await round(held, before, progress, "events before the rounds, with an old snapshot");
		const rounds: OldSnapshot["rounds"] = [];
		for (let n = 1; n <= ROUNDS; n++) {
			const what = `round ${n} of ${ROUNDS}`;
			const usual_per_s = await round(usual, ROUND_PER_S * seconds, progress, `${what}, without a snapshot`);
			const per_s = await round(held, ROUND_PER_S * seconds, progress, `${what}, with an old snapshot`);
			rounds.push({ per_s: Math.round(per_s), usual_per_s: Math.round(usual_per_s) });
		}
		const ratio = median(rounds.map(({ per_s }) => per_s)) / median(rounds.map(({ usual_per_s }) => usual_per_s));
		return { before, rounds, ratio: Number(ratio.toFixed(3)) };
	} finally {
		await dump?.end();
		for (const { service } of sides) await service.stop();
		await postgres.stop();
	}
}

async function round(side: Side, events: number, progress: Progress, what: string): Promise<number> {
	progress.start(what);
	const reading = await work(side, Math.ceil(events / PROJECTS), (done, all) => progress.update(done, all));
	if (reading.missing + reading.outOfOrder > 0)
		throw new Error(`${reading.missing} deliveries are missing, ${reading.outOfOrder} came out of order.`);
	progress.finish(`${Math.round(reading.perSecond)}/s`);
	return reading.perSecond;
}
