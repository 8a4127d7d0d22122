import { randomBytes } from "node:crypto";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import { EVENT_TYPE } from "../load/payload.ts";
import type { Receiver } from "../load/receiver.ts";
import type { Stage } from "../load/stage.ts";
import type { Progress } from "../progress.ts";
import type { Pending } from "../results.ts";
import { Service, type ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";
import { work } from "./throughput.ts";

const PROJECTS = 100;
/** Per project, of a type that isn't published during the measurement. */
const PAST_EVENTS = 10_000;
const PAST_TYPE = "basket.abandoned";
/** Per project, webhooks that retry every past event; one of them is measured. */
const RETRYING = 10;
/** Retries are due from this time on, spread over the same period, milliseconds: none during the measurement. */
const DUE_IN_MS = 6 * 3_600_000;
const ROUNDS = 5;
/** Deliveries to start with, and per second of a round. */
const WARM_UP = 40_000;
const PER_S = 8_000;

/** The webhooks of a project: those that retry, the first of which is measured, and a paused one. */
interface Side extends Stage {
	readonly url: string;
}

/**
 * Deliveries of 100 webhooks while each of them, and 900 others of their projects, has 10,000 pending retries, and a
 * hundred paused ones have a backlog of a million events; alternating with the same webhooks without history.
 */
export async function measurePending(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	seconds: number,
	progress: Progress,
): Promise<Pending> {
	const postgres = await PostgresServer.start({ fsync: true });
	const sides: Side[] = [];
	try {
		const empty = await setSide(workspace, receiver, options, postgres, progress, false);
		sides.push(empty);
		const full = await setSide(workspace, receiver, options, postgres, progress, true);
		sides.push(full);
		for (const side of sides) await round(side, WARM_UP, progress, "warming up");
		const rounds: Pending["rounds"] = [];
		for (let n = 1; n <= ROUNDS; n++) {
			const what = `round ${n} of ${ROUNDS}`;
			const empty_per_s = await round(empty, PER_S * seconds, progress, `${what}, empty database`);
			const per_s = await round(full, PER_S * seconds, progress, `${what}, ten million retries pending`);
			rounds.push({ per_s: Math.round(per_s), empty_per_s: Math.round(empty_per_s) });
		}
		const ratio = median(rounds.map(({ per_s }) => per_s)) / median(rounds.map(({ empty_per_s }) => empty_per_s));
		const [retries, backlog] = [PROJECTS * RETRYING * PAST_EVENTS, PROJECTS * PAST_EVENTS];
		return { retries, backlog, rounds, ratio: Number(ratio.toFixed(3)) };
	} finally {
		for (const { service } of sides) await service.stop();
		await postgres.stop();
	}
}

async function round(side: Side, deliveries: number, progress: Progress, what: string): Promise<number> {
	progress.start(what);
	const reading = await work(side, Math.ceil(deliveries / PROJECTS), (done, all) => progress.update(done, all));
	if (reading.missing + reading.outOfOrder > 0)
		throw new Error(`${reading.missing} deliveries are missing, ${reading.outOfOrder} came out of order.`);
	progress.finish(`${Math.round(reading.perSecond)}/s`);
	return reading.perSecond;
}

async function setSide(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	postgres: PostgresServer,
	progress: Progress,
	withPast: boolean,
): Promise<Side> {
	progress.start(
		withPast ? "setting up ten million retries and a backlog of a million" : "setting up an empty database",
	);
	const url = await postgres.createDatabase();
	const settings = {
		POSTHORN_DATABASE_URL: url,
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
	};
	const start = () => Service.start(workspace, { ...options, settings });
	let service = await start();
	const { api } = service;
	const projectIds = await api.setUp(PROJECTS, (n) => api.createProject(`bench ${n}`));
	const firstPath = receiver.takePaths(PROJECTS);
	const webhooks = await api.setUp(PROJECTS, async (n) => {
		const projectId = projectIds[n]!;
		const target = `${receiver.origin}/w${firstPath + n}`;
		const id = await api.createWebhook(projectId, target, [EVENT_TYPE, PAST_TYPE]);
		for (let i = 1; i < RETRYING; i++) await api.createWebhook(projectId, `${target}/${i}`, [PAST_TYPE]);
		const paused = await api.createWebhook(projectId, `${target}/paused`, [PAST_TYPE]);
		await api.setStatus(projectId, paused, "paused");
		return { projectId, id };
	});
	if (withPast) {
		await service.stop();
		await writePast(url, projectIds, (done) => progress.update(done, PROJECTS));
		service = await start();
	}
	progress.finish("done");
	return { service, receiver, workspace, projectIds, webhooks, published: 0, url };
}

/** The state of storage after 10,000 events had been tried once by ten webhooks, and paused before an eleventh. */
async function writePast(url: string, projectIds: readonly string[], onProgress: (projects: number) => void) {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		for (const [n, projectId] of projectIds.entries()) {
			await client.query("BEGIN");
			await client.query(EVENTS, [projectId, PAST_EVENTS, PAST_TYPE]);
			await client.query(RETRIES, [projectId, DUE_IN_MS]);
			await client.query(LANES, [projectId, PAST_EVENTS]);
			await client.query(LOG, [projectId, PAST_EVENTS]);
			await client.query(ALARM, [projectId, DUE_IN_MS]);
			await client.query("COMMIT");
			onProgress(n + 1);
		}
		// Does now what a database soon does on its own, so that it doesn't happen during the measurement.
		await client.query("VACUUM (ANALYZE)");
		await client.query("CHECKPOINT");
	} finally {
		await client.end();
	}
}

const PROJECT = "(SELECT no FROM posthorn.projects WHERE id = $1)";
const EVENTS = `
	INSERT INTO posthorn.events (project_no, seq, type_seq, created_at, published_at, type, id, body)
	SELECT ${PROJECT}, n, n, now.ms, now.ms, type.code, now.id || lpad(n::text, 16, '0'),
		convert_to(format('{"id":"%s","type":"%s","created_at":"2026-01-01T00:00:00.000Z","project_id":"%s","data":{"n":%s}}',
			now.id || lpad(n::text, 16, '0'), $3::text, $1::text, n), 'UTF8')
	FROM generate_series(1, $2::integer) AS n,
		(SELECT code FROM posthorn.event_types WHERE name = $3) type,
		(SELECT posthorn.now_ms() AS ms, 'evt_' || posthorn.id_at(posthorn.now_ms()) AS id) now`;
const RETRIES = `
	INSERT INTO posthorn.retries (project_no, seq, webhook_no, due_at, replay, attempt, queue)
	SELECT e.project_no, e.seq, w.no, posthorn.now_ms() + $2::bigint + (e.seq * 7919 % 1000) * $2::bigint / 1000, 0, 2, 0
	FROM posthorn.events e JOIN posthorn.webhooks w ON w.project_no = e.project_no AND w.status = 'active'
	WHERE e.project_no = ${PROJECT}`;
const LANES = `
	UPDATE posthorn.lanes l SET cursor = $2, retries_waiting = $2
	FROM posthorn.webhooks w
	WHERE l.project_no = ${PROJECT} AND w.project_no = l.project_no AND w.no = l.webhook_no AND w.status = 'active'`;
const LOG = `UPDATE posthorn.logs SET last_seq = $2 WHERE project_no = ${PROJECT}`;
const ALARM = `UPDATE posthorn.leases SET wake_at = posthorn.now_ms() + $2::bigint WHERE project_no = ${PROJECT}`;
