import { readConfig } from "@posthorn/server/config";
import { migratePostgres } from "@posthorn/server/storage/postgres";
import { printJson } from "../client/output.ts";
import { UsageError } from "../command-error.ts";

/** `posthorn migrate`: migrates the schema ahead of an upgrade, while nodes keep running. */
export async function migrate(options: { readonly databaseUrl?: string; readonly json?: boolean }): Promise<void> {
	const flags = options.databaseUrl === undefined ? {} : { database: options.databaseUrl };
	const result = readConfig({ env: process.env, flags });
	if (!result.ok) throw new UsageError(result.faults);
	const { database } = result.config;
	if (database.engine !== "postgres")
		throw new UsageError(["posthorn migrate is for PostgreSQL; SQLite databases are migrated at startup."]);
	await migratePostgres(database.url);
	if (options.json) printJson({ schema: "up to date" });
	else console.log("The schema is up to date.");
}
