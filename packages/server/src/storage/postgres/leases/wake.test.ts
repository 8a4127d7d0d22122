import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { PostgresProxy } from "../../../../../testkit/src/postgres/postgres-proxy.ts";
import { until } from "../../../../../testkit/src/until.ts";
import type { World } from "../../../../test/storage/conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "../../../../test/storage/postgres/databases.ts";
import { worldOf } from "../../../../test/storage/postgres/world.ts";
import { HINTED_MS } from "../../port.ts";
import { openPostgresStorage, type PostgresStorage } from "../index.ts";

describe("notifications between nodes", () => {
	let server: PostgresServer;
	let url: string;
	const nodes: PostgresStorage[] = [];
	let world: World;
	let holder: PostgresStorage;

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await takeDatabase(server);
		const publisher = await node();
		holder = await node();
		world = await worldOf(async () => publisher);
	});
	afterEach(async () => {
		await Promise.all(nodes.splice(0).map((storage) => storage.close()));
		await giveDatabaseBack(server, url);
	});

	async function node(user?: string): Promise<PostgresStorage> {
		const own = user === undefined ? url : Object.assign(new URL(url), { username: user }).href;
		const storage = await openPostgresStorage({ url: own, clock: { now: () => Date.now() }, leaseTermMs: 60_000 });
		nodes.push(storage);
		return storage;
	}

	// Calls of the API kept all connections, such as those that they opened first after a failover.
	test("a node listens where connections are few, however busy its API is", async () => {
		const role = `few_${randomUUID().replaceAll("-", "")}`;
		await server.execute(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 5 IN ROLE test`);
		const few = await node(role);
		let isOver = false;
		onTestFinished(() => {
			isOver = true;
		});
		const repeat = async (call: () => Promise<unknown>) => {
			while (!isOver) await call().catch(() => undefined);
		};
		const reads = Array.from({ length: 8 }, () => () => few.getSetting({ name: "any" }));
		const readers = [() => few.nextAlarm(), ...reads].map(repeat);
		const sessions = `SELECT query FROM pg_stat_activity WHERE usename = '${role}'`;
		await until("all connections to be in use", async () => (await server.execute(sessions)).length === 5);
		few.peers.subscribe(() => {});
		await until(
			"the node to listen",
			async () => (await server.execute(`${sessions} AND query ~ '^LISTEN'`)).length > 0,
		);
		isOver = true;
		await Promise.all(readers);
		await few.close();
		await server.execute(`DROP ROLE ${role}`);
	});

	/** The notifications that a node gets, by project. */
	function ears(storage: PostgresStorage): () => Promise<string> {
		const heard: string[] = [];
		let waiting: (() => void) | null = null;
		storage.peers.subscribe((projectIds) => {
			heard.push(...projectIds);
			waiting?.();
		});
		return async () => {
			while (heard.length === 0)
				await new Promise<void>((resolve) => {
					waiting = resolve;
				});
			return heard.shift()!;
		};
	}

	/** Projects that {@link untilHeard} created. Hints arrive over several connections, so one of theirs may come late. */
	const knocks = new Set<string>();

	/** Publishes until the node listens. All earlier hints have arrived by then. */
	async function untilHeard(next: () => Promise<string>): Promise<void> {
		const [knock, marker] = [await world.project(), await world.project()];
		knocks.add(knock).add(marker);
		let isHeard = false;
		const heard = (async () => {
			while ((await next()) !== knock);
			isHeard = true;
		})();
		await until("the node to listen", async () => {
			await world.publish(knock, "a");
			return isHeard;
		});
		await heard;
		await world.publish(marker, "a");
		while ((await next()) !== marker);
	}

	/** The next project in a notification for another reason. */
	async function heard(next: () => Promise<string>): Promise<string> {
		for (;;) {
			const project = await next();
			if (!knocks.has(project)) return project;
		}
	}

	test("a node is notified of events, replays, tests and changes that another one commits", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		await world.finish(await world.lease(project), webhook, event!, "failed");
		const { createdAtGiven: _, ...sample } = world.event(project, "a");
		const changes = [
			() => world.publish(project, "a"),
			() => world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: event!.id, at: 1 }),
			() => world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample }),
			() => world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { maxInFlight: 2 } }),
			() => world.storage.deleteWebhook({ projectId: project, webhookId: webhook }),
		];
		const next = ears(holder);
		for (const change of changes) {
			await untilHeard(next);
			await change();
			expect(await heard(next), String(change)).toBe(project);
		}
	});

	// A stopped node's projects were left to the node that polled next.
	test("a node is only notified of projects that another releases with work due soon, including as it leaves", async () => {
		const [idle, late, soon, busy] = [
			await world.project(),
			await world.project(),
			await world.project(),
			await world.project(),
		];
		const now = Date.now();
		const next = ears(holder);
		await untilHeard(next);
		const leaving = await node();
		for (const [project, wakeAt] of [
			[idle, null] as const,
			[late, now + 3_600_000] as const,
			[soon, now + HINTED_MS - 1_000] as const,
			[busy, now] as const,
		]) {
			const [lease] = await leaving.acquireLeases({ holder: "leaving", limit: 1, projectIds: [project] });
			const { seen } = await leaving.loadLanes({ projectId: project });
			await leaving.releaseLease({ lease: lease!, wakeAt, seen });
		}
		await leaving.close();
		// Two connections may have sent them.
		expect([await heard(next), await heard(next)].sort()).toEqual([soon, busy].sort());
	});

	// Every event that a store published by SQL made every node ask for leases.
	test("events published by SQL make nodes ask for leases only once, and not if the project has a holder", async () => {
		const [free, held] = [await world.project(), await world.project()];
		await holder.acquireLeases({ holder: "holder", limit: 1, projectIds: [held] });
		const hints: string[] = [];
		let [heardAll, publishes] = [0, 0];
		holder.peers.subscribe((projectIds, unowned) => {
			for (const id of projectIds.filter((id) => id === free || id === held)) {
				heardAll++;
				if (unowned.includes(id)) hints.push(id);
			}
		});
		const next = ears(holder);
		await untilHeard(next);
		const data = `'{"order_id": "1", "customer_email": "a@example.com", "amount_cents": 1, "currency": "EUR", "items": []}'`;
		for (let n = 0; n < 3; n++)
			for (const id of [free, held]) {
				await server.execute(`SELECT posthorn.publish('${id}', 'purchase.completed', ${data})`, url);
				publishes++;
			}
		await until("all hints to arrive", () => heardAll === publishes);
		expect(hints).toEqual([free]);
	});

	test("a node whose connection broke is notified again later", async () => {
		const next = ears(holder);
		await untilHeard(next);
		const cut = await server.execute(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
			url,
		);
		expect(cut).toHaveLength(1);
		await untilHeard(next);
	});

	// The default is two hours. Behind a firewall that forgets idle connections, a node missed all hints for as long.
	test("the connection that listens is probed after half a minute without traffic", async () => {
		const probes = vi.spyOn(Socket.prototype, "setKeepAlive");
		try {
			const next = ears(await node());
			await untilHeard(next);
			expect(probes.mock.calls.length).toBeGreaterThan(0);
			for (const call of probes.mock.calls) expect(call).toEqual([true, 30_000]);
		} finally {
			probes.mockRestore();
		}
	});

	test("a node isn't notified of its own commits, nor at all once it has unsubscribed", async () => {
		const [project, other] = [await world.project(), await world.project()];
		const next = ears(holder);
		await untilHeard(next);
		let inVain = 0;
		holder.peers.subscribe(() => inVain++)();
		const events = [world.event(project, "a")];
		await holder.appendEvents({ requests: [{ projectId: project, publishedAt: 1, events }] });
		await world.publish(other, "a");
		expect(await heard(next)).toBe(other);
		expect(inVain).toBe(0);
	});

	test("a change is in force once the lease holder has acknowledged it or no longer holds the lease", async () => {
		const project = await world.project();
		const peers = world.storage.peers!;
		const revision = async () => (await peers.readMarks({ projectIds: [project, "proj_none"] })).get(project)!.revision;
		expect(await peers.isInForce({ projectId: project, revision: await revision() })).toBe(true);
		const [lease] = await holder.acquireLeases({ holder: "holder", limit: 1, projectIds: [project] });
		const { seen } = await holder.loadLanes({ projectId: project });
		expect(await peers.isInForce({ projectId: project, revision: seen.revision })).toBe(false);
		await holder.peers.acknowledge({ acknowledgements: [{ lease: lease!, revision: seen.revision }] });
		expect(await peers.isInForce({ projectId: project, revision: seen.revision })).toBe(true);
		await world.webhook(project, ["a"]);
		expect(await revision()).toBeGreaterThan(seen.revision);
		expect(await peers.isInForce({ projectId: project, revision: await revision() })).toBe(false);
		const stale = { ...lease!, generation: lease!.generation - 1 };
		await holder.peers.acknowledge({ acknowledgements: [{ lease: stale, revision: await revision() }] });
		expect(await peers.isInForce({ projectId: project, revision: await revision() })).toBe(false);
		await holder.releaseLease({ lease: lease!, wakeAt: null, seen });
		expect(await peers.isInForce({ projectId: project, revision: await revision() })).toBe(true);
		// The next holder has acknowledged nothing.
		await holder.acquireLeases({ holder: "holder", limit: 1, projectIds: [project] });
		expect(await peers.isInForce({ projectId: project, revision: seen.revision })).toBe(false);
	});
});

/** Listening connections, by their process on the server. */
const listening = async (server: PostgresServer, url: string): Promise<number[]> => {
	const rows = await server.execute(
		"SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
		url,
	);
	return rows.map(({ pid }) => pid as number);
};

/** All connections of the service. */
const connections = (server: PostgresServer) =>
	server.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'posthorn'");

describe("a read-only server", () => {
	let server: PostgresServer;
	let proxy: PostgresProxy;
	let storage: PostgresStorage;

	beforeEach(async () => {
		server = await PostgresServer.start({ own: true });
		const url = await server.createDatabase();
		proxy = await PostgresProxy.start(url);
		storage = await openPostgresStorage({ url: proxy.url(url), clock: { now: () => Date.now() }, leaseTermMs: 60_000 });
		storage.peers.subscribe(() => {});
		await until("the node to listen", async () => (await listening(server, url)).length > 0);
	});
	afterEach(async () => {
		await proxy.close();
		await storage.close();
		await server.stop();
	});

	test("if listening is impossible, repeated tries leave no connections open", async () => {
		const standby = await server.standby();
		try {
			proxy.retarget(standby.url);
			// It may have found the primary again before the standby was up.
			proxy.cut("broken");
			proxy.heal();
			const before = proxy.accepted;
			// One is made each second.
			await until("four more connections", () => proxy.accepted >= before + 4);
			expect((await connections(standby)).length).toBeLessThanOrEqual(1);
		} finally {
			proxy.cut("broken");
			await standby.stop();
		}
	});
});

test("closing completes even if the network is silently gone", async () => {
	const server = await PostgresServer.start();
	const url = await server.createDatabase();
	const sockets: Socket[] = [];
	// A side that ends leaves the other half open, which isn't noticed while nothing is passed on.
	const network = createServer({ allowHalfOpen: true }, (near) => {
		const far = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
		for (const socket of [near, far]) sockets.push(socket.on("error", () => socket.destroy()));
		near.pipe(far).pipe(near);
	});
	await once(network.listen(0, "127.0.0.1"), "listening");
	const via = new URL(url);
	via.port = String((network.address() as AddressInfo).port);
	try {
		const storage = await openPostgresStorage({ url: via.href, clock: { now: () => Date.now() }, leaseTermMs: 60_000 });
		storage.peers.subscribe(() => {});
		await until("the node to listen", async () => (await listening(server, url)).length > 0);
		for (const socket of sockets) socket.unpipe().pause();
		await storage.close();
	} finally {
		for (const socket of sockets) socket.destroy();
		network.close();
		await server.dropDatabase(url);
		await server.stop();
	}
});
