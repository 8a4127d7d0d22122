import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../testkit/src/postgres.ts";
import { World } from "../conformance/world.ts";
import { openPostgresStorage, type PostgresStorage } from "./index.ts";

describe("hearing of other nodes", { timeout: 30_000 }, () => {
	let server: PostgresServer;
	let url: string;
	const nodes: PostgresStorage[] = [];
	let world: World;
	let holder: PostgresStorage;

	beforeAll(async () => {
		server = await PostgresServer.start();
	}, START_TIMEOUT_MS);
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		const publisher = await node();
		holder = await node();
		world = await World.open({
			name: "PostgreSQL",
			capabilities: { manyNodes: true },
			leaseTermMs: 60_000,
			open: () => Promise.resolve(publisher),
			reopen: () => Promise.reject(new Error("not here")),
			dispose: () => Promise.resolve(),
		});
	});
	afterEach(async () => {
		await Promise.all(nodes.splice(0).map((storage) => storage.close()));
		await server.dropDatabase(url);
	});

	async function node(): Promise<PostgresStorage> {
		const storage = await openPostgresStorage({ url, clock: { now: () => Date.now() }, leaseTermMs: 60_000 });
		nodes.push(storage);
		return storage;
	}

	/** What a node hears, project by project. */
	function ears(storage: PostgresStorage): () => Promise<string> {
		const heard: string[] = [];
		let waiting: (() => void) | null = null;
		storage.neighbours.subscribe((projectIds) => {
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

	/** Publishes until the node listens, and goes on behind the last of it: whatever was done before has been heard. */
	async function untilHeard(next: () => Promise<string>): Promise<void> {
		const [knock, marker] = [await world.project(), await world.project()];
		let isHeard = false;
		const heard = (async () => {
			while ((await next()) !== knock);
			isHeard = true;
		})();
		while (!isHeard) await world.publish(knock, "a");
		await heard;
		await world.publish(marker, "a");
		while ((await next()) !== marker);
	}

	test("a node hears of events, replays, tests and changes that another one commits", async () => {
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const [event] = await world.publish(project, "a");
		await world.finish(await world.lease(project), webhook, event!, "failed");
		const { createdAtGiven: _, ...sample } = world.event(project, "a");
		const changes = [
			() => world.publish(project, "a"),
			() => world.storage.replayDelivery(project, webhook, event!.id, 1),
			() => world.storage.appendTestEvent(project, webhook, sample),
			() => world.storage.updateWebhook(project, webhook, { maxInFlight: 2 }),
			() => world.storage.deleteWebhook(project, webhook),
		];
		const next = ears(holder);
		for (const change of changes) {
			await untilHeard(next);
			await change();
			expect(await next(), String(change)).toBe(project);
		}
	});

	test("a node whose connection broke hears again later", async () => {
		const next = ears(holder);
		await untilHeard(next);
		const cut = await server.execute(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()",
		);
		expect(cut).toHaveLength(1);
		await untilHeard(next);
	});

	test("what a node commits itself is no hint to it, and who has ended it hears nothing", async () => {
		const [project, other] = [await world.project(), await world.project()];
		const next = ears(holder);
		await untilHeard(next);
		let inVain = 0;
		holder.neighbours.subscribe(() => inVain++)();
		const events = [world.event(project, "a")];
		await holder.appendEvents([{ projectId: project, publishedAt: 1, events }]);
		await world.publish(other, "a");
		expect(await next()).toBe(other);
		expect(inVain).toBe(0);
	});

	test("a change is in force once the holder of the lease acknowledged it, or holds it no longer", async () => {
		const project = await world.project();
		const neighbours = world.storage.neighbours!;
		const revision = async () => (await neighbours.readMarks([project, "proj_none"])).get(project)!.revision;
		expect(await neighbours.isInForce(project, await revision())).toBe(true);
		const [lease] = await holder.acquireLeases("holder", 1, [project]);
		const { seen } = await holder.loadLanes(project);
		expect(await neighbours.isInForce(project, seen.revision)).toBe(false);
		await holder.neighbours.acknowledge([{ lease: lease!, revision: seen.revision }]);
		expect(await neighbours.isInForce(project, seen.revision)).toBe(true);
		await world.webhook(project, ["a"]);
		expect(await revision()).toBeGreaterThan(seen.revision);
		expect(await neighbours.isInForce(project, await revision())).toBe(false);
		const stale = { ...lease!, generation: lease!.generation - 1 };
		await holder.neighbours.acknowledge([{ lease: stale, revision: await revision() }]);
		expect(await neighbours.isInForce(project, await revision())).toBe(false);
		await holder.releaseLease(lease!, null, seen);
		expect(await neighbours.isInForce(project, await revision())).toBe(true);
		// Who takes it next has acknowledged nothing.
		await holder.acquireLeases("holder", 1, [project]);
		expect(await neighbours.isInForce(project, seen.revision)).toBe(false);
	});
});
