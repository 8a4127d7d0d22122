import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { START, type World } from "../../../test/storage/conformance/world.ts";
import { patientLocks } from "../../../test/storage/postgres/patient-locks.ts";
import { worldOf } from "../../../test/storage/postgres/world.ts";
import { lowestSuffixAt } from "../../base/ids.ts";
import type { Storage } from "../port.ts";
import { migratePostgres, openPostgresStorage } from "./index.ts";
import { MIGRATION_LOCK, MIGRATIONS } from "./migrations/index.ts";

const LEASE_TERM_MS = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("many nodes on one database", () => {
	let server: PostgresServer;
	let url: string;
	const nodes: Storage[] = [];

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
	});
	afterEach(async () => {
		await Promise.all(nodes.splice(0).map((node) => node.close()));
		await server.dropDatabase(url);
	});

	async function node(clock = { now: () => Date.now() }, leasesByClock = false): Promise<Storage> {
		const storage = await openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock });
		nodes.push(storage);
		return storage;
	}

	/** The suite's verbs on one of the nodes. */
	const worldOn = (storage: Storage): Promise<World> => worldOf(async () => storage);

	test("nodes that start together migrate the database once", async () => {
		const opened = await Promise.all(Array.from({ length: 6 }, () => node()));
		for (const storage of opened) await storage.ping();
		const versions = await server.execute("SELECT version FROM posthorn.schema_versions ORDER BY version", url);
		expect(versions).toEqual(MIGRATIONS.map((_, i) => ({ version: i + 1 })));
	});

	test("only one of the nodes that add the same new event types concurrently waits", async () => {
		const world = await worldOn(await node());
		const project = await world.project();
		const other = new Client({ connectionString: url });
		await other.connect();
		const add = (type: string) => other.query("INSERT INTO posthorn.event_types (name) VALUES ($1)", [type]);
		await other.query("BEGIN");
		await add("new.a");
		const published = world.publish(project, "new.b", "new.a");
		const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
		await until("the node to wait for a lock", async () => (await server.execute(waits, url)).length > 0);
		// It would deadlock if the node had added this one before waiting for the other.
		await add("new.b");
		await other.query("COMMIT");
		await other.end();
		expect(await published).toHaveLength(2);
	});

	test("a node that waited for another's migration sees its result, however little it changed", async () => {
		const migrating = new Client({ connectionString: url });
		await migrating.connect();
		await migrating.query(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
		const waiting = [migratePostgres(url), migratePostgres(url)];
		// Both have found nothing and wait for the lock; the server has cached that for them.
		const waiters = `
			SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
			WHERE locktype = 'advisory' AND NOT granted AND datname = '${new URL(url).pathname.slice(1)}'`;
		await until("both to wait for the lock", async () => (await server.execute(waiters)).length === waiting.length);
		await migrating.query(`
			CREATE SCHEMA posthorn;
			CREATE TABLE posthorn.schema_versions AS SELECT generate_series(1, ${MIGRATIONS.length}) AS version;
			COMMIT`);
		await migrating.end();
		await Promise.all(waiting);
	});

	test("a database written by a newer version is refused and left unchanged", async () => {
		await (await node()).close();
		await server.execute("INSERT INTO posthorn.schema_versions (version) VALUES (1000)", url);
		await expect(node()).rejects.toMatchObject({ code: "unusable", message: expect.stringContaining("newer version") });
		const [row] = await server.execute("SELECT max(version) AS version FROM posthorn.schema_versions", url);
		expect(row).toEqual({ version: 1000 });
	});

	// "relation … already exists" said nothing about the missing one.
	test("a database whose versions are missing is refused and left unchanged", async () => {
		await (await node()).close();
		await server.execute("ALTER TABLE posthorn.schema_versions RENAME TO versions", url);
		const message = expect.stringContaining("posthorn.schema_versions is missing");
		await expect(migratePostgres(url)).rejects.toMatchObject({ code: "unusable", message });
		await server.execute("ALTER TABLE posthorn.versions RENAME TO schema_versions", url);
		await (await node()).close();
	});

	test("leases use the database's clock: nodes whose clocks are hours apart neither steal nor miss one", async () => {
		const [ahead, behind] = [
			await node({ now: () => Date.now() + HOUR }),
			await node({ now: () => Date.now() - HOUR }),
		];
		const world = await worldOn(ahead);
		const project = await world.project();
		await world.publish(project, "a");
		const [lease] = await ahead.acquireLeases({ holder: "ahead", limit: 10 });
		expect(lease!.expiresAt).toBeGreaterThan(Date.now() + HOUR);
		expect(await behind.nextAlarm()).toBeNull();
		expect(await behind.acquireLeases({ holder: "behind", limit: 10 })).toEqual([]);
		expect(await behind.acquireLeases({ holder: "behind", limit: 10, projectIds: [project] })).toEqual([]);
		const { seen } = await ahead.loadLanes({ projectId: project });
		await ahead.releaseLease({ lease: lease!, wakeAt: Date.now() + HOUR + 5 * HOUR, seen });
		// In five hours, by any clock.
		const minutes = async (storage: Storage, offset: number) =>
			Math.round(((await storage.nextAlarm())! - Date.now() - offset) / (HOUR / 60));
		expect(await minutes(ahead, HOUR)).toBe(300);
		expect(await minutes(behind, -HOUR)).toBe(300);
		expect(await ahead.acquireLeases({ holder: "ahead", limit: 10 })).toEqual([]);
		await server.execute(`UPDATE posthorn.leases SET wake_at = wake_at - ${5 * HOUR}`, url);
		expect(await behind.acquireLeases({ holder: "behind", limit: 10 })).toHaveLength(1);
		await server.execute(`UPDATE posthorn.leases SET until = until - ${LEASE_TERM_MS}`, url);
		expect(await ahead.acquireLeases({ holder: "ahead", limit: 10 })).toHaveLength(1);
	});

	test("each lease goes to one node, however many ask concurrently", async () => {
		const all = await Promise.all(Array.from({ length: 4 }, () => node()));
		const world = await worldOn(all[0]!);
		const projects: string[] = [];
		for (let i = 0; i < 30; i++) {
			const project = await world.project();
			projects.push(project);
			await world.publish(project, "a");
		}
		const taken: string[] = [];
		await until("all projects to be taken", async () => {
			const some = await Promise.all(all.map((storage, i) => storage.acquireLeases({ holder: `node_${i}`, limit: 3 })));
			const named = await Promise.all(
				all.map((storage, i) => storage.acquireLeases({ holder: `node_${i}`, limit: 1, projectIds: projects })),
			);
			taken.push(...[...some, ...named].flat().map(({ projectId }) => projectId));
			return taken.length >= projects.length;
		});
		expect(taken.sort()).toEqual(projects.sort());
	});

	test("a change is in force once the current lease holder has acknowledged it, regardless of former holders", async () => {
		const [former, current] = [await node(), await node()];
		const project = await (await worldOn(former)).project();
		const revision = 9;
		const isInForce = () => former.peers!.isInForce({ projectId: project, revision });
		const [lease] = await former.acquireLeases({ holder: "former", limit: 1, projectIds: [project] });
		expect(await isInForce()).toBe(false);
		await former.peers!.acknowledge({ acknowledgements: [{ lease: lease!, revision }] });
		expect(await isInForce()).toBe(true);
		const { seen } = await former.loadLanes({ projectId: project });
		await former.releaseLease({ lease: lease!, wakeAt: null, seen });
		const [next] = await current.acquireLeases({ holder: "current", limit: 1, projectIds: [project] });
		expect(await isInForce()).toBe(false);
		await current.peers!.acknowledge({ acknowledgements: [{ lease: next!, revision }] });
		expect(await isInForce()).toBe(true);
	});

	test("events that nodes publish concurrently to one project are numbered without gaps, and counted by type", async () => {
		const all = await Promise.all(Array.from({ length: 3 }, () => node()));
		const worlds = await Promise.all(all.map(worldOn));
		const [project, other] = [await worlds[0]!.project(), await worlds[0]!.project()];
		const webhook = await worlds[0]!.webhook(project, ["a"]);
		const publishes = Array.from({ length: 60 }, (_, i) => {
			const world = worlds[i % worlds.length]!;
			const events = (id: string) => [world.event(id, "a"), world.event(id, "b"), world.event(id, "a")];
			const requests = (i % 2 === 0 ? [project, other] : [other, project]).map((projectId) => ({
				projectId,
				publishedAt: START,
				events: events(projectId),
			}));
			return Promise.all(requests.map((request) => world.append(request)));
		});
		await Promise.all(publishes);
		for (const id of [project, other])
			expect((await worlds[0]!.log(id)).map(({ seq }) => seq)).toEqual(Array.from({ length: 180 }, (_, i) => i + 1));
		expect((await all[1]!.readBacklogs({ projectId: project, webhookIds: [webhook] })).get(webhook)?.events).toBe(120);
	});

	test("an event published while the lease is released wakes the project", async () => {
		const [holder, publisher] = [await node(), await node()];
		const world = await worldOn(publisher);
		const project = await world.project();
		for (let round = 0; round < 40; round++) {
			const [lease] = await holder.acquireLeases({ holder: "holder", limit: 1, projectIds: [project] });
			const { seen } = await holder.loadLanes({ projectId: project });
			const release = () => holder.releaseLease({ lease: lease!, wakeAt: null, seen });
			const calls = [() => world.publish(project, "a"), release];
			if (round % 2 === 0) calls.reverse();
			await Promise.all(calls.map((call) => call()));
			expect(await publisher.nextAlarm()).not.toBeNull();
		}
	});

	// The sweep read the database, the attempt was settled, and then the sweep deleted its event.
	test("a sweep keeps the event of a deleted webhook's attempt that is settled in the meantime", async () => {
		const time = { now: START };
		const clock = { now: () => time.now };
		const [storage, sweeper] = [await node(clock, true), await node(clock, true)];
		const world = await worldOn(storage);
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [, event] = await world.publish(project, "a", "a");
		const [lease] = await storage.acquireLeases({ holder: "node", limit: 1, projectIds: [project] });
		await world.settle(lease!, { lanes: [{ webhookId: webhook, position: 2, open: [1, 2] }] });
		await storage.deleteWebhook({ projectId: project, webhookId: webhook });
		time.now = START + 5 * DAY;
		// The deletion waits for a sequence: its transaction reads one state of the database, which no sequence is part of.
		const wait = `
			CREATE SEQUENCE public.settled;
			CREATE FUNCTION public.await_settled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				WHILE NOT (SELECT is_called FROM public.settled) LOOP PERFORM pg_sleep(0.01); END LOOP;
				RETURN NULL;
			END $$;
			CREATE TRIGGER await_settled BEFORE DELETE ON posthorn.events EXECUTE FUNCTION public.await_settled()`;
		await server.execute(wait, url);
		const swept = sweeper.sweepEvents({ cutoff: START + 2 * DAY, limit: 100, from: 0 });
		const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
		await until("the sweep to begin to delete", async () => (await server.execute(waits, url)).length > 0);
		const attempts = [world.attempt(webhook, event!, { startedAt: time.now })];
		expect(await world.settle(lease!, { attempts })).toBe("settled");
		await server.execute("SELECT nextval('public.settled')", url);
		expect(await swept).toMatchObject({ deleted: 1 });
		const page = { limit: 10, maxBytes: 1e6 };
		const { rows } = await storage.listAttempts({ projectId: project, filter: {}, page });
		expect(rows.map(({ eventId }) => eventId)).toEqual([event!.id]);
	});

	// The lane was read before the project was locked, so it still seemed to exist.
	test("an attempt leaves nothing if its webhook and event are deleted while its settlement waits", async () => {
		using _ = patientLocks(60_000);
		const storage = await node();
		const world = await worldOn(storage);
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		const [lease] = await storage.acquireLeases({ holder: "node", limit: 1, projectIds: [project] });
		await world.settle(lease!, { lanes: [{ webhookId: webhook, position: 1, open: [1] }] });
		const other = new Client({ connectionString: url });
		await other.connect();
		await other.query("BEGIN; SELECT FROM posthorn.leases FOR UPDATE");
		const settled = world.settle(lease!, { attempts: [world.attempt(webhook, event!)] });
		const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
		await until("the settlement to wait", async () => (await server.execute(waits, url)).length > 0);
		await other.query(`
			UPDATE posthorn.webhooks SET deleted_at = 1;
			DELETE FROM posthorn.lanes; DELETE FROM posthorn.subscriptions; DELETE FROM posthorn.events;
			COMMIT`);
		await other.end();
		expect(await settled).toBe("settled");
		expect(await server.execute("SELECT FROM posthorn.attempts", url)).toEqual([]);
	});

	test("a late attempt of a dropped day creates the day again", async () => {
		const time = { now: START };
		const clock = { now: () => time.now };
		const [storage, sweeper] = [await node(clock, true), await node(clock, true)];
		const world = await worldOn(storage);
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const events = await world.publish(project, "a", "a", "a");
		const [lease] = await storage.acquireLeases({ holder: "node", limit: 1, projectIds: [project] });
		const settle = (event: (typeof events)[number]) =>
			world.settle(lease!, { attempts: [world.attempt(webhook, event, { startedAt: START, status: "failed" })] });
		expect(await settle(events[0]!)).toBe("settled");
		time.now = START + 5 * DAY;
		for (let from: number | null = 0; from !== null; )
			from = (await sweeper.sweepAttempts({ cutoff: START + 2 * DAY, limit: 100, from })).next;
		const days = async () =>
			(
				await server.execute(
					"SELECT count(*)::int AS n FROM pg_inherits WHERE inhparent = 'posthorn.attempts'::regclass",
					url,
				)
			)[0];
		expect(await days()).toEqual({ n: 4 });
		expect(await storage.gauges()).toMatchObject({ deadLetters: 0 });
		expect(await settle(events[1]!)).toBe("settled");
		expect(await days()).toEqual({ n: 5 });
		expect(await settle(events[2]!)).toBe("settled");
		expect(await storage.gauges()).toMatchObject({ deadLetters: 2 });
	});

	// Its outcome was refused, and its request was repeated.
	test("so does one that was handed over", async () => {
		const time = { now: START };
		const clock = { now: () => time.now };
		const [storage, sweeper] = [await node(clock, true), await node(clock, true)];
		const world = await worldOn(storage);
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [first, second] = await world.publish(project, "a", "a");
		const [lease] = await storage.acquireLeases({ holder: "node", limit: 1, projectIds: [project] });
		const attemptOf = (event: typeof first) => world.attempt(webhook, event!, { startedAt: START });
		const attempts = [attemptOf(first)];
		expect(await world.settle(lease!, { attempts, lanes: [{ webhookId: webhook, position: 2, open: [2] }] })).toBe(
			"settled",
		);
		const until = START + 10 * DAY;
		const handedOver = { webhookId: webhook, seq: 2, replay: 0, queue: null, until };
		const { seen } = await storage.loadLanes({ projectId: project });
		await storage.releaseLease({ lease: lease!, wakeAt: null, seen, inFlight: [handedOver] });
		time.now = START + 5 * DAY;
		for (let from: number | null = 0; from !== null; )
			from = (await sweeper.sweepAttempts({ cutoff: START + 2 * DAY, limit: 100, from })).next;
		const settlement = {
			...{ projectId: project, generation: lease!.generation, schedule: [], unschedule: [] },
			...{ attempts: [attemptOf(second)], lanes: [] },
		};
		expect(await storage.settleHandedOver({ handedOver, settlement })).toBe("settled");
	});

	test("the database and the program agree on the times of ids", async () => {
		await node();
		for (const ms of [0, 1, START, START + DAY - 1, 2 ** 48 - 1]) {
			const [row] = await server.execute(`SELECT posthorn.id_at(${ms}) AS id`, url);
			expect(lowestSuffixAt(ms).slice(0, 10)).toBe(row!.id);
		}
	});
});
