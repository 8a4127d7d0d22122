import { once } from "node:events";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../../testkit/src/postgres.ts";
import { connectionConfig } from "./connection.ts";
import { isPartitionMissing } from "./errors.ts";
import { NameCache } from "./names.ts";
import { Session } from "./session.ts";
import { sql } from "./sql.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
}, START_TIMEOUT_MS);
afterAll(() => server.stop());

/**
 * An attempt for a missing day should create the day and be settled; that depended on which of two results came first.
 */
test("an aborted transaction rejects with its failed statement's error, not with its commit's", async () => {
	const url = await server.createDatabase();
	const pool = new Pool({ ...connectionConfig(url), pipeline: true });
	const client = await pool.connect();
	await client.query("CREATE TABLE attempts (n integer) PARTITION BY RANGE (n)");
	const c = new Session(client, new NameCache());
	await c.command("BEGIN");
	const [missing, later, commit] = await Promise.allSettled([
		c.run(sql("INSERT INTO attempts VALUES ($1::integer)"), 1),
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
