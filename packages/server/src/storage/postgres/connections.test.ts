import { expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../testkit/src/postgres.ts";
import { connectionConfig } from "./connection.ts";
import { Connections } from "./connections.ts";
import { EpochMemory, joinEpoch } from "./epochs.ts";
import { Hosts } from "./hosts.ts";
import { migratePostgres } from "./index.ts";
import { sql } from "./sql.ts";

// Which of two answers was heard of first decided whether a deadlock was tried again and a read-only server left.
test(
	"a transaction fails as the statement that failed, also where one sent behind it is heard of first",
	async () => {
		await using server = await PostgresServer.start();
		const url = await server.createDatabase();
		await migratePostgres(url);
		const joining = { memory: null, ends: new Map(), claims: () => [], claimed: 0, termMs: 1_000, now: null };
		const { epoch } = await joinEpoch(connectionConfig(url), joining, async () => undefined);
		const connections = new Connections(connectionConfig(url), new Hosts(url), {}, new EpochMemory(epoch));
		const late = (error: unknown) => new Promise((_, reject) => setImmediate(() => reject(error)));
		const work = connections.transaction("people", async (c) => {
			const failing = c.run(sql("SELECT 1 / $1::integer"), 0).catch(late);
			await Promise.all([failing, c.run(sql("SELECT $1::integer"), 1)]);
		});
		await expect(work).rejects.toMatchObject({ code: "22012" });
		await connections.close();
	},
	START_TIMEOUT_MS,
);
