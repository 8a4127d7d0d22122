import { PostgresProxy } from "@posthorn/testkit";
import { Client } from "pg";
import { expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { LEASE_TERM_MS, openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import { BoundedMap } from "../../../base/collections.ts";
import type { NewEvent } from "../../port.ts";
import { Database } from "../connection/database.ts";
import { Hosts } from "../connection/servers.ts";
import { connectionConfig } from "../connection/session-settings.ts";
import { appendEvents } from "./append.ts";

// A caller that gets "new" bills the customer or notifies them again.
test("an event that existed before is repeated, even in a call whose commit got no response", async () => {
	await using server = await PostgresServer.start();
	const url = await server.createDatabase();
	await using proxy = await PostgresProxy.start(url);
	const world = await worldOf((clock) => openNode(proxy.url(url), clock));
	const project = await world.project();
	const before = world.event(project, "a");
	const publish = async (...events: NewEvent[]) => {
		const [result] = await world.storage.appendEvents({
			requests: [{ projectId: project, publishedAt: world.clock.now(), events }],
		});
		if (result!.kind !== "appended") throw new Error(`Publishing ended as ${result!.kind}.`);
		return result!.events.map(({ seq, repeated }) => [seq, repeated]);
	};
	expect(await publish(before)).toEqual([[1, false]]);
	world.clock.time += 1_000;
	let lost = 0;
	proxy.onCommit = (statements) => {
		if (lost > 0 || !statements.some((text) => text.includes("posthorn.events"))) return "pass";
		lost += 1;
		return "lose_answer";
	};
	expect(await publish(before, world.event(project, "a"))).toEqual([
		[1, true],
		[2, false],
	]);
	expect(lost).toBe(1);
	await world.dispose();
});

// An event reported as repeated isn't handed to the lanes, which would read it later.
test("an event whose commit got no response is new for its own call, and repeated for the next", async () => {
	await using server = await PostgresServer.start();
	const url = await server.createDatabase();
	await using proxy = await PostgresProxy.start(url);
	const world = await worldOf((clock) => openNode(proxy.url(url), clock));
	const project = await world.project();
	await world.publish(project, "a");
	let lost = 0;
	proxy.onCommit = (statements) => {
		if (lost > 0 || !statements.some((text) => text.includes("posthorn.events"))) return "pass";
		lost += 1;
		return "lose_answer";
	};
	const events = [world.event(project, "a"), world.event(project, "a")];
	const request = { projectId: project, publishedAt: world.clock.now(), events };
	const publish = async () => {
		const [result] = await world.storage.appendEvents({ requests: [request] });
		if (result!.kind !== "appended") throw new Error(`Publishing ended as ${result!.kind}.`);
		return result!.events.map(({ seq, repeated }) => [seq, repeated]);
	};
	expect(await publish()).toEqual([
		[2, false],
		[3, false],
	]);
	expect(lost).toBe(1);
	expect(await publish()).toEqual([
		[2, true],
		[3, true],
	]);
	expect((await world.log(project)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
	await world.dispose();
});

// A store's own default, for transactions of the store in the same database, made publishing fail.
test.each(["repeatable read", "serializable"])(
	"a type that others add concurrently is published where transactions are %s by default",
	async (level) => {
		await using server = await PostgresServer.start();
		const url = await server.createDatabase();
		const name = new URL(url).pathname.slice(1);
		await server.execute(`ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`);
		const world = await worldOf((clock) => openNode(url, clock));
		const project = await world.project();
		const other = new Client({ connectionString: url });
		await other.connect();
		await other.query("BEGIN");
		await other.query("INSERT INTO posthorn.event_types (name) VALUES ('new')");
		const published = world.publish(project, "new");
		const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
		await until("the node to wait for the type", async () => (await server.execute(waiting, url)).length === 1);
		await Promise.all([other.query("COMMIT"), published]);
		expect((await world.log(project)).map(({ type }) => type)).toEqual(["new"]);
		await other.end();
		await world.dispose();
	},
);

// The cache forgot one project while the other one was looked up, so the first was said not to exist.
test("events of more projects than are cached are appended in one call", async () => {
	await using server = await PostgresServer.start();
	const url = await server.createDatabase();
	const world = await worldOf((clock) => openNode(url, clock));
	const requests = [await world.project(), await world.project()].map((projectId) => {
		return { projectId, publishedAt: world.clock.now(), events: [world.event(projectId, "a")] };
	});
	const hosts = new Hosts(url);
	const options = { hosts, configFor: connectionConfig, observer: {}, leaseTermMs: LEASE_TERM_MS, now: () => null };
	const database = await Database.open(options);
	const results = await database.run((connections) => {
		Object.assign(connections.names, { projects: new BoundedMap<string, number>(1) });
		return appendEvents(connections, { requests });
	});
	expect(results.map(({ kind }) => kind)).toEqual(["appended", "appended"]);
	await database.close();
	await world.dispose();
});
