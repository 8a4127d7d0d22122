import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgresStorage } from "../src/storage/postgres/index.ts";
import { EngineRig, LEASE_TERM_MS, type RigDatabase } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";
import { describeNodes } from "./nodes-suite.ts";
import { giveDatabaseBack, takeDatabase } from "./storage/postgres/databases.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

async function createDatabase(): Promise<RigDatabase & { readonly url: string }> {
	const url = await takeDatabase(server);
	return {
		url,
		open: (clock) => openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true }),
		remove: () => giveDatabaseBack(server, url),
	};
}

describeNodes("PostgreSQL", createDatabase);

test("a node notices that the log went back at its next read, and sends later events", async () => {
	const database = await createDatabase();
	const storage = new FaultyStorage();
	await using rig = await EngineRig.start(database, storage.wrap);
	const other = await database.open(rig.clock);
	const { url } = await rig.webhook("a");
	const before = await rig.publishAll(5);
	await rig.settledCount(5);
	// As if the last three had never existed.
	await server.execute(
		`BEGIN;
		DELETE FROM posthorn.attempts WHERE seq > 2;
		DELETE FROM posthorn.events WHERE seq > 2;
		UPDATE posthorn.logs SET last_seq = 2;
		UPDATE posthorn.lanes SET position = 2;
		COMMIT`,
		database.url,
	);
	await storage.pass(rig.clock, 2_000);
	const events = before.slice(0, 2).map(() => {
		const id = rig.ids.next("event");
		const body = Buffer.from(`{"id":"${id}"}`);
		return { id, type: "delivery.success", createdAt: rig.clock.now(), createdAtGiven: false, body };
	});
	await other.appendEvents({ requests: [{ projectId: rig.projectId, publishedAt: rig.clock.now(), events }] });
	await other.close();
	await storage.pass(rig.clock, 2_000);
	await rig.settledCount(7);
	expect(rig.sender.to(url)).toEqual([...before, ...events.map(({ id }) => id)]);
});
