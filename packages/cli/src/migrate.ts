import { readConfig } from "@posthorn/server/config";
import { migratePostgres } from "@posthorn/server/storage/postgres";
import { UsageError } from "./command-error.ts";

/** `posthorn migrate`: brings the schema up to date ahead of an upgrade. Nodes that run go on. */
export async function migrate(options: { readonly databaseUrl?: string }): Promise<void> {
	const flags = options.databaseUrl === undefined ? {} : { database: options.databaseUrl };
	const result = readConfig({ env: process.env, flags });
	if (!result.ok) throw new UsageError(result.faults);
	const { database } = result.config;
	if (database.engine !== "postgres")
		throw new UsageError(["posthorn migrate is for PostgreSQL; SQLite databases are brought up to date at the start."]);
	await migratePostgres(database.url);
	console.log("The schema is up to date.");
}
