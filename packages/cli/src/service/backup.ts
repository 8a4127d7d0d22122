import { statSync } from "node:fs";
import { readConfig } from "@posthorn/server/config";
import { backupSqlite } from "@posthorn/server/storage/sqlite";
import { note, printJson } from "../client/output.ts";
import { UsageError } from "../command-error.ts";

/** `posthorn backup FILE`: copies the database to a new file, even while the service runs. */
export async function backup(
	file: string,
	options: { readonly databaseUrl?: string; readonly json?: boolean },
): Promise<void> {
	const flags = options.databaseUrl === undefined ? {} : { database: options.databaseUrl };
	const result = readConfig({ env: process.env, flags });
	if (!result.ok) throw new UsageError(result.faults);
	const { database, sealKeyFile } = result.config;
	if (database.engine !== "sqlite")
		throw new UsageError(["posthorn backup copies SQLite databases; for PostgreSQL use pg_dump."]);
	const begun = performance.now();
	await backupSqlite(database.path, file);
	const { size } = statSync(file);
	const seconds = (performance.now() - begun) / 1000;
	if (options.json) printJson({ database: database.path, file, bytes: size, seconds: Number(seconds.toFixed(3)) });
	else
		console.log(
			`Copied ${database.path} to ${file}: ${(size / 1024 / 1024).toFixed(1)} MB in ${seconds.toFixed(1)} s.`,
		);
	if (sealKeyFile && !result.config.sealKey)
		note(
			`The copy does not contain the seal key. Store a copy of ${sealKeyFile} separately: without it the backup cannot sign.`,
		);
}
