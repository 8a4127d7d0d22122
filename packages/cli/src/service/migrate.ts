import { migratePostgres } from "@posthorn/server/storage/postgres";
import { printJson } from "../client/output.ts";
import { UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { reportWarnings } from "./warnings.ts";

/** `posthorn migrate`: migrates the schema ahead of an upgrade, while nodes keep running. */
export async function migrate(options: { readonly databaseUrl?: string; readonly json?: boolean }): Promise<void> {
	const { database } = configOf({ databaseUrl: options.databaseUrl });
	if (database.engine !== "postgres")
		throw new UsageError(["posthorn migrate is for PostgreSQL; SQLite databases are migrated at startup."]);
	reportWarnings(({ message }) => console.error(message));
	await migratePostgres(database.url);
	if (options.json) printJson({ schema: "up to date" });
	else console.log("The schema is up to date.");
}
