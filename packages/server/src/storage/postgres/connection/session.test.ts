import { once } from "node:events";
import { Pool, type PoolClient } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { BoundedMap } from "../../../base/collections.ts";
import { isPartitionMissing } from "./errors.ts";
import { NameCache, named } from "./names.ts";
import { idArray, numberArray, Session, sql, textArray } from "./session.ts";
import { connectionConfig } from "./session-settings.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

/**
 * An attempt for a missing day should create the day and be settled; that depended on which of two results came first.
 */
test("an aborted transaction rejects with its failed statement's error, not with its commit's", async () => {
	const url = await server.createDatabase();
	const pool = new Pool({ ...connectionConfig(url), pipeline: true });
	const client = await pool.connect();
	await client.query("CREATE TABLE public.attempts (n integer) PARTITION BY RANGE (n)");
	const c = new Session(client, new NameCache());
	await c.command("BEGIN");
	const [missing, later, commit] = await Promise.allSettled([
		c.run(sql("INSERT INTO public.attempts VALUES ($1::integer)"), 1),
		c.run(sql("SELECT $1::integer"), 1),
		c.commit(),
	]);
	expect([missing.status, later.status]).toEqual(["rejected", "rejected"]);
	expect(commit).toMatchObject({ reason: (missing as PromiseRejectedResult).reason });
	expect(isPartitionMissing((commit as PromiseRejectedResult).reason)).toBe(true);
	client.release();
	const ended = once(client, "end");
	await pool.end();
	await ended;
	await server.dropDatabase(url);
});

test("parameters have numbers or names, and one without a value is refused", async () => {
	const sent: unknown[] = [];
	const query = async (statement: unknown) => {
		sent.push(statement);
		return { rows: [] };
	};
	const client = { query } as unknown as PoolClient;
	const c = new Session(client, new NameCache());
	const named = sql("SELECT $to::text, $from::text, $to");
	await c.rows(sql("SELECT $1::text, $2::text, $1"), "a", "b");
	await c.rows(named, { from: "b", unused: 1, to: "a" });
	const [numbers, names] = sent;
	expect(names).toEqual(numbers);
	expect(names).toMatchObject({ text: "SELECT $1::text, $2::text, $1", values: ["a", "b"] });
	await c.rows(named, { from: null, to: "a" });
	await expect(c.rows(named, { to: "a" })).rejects.toThrow("parameter from has no value");
});

/** How PostgreSQL reads an array literal in this format. */
async function read(literal: string, type: string): Promise<unknown> {
	const [row] = await server.execute(`SELECT to_json($posthorn$${literal}$posthorn$::${type}[]) AS value`, server.url);
	return row!.value;
}

test("numbers are read back as written, including integers of any size and NULL", async () => {
	const numbers = [0, -1, null, 42, 2 ** 53 - 1, -(2 ** 53), 1_767_225_600_123];
	expect(await read(numberArray(numbers), "bigint")).toEqual(numbers);
	expect(await read(numberArray([]), "bigint")).toEqual([]);
	expect(await read(numberArray([null]), "integer")).toEqual([null]);
});

test("ids are read back as written", async () => {
	const ids = ["01jd0000000000000000000000", "0000000000000000000000null", "7zzzzzzzzzzzzzzzzzzzzzzzzz"];
	expect(await read(idArray(ids), "text")).toEqual(ids);
	expect(await read(idArray([]), "text")).toEqual([]);
});

test("texts with any content are read back as written", async () => {
	const texts = [
		"",
		"NULL",
		"null",
		null,
		'a "quoted" one',
		"back\\slash",
		"{a,b}",
		" around ",
		"new\nline",
		"ü\u{1f600}",
		"\\n",
	];
	expect(await read(textArray(texts), "text")).toEqual(texts);
});

test("a name that a newer one pushes out of the cache is known until the rows are read", async () => {
	const names = {
		webhookIds: new BoundedMap<number, string>(1).set(1, "wh_1"),
		typeNames: new BoundedMap<number, string>(1).set(1, "a"),
	};
	const session = { names, rows: async () => [{ no: 2, name: "wh_2" }] } as unknown as Session;
	const rows = [1, 2].map((webhook_no) => ({ webhook_no, type: 1 }));
	const read = await named(session, 1, rows);
	expect(read.rows.map(read.names)).toEqual([
		{ webhookId: "wh_1", eventType: "a" },
		{ webhookId: "wh_2", eventType: "a" },
	]);
	expect(names.webhookIds.has(1)).toBe(false);
});
