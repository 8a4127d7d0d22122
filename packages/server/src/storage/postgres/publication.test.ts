import { expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { runNativeVerbs } from "../../../test/storage/postgres/every-verb.ts";
import { migratePostgres } from "./index.ts";

// Deleting from a table without a replica identity was refused: counts weren't rolled up, and retention deleted nothing.
test("nodes work in a database whose changes a store publishes, such as for Debezium", async () => {
	const server = await PostgresServer.start();
	const url = await server.createDatabase();
	await migratePostgres(url);
	await server.execute("CREATE PUBLICATION everything FOR ALL TABLES", url);
	await runNativeVerbs(url, { sweeps: true });
	const unidentified = `
		SELECT c.relname AS name FROM pg_class c
		WHERE c.relnamespace = 'posthorn'::regnamespace AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
			AND c.relreplident <> 'f' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`;
	expect(await server.execute(unidentified, url)).toEqual([]);
	await server.dropDatabase(url);
	await server.stop();
});
