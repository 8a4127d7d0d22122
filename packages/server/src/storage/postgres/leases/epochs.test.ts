/** A standby that lacks the last commits replaces the primary. */
import { PostgresProxy } from "@posthorn/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { describeClaims } from "../../../../test/storage/conformance/claims.ts";
import { START, TestClock, World } from "../../../../test/storage/conformance/world.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import type { LostTail } from "../../port/peers.ts";
import type { Lease, Storage } from "../../port.ts";
import { Connections } from "../connection/connections.ts";
import { examinePostgres } from "../connection/examine.ts";
import { openPostgresStorage } from "../index.ts";
import { keptClaims } from "./claims.ts";

const TERM_MS = 10_000;
const ALL = { maxEvents: 100, maxBytes: 1e6 };

/** Repeats calls that fail because the database is away. */
async function answered<T>(call: () => Promise<T>): Promise<T> {
	const { value } = await until("the database to respond", async () => {
		try {
			return { value: await call() };
		} catch (error) {
			if ((error as { code?: string }).code !== "lost") throw error;
			return null;
		}
	});
	return value;
}

describe("a failover to a standby that lags behind", () => {
	let primary: PostgresServer;
	let standby: PostgresServer;
	let proxy: PostgresProxy;
	let database: string;
	let world: World;
	let storage: Storage;
	const clock = new TestClock();
	const lost: LostTail[] = [];
	let epochs = 0;
	/** Projects from before the failover: the standby has all, part or none of each. */
	let [kept, cut, gone] = ["", "", ""];
	let [keptHook, cutHook] = ["", ""];
	let epochBefore = "";
	let leases: Lease[] = [];

	const open = (observer = {}) =>
		openPostgresStorage({ url: proxy.url(database), clock, leaseTermMs: TERM_MS, leasesByClock: true, observer });

	beforeAll(async () => {
		primary = await PostgresServer.start({ own: true });
		// Created before the standby starts: a running standby would get it late.
		database = await primary.createDatabase();
		standby = await primary.standby();
		proxy = await PostgresProxy.start(primary.url);
		const opened = () => open({ lostTail: (tail: LostTail) => lost.push(tail) });
		world = await World.open({
			name: "PostgreSQL",
			manyNodes: true,
			leaseTermMs: TERM_MS,
			open: opened,
			reopen: opened,
			dispose: (one) => one.close(),
		});
		storage = world.storage;
		storage.peers!.onEpoch(() => {
			epochs += 1;
		});
		epochBefore = storage.epoch;
		[kept, cut] = [await world.project(), await world.project()];
		[keptHook, cutHook] = [await world.webhook(kept, ["a"]), await world.webhook(cut, ["a"])];
		await world.publish(kept, "a", "a");
		await world.publish(cut, "a", "a", "a");
		leases = [await world.lease(kept), await world.lease(cut)];
		await primary.execute(`SELECT pg_switch_wal()`, database);
		const end = "SELECT pg_current_wal_lsn()::text AS at";
		const [{ at }] = (await primary.execute(end)) as [{ at: string }];
		const replayed = `SELECT FROM (SELECT) x WHERE pg_last_wal_replay_lsn() >= '${at}'`;
		await until("the standby to replay the log", async () => (await standby.execute(replayed)).length > 0);

		await primary.refuseStandbys();
		await world.publish(cut, "a", "new", "a", "a");
		gone = await world.project();
		await world.publish(gone, "a");
		await primary.kill();
		proxy.retarget(standby.url);
		await standby.promote();
		// The previous pools may fail to close, which once ended the process.
		const { close } = Connections.prototype;
		vi.spyOn(Connections.prototype, "close").mockImplementationOnce(async function (this: Connections) {
			await close.call(this);
			throw new Error("A connection could not be closed.");
		});
	});
	afterAll(async () => {
		await storage?.close();
		await proxy?.close();
		await primary?.stop();
		await standby?.stop();
	});

	test("is reported before anything is read, and starts another epoch", async () => {
		await answered(() => storage.readLog({ projectId: cut, after: 0, window: ALL }));
		expect(epochs).toBe(1);
		expect(storage.epoch).not.toBe(epochBefore);
	});

	test("lost acknowledged events are reported and remembered", async () => {
		const tails = [
			{ projectId: cut, kept: 3, lost: 7, count: 4 },
			{ projectId: gone, kept: 0, lost: 1, count: 1 },
		];
		expect(lost.toSorted((a, b) => b.lost - a.lost)).toEqual(tails);
		expect(await storage.readLogEnd({ projectId: cut, since: epochBefore })).toEqual({ lastSeq: 3, kept: 3 });
		const recorded = "SELECT kept::integer, lost::integer FROM posthorn.log_forks WHERE lost IS NOT NULL";
		const url = new URL(standby.url);
		url.pathname = new URL(database).pathname;
		expect(await standby.execute(recorded, url.href)).toEqual([{ kept: 3, lost: 7 }]);
		const { losses } = await examinePostgres(url.href);
		expect(losses).toEqual({ projects: 1, newest: [{ projectId: cut, kept: 3, lost: 7 }] });
	});

	test("numbers of lost events no longer refer to them", async () => {
		const request = { projectId: gone, publishedAt: START, events: [world.event(gone, "a")] };
		expect(await storage.appendEvents({ requests: [request] })).toEqual([{ kind: "no_project" }]);
		// Cached before, with a number that the standby never assigned.
		const appended = await world.publish(cut, "new", "a");
		expect(appended.map(({ seq }) => seq)).toEqual([4, 5]);
		expect((await storage.readLog({ projectId: cut, after: 3, window: ALL })).map(({ type }) => type)).toEqual([
			"new",
			"a",
		]);
	});

	test("a reader from before learns how far the log is unchanged; a current one doesn't", async () => {
		expect(await storage.readLogEnd({ projectId: cut, since: epochBefore })).toEqual({ lastSeq: 5, kept: 3 });
		expect(await storage.readLogEnd({ projectId: cut, since: storage.epoch })).toEqual({ lastSeq: 5, kept: null });
		// A lost epoch may have diverged anywhere after its number.
		expect(await storage.readLogEnd({ projectId: cut, since: `${epochBefore.split(".")[0]}.ffffffff` })).toEqual({
			lastSeq: 5,
			kept: 3,
		});
		expect(await storage.readLogEnd({ projectId: cut, since: `${storage.epoch.split(".")[0]}.ffffffff` })).toEqual({
			lastSeq: 5,
			kept: 3,
		});
		// So may an epoch that a restored backup doesn't reach.
		expect(await storage.readLogEnd({ projectId: cut, since: "9.ffffffff" })).toEqual({ lastSeq: 5, kept: 3 });
		expect(await storage.readLogEnd({ projectId: cut })).toEqual({ lastSeq: 5, kept: null });
	});

	test("an old lease is void, and for its duration only its holder can acquire it", async () => {
		const lanes = [{ webhookId: keptHook, position: 2, open: [] }];
		expect(await world.settle(leases[0]!, { lanes })).toBe("stale");
		expect(await storage.renewLeases({ holder: "node_a", leases })).toEqual({ renewed: [], locked: [] });
		await storage.releaseLease({ lease: leases[0]!, wakeAt: null, seen: { lastSeq: 2, revision: 9 } });

		const other = await open();
		try {
			expect(await other.acquireLeases({ holder: "node_b", limit: 10, projectIds: [kept, cut] })).toEqual([]);
			expect(await other.acquireLeases({ holder: "node_b", limit: 10 })).toEqual([]);
			expect(await other.peers!.isInForce({ projectId: kept, revision: 9 })).toBe(false);

			const [again] = await storage.acquireLeases({
				holder: "node_a",
				limit: 10,
				projectIds: [kept],
				heldBefore: true,
			});
			expect(again).toMatchObject({ projectId: kept });
			expect(again!.generation).toBeGreaterThan(leases[0]!.generation);
			expect(await other.acquireLeases({ holder: "node_b", limit: 10, projectIds: [kept], heldBefore: true })).toEqual(
				[],
			);
			expect(await world.settle(again!, { lanes })).toBe("settled");
			expect(await world.settle(leases[0]!, { lanes })).toBe("stale");

			clock.time += TERM_MS;
			const [taken] = await other.acquireLeases({ holder: "node_b", limit: 10, projectIds: [cut] });
			expect(taken).toMatchObject({ projectId: cut });
			expect(await world.settle(leases[1]!, { lanes: [{ webhookId: cutHook, position: 3, open: [] }] })).toBe("stale");
			expect(await other.peers!.isInForce({ projectId: cut, revision: 9 })).toBe(false);
			await other.peers!.acknowledge({ acknowledgements: [{ lease: taken!, revision: 9 }] });
			expect(await other.peers!.isInForce({ projectId: cut, revision: 9 })).toBe(true);
		} finally {
			await other.close();
		}
	});

	test("the replaced server is refused when it returns, and the other one stays in use", async () => {
		await primary.startAgain();
		proxy.retarget(primary.url);
		await standby.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthorn'");
		const now = storage.epoch;
		// Ended connections may be noticed one by one.
		const refusal = await until("the former primary to be refused", async () => {
			const error = await storage.ping().then(
				() => new Error("It was served."),
				(reason: Error) => reason,
			);
			return /terminat/.test(error.message) ? null : error;
		});
		expect(refusal).toMatchObject({ code: "lost", message: expect.stringMatching(/was replaced/) });
		expect((await primary.execute("SELECT count(*)::integer FROM posthorn.epochs", database))[0]).toEqual({ count: 1 });
		proxy.retarget(standby.url);
		await answered(() => storage.ping());
		expect(storage.epoch).toBe(now);
		expect(epochs).toBe(1);
	});
});

describe("commits", () => {
	let server: PostgresServer;
	beforeAll(async () => {
		server = await PostgresServer.start({ own: true });
	});
	afterAll(() => server.stop());

	test.for([
		["off", "on"],
		["local", "on"],
		["remote_write", "on"],
		["on", "on"],
		["remote_apply", "remote_apply"],
	] as const)("if synchronous_commit is %s, the service commits with %s", async ([given, wanted], { expect }) => {
		const url = await server.createDatabase();
		await server.execute(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = '${given}'`);
		const storage = await openPostgresStorage({ url, clock: new TestClock(), leaseTermMs: TERM_MS });
		const world = await World.open({
			name: "PostgreSQL",
			manyNodes: true,
			leaseTermMs: TERM_MS,
			open: async () => storage,
			reopen: async () => storage,
			dispose: (one) => one.close(),
		});
		// Recorded by the transactions themselves.
		await server.execute(
			`CREATE TABLE public.used (setting text);
			CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN INSERT INTO public.used VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
			CREATE CONSTRAINT TRIGGER note AFTER INSERT ON posthorn.events DEFERRABLE INITIALLY DEFERRED
				FOR EACH ROW EXECUTE FUNCTION public.note()`,
			url,
		);
		const project = await world.project();
		await world.publish(project, "delivery.success");
		await server.execute(`SELECT posthorn.publish('${project}', 'delivery.success', '{}')`, url);
		expect(await server.execute("SELECT setting FROM public.used", url)).toEqual([
			{ setting: wanted },
			{ setting: wanted },
		]);
		await storage.close();
	});
});

// A database's limit of a second ended searches, and all transactions while the server was slow.
test("transactions take as long as their statements may, regardless of the database's limit", async ({ skip }) => {
	const own = await PostgresServer.start({ own: true });
	const limited = await own.createDatabase();
	const known = await own.execute("SELECT FROM pg_settings WHERE name = 'transaction_timeout'");
	if (known.length === 0) skip("PostgreSQL 17 and later have it");
	await own.execute(`ALTER DATABASE ${new URL(limited).pathname.slice(1)} SET transaction_timeout = '1h'`);
	const world = await worldOf((clock) => openNode(limited, clock));
	// Recorded by a transaction itself.
	await own.execute(
		`CREATE TABLE public.used (setting text);
		CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN INSERT INTO public.used VALUES (current_setting('transaction_timeout')); RETURN NULL; END $$;
		CREATE TRIGGER note AFTER INSERT ON posthorn.projects FOR EACH ROW EXECUTE FUNCTION public.note()`,
		limited,
	);
	await world.project();
	expect(await own.execute("SELECT setting FROM public.used", limited)).toEqual([{ setting: "0" }]);
	await world.dispose();
	await own.stop();
});

// The first statement that was refused ended the transaction in which nodes join an epoch: none could start.
test.for([
	["its identifier", "pg_control_system()", "'/' || 'posthorn.epochs'::regclass::oid", 1],
	["all of its history", "pg_control_system(), pg_current_wal_flush_lsn()", "''", 0],
] as const)("nodes start on a server that hides %s, and continue after its connections broke", async (hidden) => {
	const [, functions, name, timeline] = hidden;
	const hiding = await PostgresServer.start({ own: true });
	const owned = await hiding.createDatabase();
	await hiding.execute(`CREATE ROLE app LOGIN; ALTER DATABASE ${new URL(owned).pathname.slice(1)} OWNER TO app`);
	await hiding.execute(`REVOKE EXECUTE ON FUNCTION ${functions} FROM PUBLIC`, owned);
	const asApp = new URL(owned);
	asApp.username = "app";
	const world = await worldOf((clock) => openNode(asApp.href, clock));
	const project = await world.project();
	await hiding.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
	await answered(() => world.publish(project, "delivery.success"));
	const epochs = await hiding.execute("SELECT system, timeline::integer FROM posthorn.epochs", owned);
	expect(epochs).toEqual(await hiding.execute(`SELECT ${name} AS system, ${timeline} AS timeline`, owned));
	await world.dispose();
	await hiding.stop();
});

// Nodes took it for one that shows nothing, whose standbys lag never: they continued with what the database had lost.
test("a failover is noticed on a server that hides its identifier", async () => {
	const primary = await PostgresServer.start({ own: true });
	const owned = await primary.createDatabase();
	await primary.execute(`CREATE ROLE app LOGIN; ALTER DATABASE ${new URL(owned).pathname.slice(1)} OWNER TO app`);
	await primary.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC", owned);
	const standby = await primary.standby();
	const proxy = await PostgresProxy.start(primary.url);
	const asApp = Object.assign(new URL(proxy.url(owned)), { username: "app" }).href;
	const lost: LostTail[] = [];
	const world = await worldOf((clock) =>
		openPostgresStorage({ url: asApp, clock, observer: { lostTail: (tail) => lost.push(tail) } }),
	);
	const project = await world.project();
	await world.publish(project, "a");
	const [{ at }] = (await primary.execute("SELECT pg_current_wal_lsn()::text AS at")) as [{ at: string }];
	const replayed = `SELECT FROM (SELECT) x WHERE pg_last_wal_replay_lsn() >= '${at}'`;
	await until("the standby to replay the log", async () => (await standby.execute(replayed)).length > 0);
	await primary.refuseStandbys();
	await world.publish(project, "a", "a");
	await primary.kill();
	proxy.retarget(standby.url);
	await standby.promote();
	const { epoch } = world.storage;
	await answered(() => world.storage.readLog({ projectId: project, after: 0, window: ALL }));
	expect(world.storage.epoch).not.toBe(epoch);
	expect(lost).toMatchObject([{ projectId: project, kept: 1, lost: 3 }]);
	await world.dispose();
	await proxy.close();
	await primary.stop();
	await standby.stop();
});

let server: PostgresServer;
let url: string;
let client: Client;

beforeAll(async () => {
	server = await PostgresServer.start();
	url = await server.createDatabase();
	client = new Client({ connectionString: url });
	await client.connect();
});
afterAll(async () => {
	await client?.end();
	await server?.stop();
});

describeClaims("PostgreSQL", async () => ({
	world: await worldOf((clock) => openNode(url, clock)),
	kept: (epoch, claims) => keptClaims(client, epoch, claims),
}));
