import { randomUUID } from "node:crypto";
import type { ClientBase } from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { unusedPort } from "../../../../../testkit/src/ports.ts";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { POOLS } from "../../../base/budgets.ts";
import { migratePostgres } from "../index.ts";
import { EpochMemory, joinEpoch } from "../leases/epochs.ts";
import { Connections } from "./connections.ts";
import { isOutOfConnections } from "./errors.ts";
import { Hosts } from "./servers.ts";
import { sql } from "./session.ts";
import { connectionConfig } from "./session-settings.ts";

let server: PostgresServer;
let url: string;
let epochs: EpochMemory;

beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
	url = await server.createDatabase();
	await migratePostgres(url);
	const joining = { memory: null, ends: new Map(), claims: () => [], claimed: 0, termMs: 1_000, now: null };
	const { epoch } = await joinEpoch(connectionConfig(url), joining, async () => undefined);
	epochs = new EpochMemory(epoch);
});

// Whichever of two results arrived first once decided whether a deadlock was retried and a read-only server left.
test("a transaction fails with its failed statement's error, even if a later statement's result arrives first", async () => {
	const connections = new Connections(connectionConfig(url), new Hosts(url), {}, epochs);
	const late = (error: unknown) => new Promise((_, reject) => setImmediate(() => reject(error)));
	const work = connections.transaction("people", async (c) => {
		const failing = c.run(sql("SELECT 1 / $1::integer"), 0).catch(late);
		await Promise.all([failing, c.run(sql("SELECT $1::integer"), 1)]);
	});
	await expect(work).rejects.toMatchObject({ code: "22012" });
	await connections.close();
});

// The session failed the statement until it ended, which under load is never.
test("a statement whose result has other types, since its table was altered, is prepared again", async () => {
	const connections = new Connections(connectionConfig(url), new Hosts(url), {}, epochs);
	await server.execute("CREATE TABLE public.altered (a integer); INSERT INTO public.altered VALUES (1)", url);
	const read = () => connections.read("people", (c) => c.rows(sql("SELECT a FROM public.altered")));
	expect(await read()).toEqual([{ a: 1 }]);
	await server.execute("ALTER TABLE public.altered ALTER a TYPE bigint", url);
	expect(await read()).toEqual([{ a: 1 }]);
	await connections.close();
});

/** The URL of a role that may have this many connections; it is dropped after the test. */
async function roleWith(connections: number): Promise<{ readonly role: string; readonly own: string }> {
	const role = `few_${randomUUID().replaceAll("-", "")}`;
	await server.execute(
		`CREATE ROLE ${role} LOGIN CONNECTION LIMIT ${connections}; GRANT USAGE ON SCHEMA posthorn TO ${role};
		GRANT SELECT ON ALL TABLES IN SCHEMA posthorn TO ${role}`,
		url,
	);
	onTestFinished(async () => {
		await server.execute(`DROP OWNED BY ${role}`, url);
		await server.execute(`DROP ROLE ${role}`);
	});
	return { role, own: Object.assign(new URL(url), { username: role }).href };
}

const nothing = async () => undefined;

// Calls of the API kept all connections, and used them again before they were idle for long enough to be closed. No
// outcome was committed, so all requests were repeated after the next start. With several servers, the reason was hidden
// by that of the last one.
test.for([1, 2])(
	"where connections are few, a use that gets none takes one that another doesn't need (%i hosts)",
	async (hosts) => {
		const { role, own: only } = await roleWith(4);
		const own = hosts === 1 ? only : only.replace(/(?<=:\d+)\//, `,127.0.0.1:${await unusedPort()}/`);
		const connections = new Connections(connectionConfig(only), new Hosts(own), {}, epochs);
		const ends: (() => void)[] = [];
		const busy = Array.from({ length: POOLS.people }, () =>
			connections.read("people", () => new Promise<void>((end) => ends.push(end))),
		);
		await until("all connections to be in use", () => ends.length === POOLS.people);
		expect(connections.isLimited).toBe(false);
		await expect(connections.transaction("settle", nothing)).rejects.toMatchObject({ code: "lost" });
		expect(connections.isLimited).toBe(true);
		for (const end of ends) end();
		await Promise.all(busy);
		await until("a connection to be left", async () => {
			const users = `SELECT FROM pg_stat_activity WHERE usename = '${role}'`;
			return (await server.execute(users, url)).length === 1;
		});
		// The server may count one that is no longer listed for a moment.
		await until("room for another connection", () =>
			connections.transaction("settle", nothing).then(
				() => true,
				(error: unknown) => {
					if (isOutOfConnections((error as Error).cause)) return false;
					throw error;
				},
			),
		);
		await connections.read("people", nothing);
		await connections.close();
	},
);

// Events were refused whenever a second connection for them could not be opened.
test("a call for which no connection can be opened waits for one of its use", async () => {
	const { own } = await roleWith(1);
	const connections = new Connections(connectionConfig(own), new Hosts(own), {}, epochs);
	const { promise: held, resolve: end } = Promise.withResolvers<void>();
	const begun = Promise.withResolvers<void>();
	const first = connections.read("publish", async () => {
		begun.resolve();
		await held;
	});
	await begun.promise;
	const second = connections.transaction("publish", nothing);
	await Promise.race([second, until("it to wait", () => connections.state.publish.waiting === 1)]);
	end();
	await Promise.all([first, second]);
	await connections.close();
});

// It was closed because another one was being opened, which failed too. Then others took the last connections.
test("where connections are few, a use keeps the one it has until another one is open", async () => {
	const { own } = await roleWith(2);
	const hooks: PromiseWithResolvers<void>[] = [];
	const onConnect = () => {
		const hook = Promise.withResolvers<void>();
		hooks.push(hook);
		return hook.promise;
	};
	const connections = new Connections({ ...connectionConfig(own), onConnect }, new Hosts(own), {}, epochs);
	const PID = sql("SELECT pg_backend_pid() AS pid");
	const { promise: held, resolve: end } = Promise.withResolvers<void>();
	const first = connections.read("people", async (c) => {
		const row = await c.row(PID);
		await held;
		return row;
	});
	await until("the first connection", () => hooks.length === 1);
	hooks[0]!.resolve();
	await until("it to be in use", () => connections.state.people.busy === 1);
	const second = Promise.allSettled([connections.read("people", nothing)]);
	await until("another one to be opened", () => hooks.length === 2);
	end();
	const row = await first;
	await expect(connections.transaction("settle", nothing)).rejects.toMatchObject({ code: "lost" });
	expect(await connections.read("people", (c) => c.row(PID))).toEqual(row);
	hooks[1]!.reject(new Error("broken"));
	await second;
	expect(await connections.read("people", (c) => c.row(PID))).toEqual(row);
	await connections.close();
});

/** Work that holds every connection of the engine's pool, each until its `end`. */
async function occupy(connections: Connections) {
	const begun = Promise.withResolvers<void>();
	let count = 0;
	const holds = Array.from({ length: POOLS.engine }, () => {
		const end = Promise.withResolvers<void>();
		const work = connections.transaction("engine", async () => {
			count += 1;
			if (count === POOLS.engine) begun.resolve();
			await end.promise;
		});
		return { end, work };
	});
	await Promise.race([begun.promise, Promise.all(holds.map(({ work }) => work))]);
	return holds;
}

// The pool lost it for good: after an outage a node had fewer connections than before, in the end none, until a
// restart; and it never finished closing its storage.
test("a connection is not lost when its caller stops waiting while it is being checked", async () => {
	let checked = Promise.resolve();
	class SlowCheck extends EpochMemory {
		override async check(client: ClientBase): Promise<void> {
			await checked;
			await super.check(client);
		}
	}
	const connections = new Connections(connectionConfig(url), new Hosts(url), {}, new SlowCheck(epochs.current));
	const [broken, ...others] = await occupy(connections);
	const gate = Promise.withResolvers<void>();
	checked = gate.promise;
	const next = Promise.allSettled([connections.read("engine", nothing)]);
	const last = connections.transaction("engine", nothing);
	// One breaks, so another is created and checked for the next caller; by the time the last caller has stopped waiting,
	// so has the next one.
	broken!.end.reject(Object.assign(new Error("broken"), { syscall: "read" }));
	await expect(broken!.work).rejects.toThrow("broken");
	await expect(last).rejects.toThrow("timeout exceeded when trying to connect");
	gate.resolve();
	await next;
	for (const { end } of others) end.resolve();
	for (const { end } of await occupy(connections)) end.resolve();
	await connections.close();
});
