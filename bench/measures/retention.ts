/**
 * Whether retention keeps up: the service publishes and delivers at full rate, each event to ten webhooks, while
 * retention deletes old events that had ten attempts each.
 *
 * Each round has a database of its own in which the service was off for ten days. So its clock is on hold, and nothing
 * is deleted, until the operator confirms it: the rate without retention is measured before that, and again once
 * everything old is deleted.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import type { Receiver } from "../load/receiver.ts";
import { type Stage, setStage } from "../load/stage.ts";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { RetentionRun } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import { PAST_ATTEMPTS, writeOldEvents } from "./retention-past.ts";
import { WARM_UP_PER_S, work } from "./throughput.ts";

const SHAPE = { webhooks: 100, fanout: PAST_ATTEMPTS };
/** Old events per second of the measurement: enough that deleting them takes several pieces of work. */
const OLD_EVENTS_PER_S = 10_000;
/** Deliveries in a piece of work, per second of the measurement. */
const PIECE_PER_S = 4_000;
/** Pieces of work before retention begins, and once it has ended. */
const PIECES_WITHOUT = 2;
/** The service makes the text of its metrics once a second. */
const POLL_MS = 500;
/** The goal: at least this share of the rate without retention. */
export const RETENTION_LEAST_SHARE = 0.9;

export async function measureRetention(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	{
		engines,
		seconds,
		rounds,
	}: { readonly engines: readonly Engine[]; readonly seconds: number; readonly rounds: number },
	progress: Progress,
): Promise<RetentionRun[]> {
	const runs: RetentionRun[] = [];
	for (const engine of engines) {
		const postgres = engine === "postgres" ? await PostgresServer.start({ fsync: true }) : null;
		try {
			const results: Round[] = [];
			for (let n = 1; n <= rounds; n++) {
				const name = `retention on ${engine}, round ${n} of ${rounds}`;
				results.push(await measureRound(workspace, receiver, { ...options, postgres }, seconds, name, progress));
			}
			runs.push(resultOf(engine, Math.ceil(OLD_EVENTS_PER_S * seconds), results));
		} finally {
			await postgres?.stop();
		}
	}
	return runs;
}

interface Round {
	/** Deliveries per second. */
	readonly withoutPerS: number;
	readonly withPerS: number;
	/** Events per second, each with its ten attempts. */
	readonly deletedPerS: number;
	/** How long PostgreSQL's vacuum of the deleted events takes after that, seconds. */
	readonly vacuumS: number | null;
}

function resultOf(engine: Engine, oldEvents: number, rounds: readonly Round[]): RetentionRun {
	const mid = (of: (round: Round) => number) => median(rounds.map(of));
	const created = mid(({ withPerS }) => withPerS / SHAPE.fanout);
	const deleted = mid(({ deletedPerS }) => deletedPerS);
	const ratios = rounds.map(({ withPerS, withoutPerS }) => Number((withPerS / withoutPerS).toFixed(3)));
	return {
		engine,
		old_events: oldEvents,
		attempts_each: PAST_ATTEMPTS,
		without_per_s: Math.round(mid(({ withoutPerS }) => withoutPerS)),
		with_per_s: Math.round(mid(({ withPerS }) => withPerS)),
		ratios,
		ratio: median(ratios),
		created_events_per_s: Math.round(created),
		deleted_events_per_s: Math.round(deleted),
		keeps_up: deleted >= created && median(ratios) >= RETENTION_LEAST_SHARE,
		vacuum_s: rounds[0]!.vacuumS === null ? null : Number(mid(({ vacuumS }) => vacuumS ?? 0).toFixed(2)),
	};
}

async function measureRound(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	name: string,
	progress: Progress,
): Promise<Round> {
	progress.start(`${name}: setting up`);
	const folder = workspace.makeFolder("retention");
	const url = (await options.postgres?.createDatabase()) ?? `sqlite:${join(folder, "posthorn.db")}`;
	const settings = {
		POSTHORN_DATABASE_URL: url,
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
	};
	const stage = await setStage(workspace, receiver, { ...options, settings }, SHAPE);
	await stage.service.stop();
	const old = Math.ceil((OLD_EVENTS_PER_S * seconds) / stage.projectIds.length);
	await writeOldEvents(url, old);
	const service = await Service.start(workspace, { ...options, settings });
	try {
		const round = await measureOn({ ...stage, service }, old * stage.projectIds.length, seconds, name, progress);
		const vacuumS = options.postgres === null ? null : await timeOf(() => vacuum(url));
		const { withoutPerS, withPerS, deletedPerS } = round;
		progress.finish(
			`${Math.round(withPerS)}/s, ${(withPerS / withoutPerS).toFixed(2)} of the rate without; ` +
				`${Math.round(deletedPerS)} events/s deleted, ${Math.round(withPerS / SHAPE.fanout)} created`,
		);
		return { ...round, vacuumS };
	} finally {
		await service.stop();
		await options.postgres?.dropDatabase(url);
		rmSync(folder, { recursive: true, force: true });
	}
}

async function measureOn(
	stage: Stage,
	oldEvents: number,
	seconds: number,
	name: string,
	progress: Progress,
): Promise<Omit<Round, "vacuumS">> {
	const { api } = stage.service;
	const piece = async (deliveries = PIECE_PER_S * seconds): Promise<number> => {
		const { perSecond, missing, outOfOrder } = await work(stage, Math.ceil(deliveries / SHAPE.webhooks), () => {});
		if (missing + outOfOrder > 0) throw new Error(`${missing} deliveries are missing, ${outOfOrder} out of order.`);
		return perSecond;
	};
	const without: number[] = [];
	progress.start(`${name}: without`);
	await piece(WARM_UP_PER_S * seconds);
	for (let n = 0; n < PIECES_WITHOUT; n++) without.push(await piece());
	progress.start(`${name}: with`);
	const sweep = new Sweep(stage.service, oldEvents);
	const during: number[] = [];
	await api.confirmClock();
	const ended = sweep.watch();
	// The first piece of work always counts: retention may end before it does.
	while (during.length === 0 || !sweep.isOver) during.push(await piece());
	const sweepS = await ended;
	// The last one may have gone on after retention had ended.
	if (during.length > 1) during.pop();
	for (let n = 0; n < PIECES_WITHOUT; n++) without.push(await piece());
	return { withoutPerS: mean(without), withPerS: mean(during), deletedPerS: oldEvents / sweepS };
}

/** Follows a pass by the service's own metrics. */
class Sweep {
	readonly #service: Service;
	readonly #oldEvents: number;
	isOver = false;

	constructor(service: Service, oldEvents: number) {
		this.#service = service;
		this.#oldEvents = oldEvents;
	}

	/** Resolves with the seconds until all old events are deleted. */
	watch(): Promise<number> {
		return timeOf(async () => {
			for (;;) {
				const metrics = await this.#service.api.metrics();
				const deleted = Number(/^posthorn_retention_deleted_total\{rows="events"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
				this.isOver = deleted >= this.#oldEvents;
				if (this.isOver) return;
				if (!this.#service.isRunning) throw this.#service.failure("The service ended while it was measured.");
				await new Promise((resolve) => setTimeout(resolve, POLL_MS));
			}
		});
	}
}

async function vacuum(url: string): Promise<void> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		await client.query("VACUUM posthorn.events");
	} finally {
		await client.end();
	}
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Seconds. */
async function timeOf(work: () => Promise<void>): Promise<number> {
	const begun = performance.now();
	await work();
	return (performance.now() - begun) / 1_000;
}
