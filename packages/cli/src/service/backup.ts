import { statSync } from "node:fs";
import { resolve } from "node:path";
import { backupSqlite } from "@posthorn/server/storage/sqlite";
import { note, printJson } from "../client/output.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { isThere } from "../is-there.ts";

/** `posthorn backup FILE`: copies the database to a new file, even while the service runs. */
export async function backup(
	file: string,
	options: { readonly databaseUrl?: string; readonly json?: boolean },
): Promise<void> {
	const { database, sealKeys, sealKeyFile } = configOf({ databaseUrl: options.databaseUrl });
	if (database.engine !== "sqlite")
		throw new UsageError(["posthorn backup copies SQLite databases; for PostgreSQL use pg_dump."]);
	if (!isThere(database.path))
		throw new CommandError(
			[
				`There is no database at ${resolve(database.path)}: run this in the service's folder, or name its database with`,
				"--database-url or POSTHORN_DATABASE_URL.",
			],
			1,
		);
	const begun = performance.now();
	await backupSqlite(database.path, file);
	const { size } = statSync(file);
	const seconds = (performance.now() - begun) / 1000;
	if (options.json) printJson({ database: database.path, file, bytes: size, seconds: Number(seconds.toFixed(3)) });
	else
		console.log(
			`Copied ${database.path} to ${file}: ${(size / 1024 / 1024).toFixed(1)} MB in ${seconds.toFixed(1)} s.`,
		);
	if (sealKeyFile && !sealKeys)
		note(
			`The copy does not contain the seal key. Store a copy of ${sealKeyFile} separately: without it the backup cannot sign.`,
		);
}
