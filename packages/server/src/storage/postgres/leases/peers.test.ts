import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { NODE, type World } from "../../../../test/storage/conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "../../../../test/storage/postgres/databases.ts";
import { LEASE_TERM_MS, openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import type { PostgresStorage } from "../index.ts";

describe("sharing projects among nodes", () => {
	let server: PostgresServer;
	let url: string;
	let world: World;
	const nodes: PostgresStorage[] = [];

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await takeDatabase(server);
		world = await worldOf(node);
	});
	afterEach(async () => {
		await closeNodes();
		await giveDatabaseBack(server, url);
	});

	async function node(clock: { now(): number }): Promise<PostgresStorage> {
		const storage = await openNode(url, clock);
		nodes.push(storage);
		return storage;
	}

	async function closeNodes(): Promise<void> {
		await Promise.all(nodes.splice(0).map((storage) => storage.close()));
	}

	const share = (holder: string, storage = world.storage) => storage.peers!.share({ holder });

	test("a node counts once from its first report until it leaves, however often it reports", async () => {
		expect(await share("a")).toEqual({ nodes: 1, projects: 0, nextAlarm: null, nextEnd: null });
		expect(await share("b")).toMatchObject({ nodes: 2 });
		expect(await share("a")).toMatchObject({ nodes: 2 });
		await world.storage.peers!.leave({ holder: "b" });
		await world.storage.peers!.leave({ holder: "never reported" });
		expect(await share("a")).toMatchObject({ nodes: 1 });
	});

	test("a node that stops reporting counts for a lease duration, then is forgotten; when it returns it counts again", async () => {
		await share("dying");
		world.clock.time += LEASE_TERM_MS;
		expect(await share("a")).toMatchObject({ nodes: 2 });
		world.clock.time += 1;
		expect(await share("a")).toMatchObject({ nodes: 1 });
		expect(await server.execute("SELECT holder FROM posthorn.nodes", url)).toEqual([{ holder: "a" }]);
		expect(await share("dying")).toMatchObject({ nodes: 2 });
	});

	test("projects count while they are leased or due, and not while they wait or have nothing pending", async () => {
		const [worked, rung, waits] = [await world.project(), await world.project(), await world.project()];
		await world.project();
		const lease = await world.lease(worked);
		expect(await share("a")).toMatchObject({ projects: 1 });
		await world.publish(rung, "a");
		expect(await share("a")).toMatchObject({ projects: 2 });
		const later = await world.lease(waits);
		const { seen } = await world.storage.loadLanes({ projectId: waits });
		await world.storage.releaseLease({ lease: later, wakeAt: world.clock.time + 1_000, seen });
		expect(await share("a")).toMatchObject({ projects: 2 });
		world.clock.time += 1_000;
		expect(await share("a")).toMatchObject({ projects: 3 });
		await world.storage.releaseLease({
			lease,
			wakeAt: null,
			seen: (await world.storage.loadLanes({ projectId: worked })).seen,
		});
		expect(await share("a")).toMatchObject({ projects: 2 });
		// A project with an expired lease counts as work as well.
		await world.lease(rung);
		world.clock.time += LEASE_TERM_MS;
		expect(await share("a")).toMatchObject({ projects: 2 });
	});

	test("a report says when the next alarm is due, and when the first lease ends unless it is renewed", async () => {
		const [leased, waiting, due] = [await world.project(), await world.project(), await world.project()];
		const begun = world.clock.time;
		const later = await world.lease(waiting);
		const { seen } = await world.storage.loadLanes({ projectId: waiting });
		await world.storage.releaseLease({ lease: later, wakeAt: begun + 60_000, seen });
		const lease = await world.lease(leased);
		expect(await share("a")).toMatchObject({ nextAlarm: begun + 60_000, nextEnd: begun + LEASE_TERM_MS });
		world.clock.time += 1_000;
		await world.storage.renewLeases({ holder: NODE, leases: [lease] });
		await world.publish(due, "a");
		const { nextAlarm, nextEnd } = await share("a");
		expect(nextAlarm).toBeLessThanOrEqual(world.clock.time);
		expect(nextEnd).toBe(begun + 1_000 + LEASE_TERM_MS);
		expect(await world.storage.peers!.nextEnd()).toBe(nextEnd);
		// Until another node takes it.
		world.clock.time += 2 * LEASE_TERM_MS;
		expect(await share("a")).toMatchObject({ nextEnd });
		expect(await world.storage.peers!.nextEnd()).toBe(null);
	});

	test("nodes that all return after an outage report concurrently without blocking each other", async () => {
		const holders = Array.from({ length: 6 }, (_, i) => `node_${i}`);
		const storages = await Promise.all(holders.map(() => node(world.clock)));
		for (let outage = 0; outage < 30; outage++) {
			world.clock.time += 10 * LEASE_TERM_MS;
			await Promise.all(holders.map((holder, i) => share(holder, storages[i])));
			expect(await share("node_0")).toMatchObject({ nodes: holders.length });
		}
		// Connections report what they encountered when they end.
		await closeNodes();
		const name = new URL(url).pathname.slice(1);
		const [met] = await server.execute(`SELECT deadlocks::int FROM pg_stat_database WHERE datname = '${name}'`);
		expect(met).toEqual({ deadlocks: 0 });
	});
});
