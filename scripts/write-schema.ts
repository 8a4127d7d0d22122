/**
 * Writes the PostgreSQL engine's schema as created by the migrations: packages/server/src/storage/postgres/schema.sql.
 * With `--check` it writes nothing and fails if the file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { migratePostgres } from "@posthorn/server/storage/postgres";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { dumpSchema } from "./schema-dump.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FILE = fileURLToPath(new URL("../packages/server/src/storage/postgres/schema.sql", import.meta.url));
const COMMAND = "npx node scripts/write-schema.ts";
const HEAD = `-- The schema as all migrations together make it, without the tables of single days.
-- Written by \`${COMMAND}\`: change it by adding a migration.

`;

const server = await PostgresServer.start();
try {
	const url = await server.createDatabase();
	await migratePostgres(url);
	const text = HEAD + (await dumpSchema(url));
	await server.dropDatabase(url);
	const name = relative(ROOT, FILE);
	if (!process.argv.includes("--check")) {
		writeFileSync(FILE, text);
		console.log(`Written: ${name}`);
	} else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== text) {
		console.error(`${name} doesn't match the migrations: run ${COMMAND}.`);
		process.exitCode = 1;
	}
} finally {
	await server.stop();
}
