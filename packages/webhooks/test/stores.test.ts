import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { until } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InboxStore, Store } from "../src/index.ts";
import { memoryStore } from "../src/index.ts";
import { postgresStore } from "../src/stores/postgres.ts";
import { redisStore } from "../src/stores/redis.ts";
import { sqliteStore } from "../src/stores/sqlite.ts";
import { hasRedis, startRedis } from "./redis.fixture.ts";

const LONG_MS = 60_000;
const SHORT_MS = 1;
/** The keys of 2,500 events, as the start of a query in both dialects. */
const OLD_EVENTS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) SELECT 'old' || i";

const folder = mkdtempSync(join(tmpdir(), "posthorn-stores-"));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
afterAll(async () => {
	for (const end of ends.reverse()) await end();
});

/** Opens one more connection to the same store, as another process would. */
type Open<S> = () => S;

function sqlite(): Open<InboxStore> {
	return () => {
		const database = new DatabaseSync(join(folder, "events.db"), { timeout: 10_000 });
		ends.push(() => database.close());
		return sqliteStore(database);
	};
}

async function postgres(): Promise<Open<InboxStore>> {
	const server = await PostgresServer.start();
	ends.push(() => server.stop());
	const connectionString = await server.createDatabase();
	return () => {
		const pool = new pg.Pool({ connectionString });
		ends.push(() => pool.end());
		return postgresStore(pool);
	};
}

async function redis(): Promise<Open<Store>> {
	const { send, stop } = await startRedis();
	ends.push(stop);
	const shapes = [
		send,
		{ sendCommand: send },
		// As ioredis: its own `sendCommand` takes an object.
		{
			call: (command: string, ...args: string[]) => send([command, ...args]),
			sendCommand: () => Promise.reject(new Error("not this one")),
		},
	];
	let opened = 0;
	return () => redisStore(shapes[opened++ % shapes.length]!);
}

it.each<[string, (client: never) => Store, readonly unknown[]]>([
	["sqliteStore needs an open database", sqliteStore, [undefined, "webhooks.db", {}]],
	["postgresStore needs a pool", postgresStore, [undefined, "postgres://localhost/shop", {}]],
	["redisStore needs a client", redisStore, [undefined, null, "redis://localhost", {}]],
])("%s", (message, store, clients) => {
	for (const client of clients) expect(() => store(client as never)).toThrow(message);
});

// Redis refused to store that an event was done, so it was handled again; the others forgot it immediately or never.
// With a large number, PostgreSQL refused every claim.
it.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY, 1e7, "31"])("no store keeps events for %s days", (days) => {
	const options = { keepDays: days as number };
	const database = new DatabaseSync(":memory:");
	const pool = { query: async () => ({ rows: [] }) };
	for (const open of [
		() => sqliteStore(database, options),
		() => postgresStore(pool, options),
		() => redisStore(async () => null, options),
	])
		expect(open).toThrow(new RangeError(`keepDays is ${days}; give a number of days above 0, at most 1000000.`));
	database.close();
});

const memory = memoryStore();
const STORES: readonly { name: string; open: () => Open<Store> | Promise<Open<Store>>; isHere?: boolean }[] = [
	{ name: "memory", open: () => () => memory },
	{ name: "SQLite", open: sqlite },
	{ name: "PostgreSQL", open: postgres },
	{ name: "Redis", open: redis, isHere: hasRedis },
];

for (const { name, open, isHere = true } of STORES) {
	describe.skipIf(!isHere)(`the ${name} store`, () => {
		let mine: Store;
		let theirs: Store;
		beforeAll(async () => {
			const another = await open();
			mine = another();
			theirs = another();
		});

		it("gives an event to one of many that claim it concurrently", async () => {
			const claims = await Promise.all(
				Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? mine : theirs).claim("many", `t${i}`, LONG_MS)),
			);
			expect(claims.toSorted()).toEqual(["claimed", ...Array.from({ length: 9 }, () => "in_progress")]);
		});

		it("holds a claim until it is finished, and remembers that", async () => {
			expect(await mine.claim("finished", "a", LONG_MS)).toBe("claimed");
			expect(await theirs.claim("finished", "b", LONG_MS)).toBe("in_progress");
			expect(await mine.finish("finished", "a")).toBe(true);
			expect(await theirs.claim("finished", "b", LONG_MS)).toBe("done");
		});

		it("lets another claim what was released, or after the delay", async () => {
			await mine.claim("released", "a", LONG_MS);
			await mine.release("released", "a", 0);
			expect(await theirs.claim("released", "b", LONG_MS)).toBe("claimed");
			await theirs.release("released", "b", LONG_MS);
			expect(await mine.claim("released", "c", LONG_MS)).toBe("in_progress");
		});

		it("lets another claim what was left behind, and ignores its former holder", async () => {
			await mine.claim("left", "dead", SHORT_MS);
			await until("the lease's end", async () => (await theirs.claim("left", "next", LONG_MS)) === "claimed");
			expect(await mine.renew("left", "dead", LONG_MS)).toBe(false);
			expect(await mine.finish("left", "dead")).toBe(false);
			await mine.release("left", "dead", 0);
			expect(await mine.claim("left", "third", LONG_MS)).toBe("in_progress");
			expect(await theirs.finish("left", "next")).toBe(true);
		});

		it("extends a claim, and never one that is finished", async () => {
			await mine.claim("renewed", "a", SHORT_MS);
			if (await mine.renew("renewed", "a", LONG_MS)) {
				expect(await theirs.claim("renewed", "b", LONG_MS)).toBe("in_progress");
			} else {
				// Redis forgets an expired claim; it can be taken again.
				expect(await theirs.claim("renewed", "a", LONG_MS)).toBe("claimed");
			}
			await mine.finish("renewed", "a");
			expect(await mine.renew("renewed", "a", SHORT_MS)).toBe(false);
			expect(await theirs.claim("renewed", "b", LONG_MS)).toBe("done");
		});

		it("finishes work that outlasted its claim, if no other has begun", async () => {
			await mine.claim("outlasted", "a", SHORT_MS);
			const now = performance.now();
			await until("the lease's end", () => performance.now() > now + 2 * SHORT_MS);
			expect(await mine.finish("outlasted", "a")).toBe(true);
			expect(await theirs.claim("outlasted", "b", LONG_MS)).toBe("done");
		});
	});
}

const INBOXES: readonly { name: string; open: () => Open<InboxStore> | Promise<Open<InboxStore>> }[] = [
	{
		name: "SQLite",
		open: () => {
			const database = new DatabaseSync(join(folder, "inbox.db"));
			ends.push(() => database.close());
			return () => sqliteStore(database, { table: "inbox" });
		},
	},
	{ name: "PostgreSQL", open: postgres },
];

for (const { name, open } of INBOXES) {
	describe(`the ${name} inbox`, () => {
		let store: InboxStore;
		beforeAll(async () => {
			store = (await open())();
		});

		it("keeps events in order until they are done, and knows them afterwards", async () => {
			expect(await store.put("1", "first")).toBe(true);
			expect(await store.put("2", "second")).toBe(true);
			expect(await store.put("1", "again")).toBe(false);
			expect(await store.next("a", LONG_MS)).toEqual({ key: "1", body: "first", tries: 1 });
			expect(await store.next("b", LONG_MS)).toEqual({ key: "2", body: "second", tries: 1 });
			expect(await store.next("c", LONG_MS)).toBeUndefined();
			await store.release("2", "b", 0);
			expect(await store.next("c", LONG_MS)).toEqual({ key: "2", body: "second", tries: 2 });
			await store.finish("2", "c");
			expect(await store.put("2", "again")).toBe(false);
			await store.finish("1", "a");
			expect(await store.next("d", LONG_MS)).toBeUndefined();
		});

		// A receiver that became an inbox acknowledged the retries of events that it had failed to handle, and lost them.
		it("takes over what a receiver without an inbox has begun and not finished", async () => {
			for (const key of ["failed", "finished"]) await store.claim(key, "receiver", LONG_MS);
			for (const key of ["failed", "finished"]) expect(await store.put(key, key)).toBe(true);
			expect(await store.next("early", LONG_MS)).toBeUndefined();
			await store.release("failed", "receiver", 0);
			expect(await store.finish("finished", "receiver")).toBe(true);
			expect(await store.put("finished", "again")).toBe(false);
			expect(await store.next("a", LONG_MS)).toEqual({ key: "failed", body: "failed", tries: 1 });
			expect(await store.put("failed", "again")).toBe(false);
			expect(await store.finish("failed", "a")).toBe(true);
			expect(await store.next("b", LONG_MS)).toBeUndefined();
		});

		it("offers an event again when its holder died", async () => {
			await store.put("left", "body");
			await store.next("dead", SHORT_MS);
			const entry = await until("the lease's end", () => store.next("next", LONG_MS));
			expect(entry).toEqual({ key: "left", body: "body", tries: 2 });
		});
	});
}

describe("the table", () => {
	it("is created once by many that start concurrently", async () => {
		const another = await postgres();
		const claims = await Promise.all(Array.from({ length: 5 }, (_, i) => another().claim("first", `t${i}`, LONG_MS)));
		expect(claims.filter((claim) => claim === "claimed")).toHaveLength(1);
	});

	it("loses finished events once they are old, and no others", async () => {
		let now = 1_000_000_000_000;
		const database = new DatabaseSync(":memory:");
		const store = sqliteStore(database, { keepDays: 2, now: () => now });
		await store.claim("old", "a", LONG_MS);
		await store.finish("old", "a");
		await store.put("waiting", "body");
		now += 3 * 86_400_000;
		expect(await store.claim("new", "b", LONG_MS)).toBe("claimed");
		expect(await store.claim("old", "c", LONG_MS)).toBe("claimed");
		expect(await store.put("waiting", "body")).toBe(false);
		database.close();
	});

	// At most a thousand were deleted per minute, so with more events than that, the table kept growing.
	it("loses all old events in SQLite within a few claims, however many there are", async () => {
		const database = new DatabaseSync(":memory:");
		const store = sqliteStore(database);
		database.exec(`INSERT INTO posthorn_events (key, due, done) ${OLD_EVENTS}, 0, 1 FROM n`);
		for (let i = 0; i < 3; i++) await store.claim(`new${i}`, "a", LONG_MS);
		expect(database.prepare("SELECT count(*) AS count FROM posthorn_events").get()).toEqual({ count: 3 });
		database.close();
	});

	it("loses all old events in PostgreSQL within a few claims, however many there are", async () => {
		const server = await PostgresServer.start();
		const pool = new pg.Pool({ connectionString: await server.createDatabase() });
		const store = postgresStore(pool);
		// Its first call creates the table.
		await store.renew("none", "a", LONG_MS);
		await pool.query(`INSERT INTO posthorn_events (key, due, done) ${OLD_EVENTS}, timestamptz 'epoch', true FROM n`);
		for (let i = 0; i < 3; i++) await store.claim(`new${i}`, "a", LONG_MS);
		expect((await pool.query("SELECT count(*)::integer AS count FROM posthorn_events")).rows).toEqual([{ count: 3 }]);
		await pool.end();
		await server.stop();
	});

	// `new DatabaseSync(path)` waits for no other connection: of two processes, one failed to claim, or to finish, an event.
	it.each([
		[{}, 5_000],
		[{ timeout: 70 }, 70],
	])("waits in SQLite, with %j, for another process that writes", (options, timeout) => {
		const database = new DatabaseSync(":memory:", options);
		sqliteStore(database);
		expect(database.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout });
		database.close();
	});

	it("can be one of a connection that returns integers as BigInt", async () => {
		const database = new DatabaseSync(":memory:", { readBigInts: true });
		const store = sqliteStore(database);
		await store.put("key", "body");
		expect(await store.next("a", LONG_MS)).toEqual({ key: "key", body: "body", tries: 1 });
		expect(await store.finish("key", "a")).toBe(true);
		expect(await store.claim("key", "b", LONG_MS)).toBe("done");
		database.close();
	});

	it.each(["main.events", "attached.events"])("can be %s in SQLite", async (table) => {
		const database = new DatabaseSync(":memory:");
		database.exec("ATTACH ':memory:' AS attached");
		const [mine, theirs] = [sqliteStore(database, { table }), sqliteStore(database, { table })];
		expect(await mine.claim("key", "a", LONG_MS)).toBe("claimed");
		expect(await theirs.claim("key", "b", LONG_MS)).toBe("in_progress");
		const [schema] = table.split(".");
		const indexes = database.prepare(`SELECT name FROM ${schema}.sqlite_schema WHERE sql LIKE 'CREATE INDEX%'`).all();
		expect(indexes).toHaveLength(2);
		database.close();
	});

	it.each(["events; DROP TABLE x", 'a"b', "", "a.b.c", "1a"])("can't be called %j", (table) => {
		const database = new DatabaseSync(":memory:");
		expect(() => sqliteStore(database, { table })).toThrow(RangeError);
		expect(() => postgresStore({ query: async () => ({ rows: [] }) }, { table })).toThrow(RangeError);
		database.close();
	});
});
