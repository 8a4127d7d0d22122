/** An engine that stays alive while a standby takes the primary's place, with all that it committed or without the end of it. */
import { PostgresServer, START_TIMEOUT_MS } from "@posthorn/testkit/postgres";
import { describe, expect, test } from "vitest";
import { StorageError } from "../src/storage/port.ts";
import { openPostgresStorage } from "../src/storage/postgres/index.ts";
import { ALL_TYPES, EngineRig, LEASE_TERM_MS } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/** An engine on a primary with a standby, and a webhook of each width. */
async function setUp(events: readonly string[] = ALL_TYPES) {
	await using made = new AsyncDisposableStack();
	const primary = made.use(await PostgresServer.start({ own: true }));
	// Before there is a standby: one that is there already hears of it later.
	const database = new URL(await primary.createDatabase());
	const standby = made.use(await primary.standby());
	const hosts = [primary, standby].map(({ url }) => new URL(url).host);
	const url = `postgres://test@${hosts.join()}${database.pathname}`;
	const onStandby = new URL(database);
	onStandby.host = hosts[1]!;
	const storage = new FaultyStorage();
	const rig = made.use(
		await EngineRig.start(
			{
				open: (clock) => openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true }),
				remove: async () => undefined,
			},
			storage.wrap,
		),
	);
	const hook = await rig.webhook("a", { events });
	const wide = await rig.webhook("b", { events, maxInFlight: 4 });
	// What the project goes by is told to other nodes once a second.
	await storage.pass(rig.clock, 1_500);
	const resources = made.move();
	return {
		...{ rig, storage, primary, standby, hook, wide },
		/** Resolves once the standby has all that was committed. */
		async caughtUp(): Promise<void> {
			const [end] = await primary.execute("SELECT pg_current_wal_lsn()::text AS at");
			const isThere = `SELECT FROM (SELECT) x WHERE pg_last_wal_replay_lsn() >= '${end!.at}'`;
			while ((await standby.execute(isThere)).length === 0);
		},
		/** A store publishes by SQL. */
		async sql(server: PostgresServer, count: number, type: string): Promise<string[]> {
			const url = new URL(server.url);
			url.pathname = database.pathname;
			const publish = `SELECT posthorn.publish('${rig.projectId}', '${type}', '{}') AS id`;
			const ids: string[] = [];
			while (ids.length < count) ids.push((await server.execute(publish, url.href))[0]!.id as string);
			return ids;
		},
		async fail(): Promise<void> {
			await primary.kill();
			await standby.promote();
		},
		/** Publishes as many events, one by one, as soon as the database takes them. */
		async publish(count: number): Promise<string[]> {
			const ids: string[] = [];
			while (ids.length < count) {
				try {
					ids.push(...(await rig.publish(1)));
				} catch (error) {
					if (!(error instanceof StorageError)) throw error;
					// The database is away, or was found to be another one.
					await storage.pass(rig.clock, 100);
				}
			}
			return ids;
		},
		async settled(count: number): Promise<void> {
			while (rig.settled.length < count) await storage.pass(rig.clock, 1_000);
		},
		/** The attempts of an event in a webhook's log, as the database has them. */
		async attempts(eventId: string, webhookId: string): Promise<unknown[]> {
			const rows = await standby.execute(
				`SELECT a.attempt, a.status FROM posthorn.attempts a
					JOIN posthorn.webhooks w ON w.project_no = a.project_no AND w.no = a.webhook_no
					JOIN posthorn.events e ON e.project_no = a.project_no AND e.seq = a.seq
				WHERE e.id = '${eventId}' AND w.id = '${webhookId}' ORDER BY a.attempt`,
				onStandby.href,
			);
			return rows.map(({ attempt, status }) => [attempt, status]);
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

describe("a standby is promoted", { timeout: 3 * START_TIMEOUT_MS }, () => {
	// Of thirty events that were acknowledged after the promotion the first twenty were once never sent, nor dead-lettered:
	// they had numbers that the engine had seen before.
	test("without the last events: what is acknowledged after it is sent once and in order", async () => {
		await using site = await setUp();
		const { rig, primary, hook, wide } = site;
		const before = await rig.publish(5);
		await rig.settledCount(10);
		await site.caughtUp();
		await primary.refuseStandbys();
		const lost = await rig.publish(20);
		await rig.settledCount(50);
		await site.fail();
		const after = await site.publish(30);
		await site.settled(110);
		expect(rig.sender.to(hook.url)).toEqual([...before, ...lost, ...after]);
		expect(new Set(rig.sender.to(wide.url))).toEqual(new Set([...before, ...lost, ...after]));
		expect(rig.sender.sent).toHaveLength(110);
	});

	// They were once all made again, however many there were.
	test.for([
		["while the lease is trusted", 0],
		["after the lease was trusted", 9_000],
	] as const)(
		"with all that was committed, %s: outcomes that were not are committed, and nothing is sent again",
		async ([, waitMs]) => {
			await using site = await setUp();
			const { rig, storage, hook, wide } = site;
			const [failing] = await rig.publish(1);
			await rig.settledCount(2);
			await rig.sentCount(2);
			rig.sender.script = ({ eventId }, nth) => (nth === 3 && eventId !== failing ? 500 : 200);
			const before = await rig.publish(1);
			await rig.settledCount(4);
			storage.fail("settle", Number.POSITIVE_INFINITY);
			const unsettled = await rig.publish(20);
			await rig.sentCount(44);
			await site.caughtUp();
			await storage.pass(rig.clock, waitMs);
			await site.fail();
			storage.fail("settle", 0);
			const after = await site.publish(10);
			// The retry of the first attempt that failed comes as well.
			await site.settled(65);
			expect(rig.sender.sent).toHaveLength(65);
			const all = [failing!, ...before, ...unsettled, ...after];
			expect([...new Set(rig.sender.to(hook.url))]).toEqual(all);
			expect(new Set(rig.sender.to(wide.url))).toEqual(new Set(all));
			const retried = rig.settled.filter(({ attempt }) => attempt === 2);
			expect(retried).toHaveLength(1);
			expect(await site.attempts(retried[0]!.eventId, retried[0]!.webhookId)).toEqual([
				[1, 2],
				[2, 1],
			]);
		},
	);

	test("with the events and without their outcomes: a retry that is lost takes no event with it", async () => {
		await using site = await setUp();
		const { rig, storage, primary, hook } = site;
		storage.fail("settle", Number.POSITIVE_INFINITY);
		rig.sender.script = (_, nth) => (nth <= 2 ? 500 : 200);
		const [first] = await rig.publish(1);
		await rig.sentCount(2);
		await site.caughtUp();
		await primary.refuseStandbys();
		storage.fail("settle", 0);
		while (rig.settled.length < 2) await storage.pass(rig.clock, 100);
		expect(rig.settled.map(({ status }) => status)).toEqual(["retrying", "retrying"]);
		await site.fail();
		const after = await site.publish(5);
		// Two of the first event are lost, and made again.
		await site.settled(2 + 2 * 6);
		expect([...new Set(rig.sender.to(hook.url))]).toEqual([first, ...after]);
		expect(await site.attempts(first!, hook.id)).toEqual([[1, 1]]);
	});

	test("and a store publishes events with the numbers of lost ones: they are sent, and outcomes of those are not theirs", async () => {
		await using site = await setUp();
		const { rig, storage, primary, hook } = site;
		const before = await rig.publish(2);
		await rig.settledCount(4);
		await site.caughtUp();
		await primary.refuseStandbys();
		storage.fail("settle", Number.POSITIVE_INFINITY);
		const lost = await rig.publish(3);
		await rig.sentCount(10);
		await site.fail();
		const stored = await site.sql(site.standby, 5, "delivery.success");
		storage.fail("settle", 0);
		const after = await site.publish(1);
		await site.settled(4 + 2 * 6);
		expect(rig.sender.to(hook.url)).toEqual([...before, ...lost, ...stored, ...after]);
		for (const id of [...stored, ...after]) expect(await site.attempts(id, hook.id)).toEqual([[1, 1]]);
	});

	test("and a store publishes events with the numbers of lost ones that no webhook wanted: they are sent", async () => {
		await using site = await setUp(["delivery.success"]);
		const { rig, storage, primary, hook } = site;
		const before = await rig.publish(2);
		await rig.settledCount(4);
		await site.caughtUp();
		await primary.refuseStandbys();
		await site.sql(primary, 3, "delivery.failed");
		// The node hears of their number, and passes over them.
		await storage.pass(rig.clock, 3_000);
		await site.fail();
		const stored = await site.sql(site.standby, 5, "delivery.success");
		const after = await site.publish(1);
		await site.settled(4 + 2 * 6);
		expect(rig.sender.to(hook.url)).toEqual([...before, ...stored, ...after]);
	});

	test("after the lease was trusted: nothing is sent until no other node can go on by a lease that was lost", async () => {
		await using site = await setUp();
		const { rig, storage, hook } = site;
		const before = await rig.publish(1);
		await rig.settledCount(2);
		await site.caughtUp();
		storage.away = true;
		await storage.pass(rig.clock, 9_000);
		await site.fail();
		storage.away = false;
		const [after] = await site.publish(1);
		const begun = rig.clock.now();
		await site.settled(4);
		expect(rig.sender.to(hook.url)).toEqual([...before, after]);
		const sent = rig.sender.sent.filter(({ eventId }) => eventId === after);
		for (const { at } of sent) expect(at - begun).toBeGreaterThan(LEASE_TERM_MS - 1_000);
		expect(sent).toHaveLength(2);
	});
});
