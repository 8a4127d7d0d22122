import { resolve } from "node:path";
import type { Config } from "@posthorn/server/config";
import { examineBackup } from "@posthorn/server/doctor";
import { restoreSqlite } from "@posthorn/server/storage/sqlite";
import { confirm } from "../client/confirm.ts";
import { note, printJson } from "../client/output.ts";
import { StartRefused, UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { isThere } from "../is-there.ts";
import { findingErrorLine } from "./finding-line.ts";

export interface RestoreOptions {
	readonly databaseUrl?: string;
	readonly yes?: boolean;
	readonly json?: boolean;
}

const NEXT =
	"It is in quarantine: start the service, which sends nothing yet, review with posthorn quarantine, then run posthorn release.";

/**
 * `posthorn restore [FILE]`: replaces the database with a copy of the backup, or takes over a restored PostgreSQL
 * database. Either way nothing is sent until an operator releases it.
 */
export async function restore(file: string | undefined, { databaseUrl, yes, json }: RestoreOptions): Promise<void> {
	const config = configOf({ databaseUrl });
	const done =
		config.database.engine === "sqlite" ? await restoreFile(config, file, yes) : await takeOver(config, file);
	const backupAt = done.backupAt === null ? null : new Date(done.backupAt).toISOString();
	if (json) {
		printJson({ database: done.database, backup_at: backupAt, replaced: done.replaced, quarantine: true });
		return;
	}
	const asOf = backupAt === null ? "" : `, as of about ${backupAt.slice(0, 16).replace("T", " ")} UTC`;
	console.log(`${done.message}${asOf}.`);
	if (done.replaced !== null) console.log(`The previous database is kept as ${done.replaced}.`);
	console.log(NEXT);
}

interface Restored {
	/** Its path, or "postgres". */
	readonly database: string;
	/** The first sentence for people, without its end. */
	readonly message: string;
	readonly backupAt: number | null;
	readonly replaced: string | null;
}

async function restoreFile(config: Config, file: string | undefined, yes: boolean | undefined): Promise<Restored> {
	if (file === undefined) throw new UsageError(["Which backup? Name its file, such as: posthorn restore backup.db"]);
	if (config.database.engine !== "sqlite") throw new Error("restoreFile is for SQLite.");
	const path = resolve(config.database.path);
	if (!isThere(file)) throw new UsageError([`There is no backup at ${file}.`]);
	const seal = examineBackup(config, file);
	if (seal.state === "fault") throw new StartRefused([findingErrorLine(seal)], true);
	const question = `Replace the database ${path}? It is kept under another name.`;
	if (isThere(path)) await confirm(question, yes);
	const { replaced, backupAt } = await restoreSqlite(file, path);
	return { database: path, message: `Restored ${file} to ${path}`, backupAt, replaced };
}

/** The backup is restored with PostgreSQL's own tools; only the mark is missing. */
async function takeOver(config: Config, file: string | undefined): Promise<Restored> {
	if (config.database.engine !== "postgres") throw new Error("takeOver is for PostgreSQL.");
	if (file !== undefined)
		throw new UsageError([
			"PostgreSQL restores its backups itself, such as with pg_restore. Do that first, then run posthorn restore without a file.",
		]);
	const { quarantinePostgres } = await import("@posthorn/server/storage/postgres");
	const { backupAt } = await quarantinePostgres(config.database.url);
	note("If this database was not restored, posthorn release ends the quarantine.");
	return { database: "postgres", message: "The PostgreSQL database is marked as restored", backupAt, replaced: null };
}
