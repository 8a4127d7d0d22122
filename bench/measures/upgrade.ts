/**
 * How long publishing is blocked when a database of the previous release with millions of events is opened by this one.
 *
 * On PostgreSQL a node of the previous release publishes while this release migrates the database, is killed at that,
 * migrates it again and starts. On SQLite, where one process has the file to itself, the time that opening the file
 * takes is compared with that of empty ones.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import { checkOutPrevious } from "../../e2e/previous-release.ts";
import { EVENT_TYPE } from "../load/payload.ts";
import type { Receiver } from "../load/receiver.ts";
import type { Engine } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { UpgradeRun } from "../results.ts";
import { PROGRAM, Service, type ServiceOptions } from "../service.ts";
import { median } from "../side-by-side.ts";
import type { Workspace } from "../workspace.ts";

/** The goal: at most this long, milliseconds. */
export const UPGRADE_MOST_MS = 1_000;
const BODY_BYTES = 200;
/** Events in a transaction. */
const AT_ONCE = 100_000;
/** Time between two publishes. */
const EVERY_MS = 20;
/** Publishing before the migration, for comparison. */
const BEFORE_MS = 3_000;
/** The first migration is killed after this long. */
const KILLED_AFTER_MS = 400;
/** Empty databases that are opened for comparison. */
const EMPTY_ONES = 5;

export async function measureUpgrade(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	{ engines, events }: { readonly engines: readonly Engine[]; readonly events: number },
	progress: Progress,
): Promise<UpgradeRun[]> {
	const previous = checkOutPrevious(workspace.makeFolder("previous"));
	const runs: UpgradeRun[] = [];
	for (const engine of engines) {
		progress.start(`upgrade on ${engine}: writing ${events.toLocaleString("en")} events`);
		const measure = engine === "sqlite" ? onSqlite : onPostgres;
		const run = await measure(workspace, receiver, { ...options, program: previous }, events, progress);
		runs.push({ engine, events, ...run });
		progress.finish(`publishing blocked for ${run.blocked_ms} ms`);
	}
	return runs;
}

type Measured = Omit<UpgradeRun, "engine" | "events">;

/** `options.program` is the previous release's. */
async function onSqlite(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	events: number,
	progress: Progress,
): Promise<Measured> {
	const folder = workspace.makeFolder("upgrade");
	const made = async (name: string): Promise<string> => {
		const path = join(folder, `${name}.db`);
		await prepare(workspace, receiver, { ...options, settings: settingsFor(`sqlite:${path}`) });
		return path;
	};
	const large = await made("large");
	writeSqlite(large, events, progress);
	// Only the first opening migrates.
	const usual: number[] = [];
	for (let n = 0; n < EMPTY_ONES; n++) usual.push(await openingOf(await made(`empty-${n}`)));
	const opening = await openingOf(large);
	return {
		blocked_ms: Math.round(Math.max(0, opening - median(usual))),
		open_ms: Math.round(opening),
		usual_ms: Math.round(median(usual)),
	};
}

/** Milliseconds until the database is open, as the service opens it. */
async function openingOf(path: string): Promise<number> {
	const begun = performance.now();
	const storage = await openSqliteStorage({ path, clock: { now: () => Date.now() } });
	const ms = performance.now() - begun;
	await storage.close();
	return ms;
}

function writeSqlite(path: string, events: number, progress: Progress): void {
	const db = new DatabaseSync(path);
	try {
		db.exec("PRAGMA synchronous = OFF");
		const { code } = db.prepare("SELECT code FROM event_types WHERE name = ?").get(EVENT_TYPE) as { code: number };
		for (let first = 1; first <= events; first += AT_ONCE) {
			const last = Math.min(events, first + AT_ONCE - 1);
			db.exec(`
				WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
				INSERT INTO events (project_no, seq, id, type, type_seq, created_at, published_at, body)
				SELECT p.no, n, printf('evt_%026d', n), ${code}, n, ${Date.now()}, ${Date.now()}, zeroblob(${BODY_BYTES})
				FROM numbers CROSS JOIN projects p`);
			progress.update(last, events);
		}
		db.exec(`
			UPDATE projects SET last_seq = ${events};
			UPDATE lanes SET position = ${events};
			PRAGMA wal_checkpoint(TRUNCATE)`);
	} finally {
		db.close();
	}
}

/** Creates the database with a project and a webhook, as the previous release. */
async function prepare(workspace: Workspace, receiver: Receiver, options: ServiceOptions): Promise<void> {
	const service = await Service.start(workspace, options);
	await setUp(service, receiver);
	await service.stop();
}

async function setUp({ api }: Service, receiver: Receiver): Promise<{ path: string; key: string }> {
	const id = await api.createProject("upgrade");
	await api.createWebhook(id, `${receiver.origin}/w${receiver.takePaths(1)}`, [EVENT_TYPE]);
	return { path: `/v1/projects/${id}/events`, key: api.key };
}

async function onPostgres(
	workspace: Workspace,
	receiver: Receiver,
	options: ServiceOptions,
	events: number,
	progress: Progress,
): Promise<Measured> {
	const postgres = await PostgresServer.start({ fsync: true });
	const services: Service[] = [];
	try {
		const settings = settingsFor(await postgres.createDatabase());
		const url = settings.POSTHORN_DATABASE_URL;
		const old = await Service.start(workspace, { ...options, settings });
		services.push(old);
		const { path, key } = await setUp(old, receiver);
		await writePostgres(url, events, progress);
		const publisher = new Publishing(old.api.origin + path, key);
		await wait(BEFORE_MS);
		const before = publisher.take();
		await migrate(workspace, settings, KILLED_AFTER_MS);
		const begun = performance.now();
		await migrate(workspace, settings);
		const migratedMs = performance.now() - begun;
		const { program: _, ...mine } = options;
		services.push(await Service.start(workspace, { ...mine, settings }));
		await wait(BEFORE_MS);
		const during = publisher.take();
		await publisher.end();
		return {
			blocked_ms: Math.round(Math.max(...during)),
			open_ms: Math.round(migratedMs),
			usual_ms: Math.round(Math.max(...before)),
		};
	} finally {
		for (const service of services) await service.stop();
		await postgres.stop();
	}
}

async function writePostgres(url: string, events: number, progress: Progress): Promise<void> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		await client.query("SET synchronous_commit = off");
		const { rows } = await client.query("SELECT code FROM posthorn.event_types WHERE name = $1", [EVENT_TYPE]);
		await client.query(`UPDATE posthorn.logs SET last_seq = ${events}; UPDATE posthorn.lanes SET position = ${events}`);
		for (let first = 1; first <= events; first += AT_ONCE) {
			const last = Math.min(events, first + AT_ONCE - 1);
			await client.query(`
				INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
				SELECT p.no, n, 'evt_' || lpad(n::text, 26, '0'), ${rows[0].code}, n, ${Date.now()}, ${Date.now()},
					decode(repeat('7a', ${BODY_BYTES}), 'hex')
				FROM generate_series(${first}, ${last}) AS n CROSS JOIN posthorn.projects p`);
			progress.update(last, events);
		}
		await client.query("VACUUM (ANALYZE) posthorn.events");
		await client.query("CHECKPOINT");
	} finally {
		await client.end();
	}
}

/** Publishes one event after another, and times each call. */
class Publishing {
	#times: number[] = [];
	#over = false;
	readonly #loop: Promise<void>;

	constructor(url: string, key: string) {
		this.#loop = this.#run(url, key);
		// Reported by `end`.
		this.#loop.catch(() => undefined);
	}

	/** How long each call took since the last call of this, milliseconds. */
	take(): number[] {
		const times = this.#times;
		this.#times = [];
		return times;
	}

	async end(): Promise<void> {
		this.#over = true;
		await this.#loop;
	}

	async #run(url: string, key: string): Promise<void> {
		const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
		while (!this.#over) {
			const begun = performance.now();
			const response = await fetch(url, {
				method: "POST",
				headers,
				body: JSON.stringify({ type: EVENT_TYPE, data: {} }),
			});
			if (!response.ok) throw new Error(`Publishing was answered ${response.status}: ${await response.text()}`);
			await response.body?.cancel();
			this.#times.push(performance.now() - begun);
			await wait(EVERY_MS);
		}
	}
}

/** Runs `posthorn migrate`. @param killedAfterMs kills it after this long */
async function migrate(
	workspace: Workspace,
	settings: Readonly<Record<string, string>>,
	killedAfterMs?: number,
): Promise<void> {
	const child = workspace.spawn(process.execPath, [PROGRAM, "migrate"], {
		env: { ...process.env, ...settings },
		stdio: "ignore",
	});
	const exited = once(child, "exit");
	if (killedAfterMs !== undefined) {
		await wait(killedAfterMs);
		child.kill("SIGKILL");
	}
	const [code] = await exited;
	if (killedAfterMs === undefined && code !== 0) throw new Error(`posthorn migrate exited with ${code}.`);
}

const settingsFor = (url: string) => ({
	POSTHORN_DATABASE_URL: url,
	POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
	POSTHORN_OPERATOR_KEY: randomBytes(24).toString("hex"),
});
