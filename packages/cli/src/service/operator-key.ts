import { existsSync, rmSync } from "node:fs";
import { findOperatorKey, replaceOperatorKey } from "@posthorn/server/accounts";
import type { Config } from "@posthorn/server/config";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { confirm } from "../client/confirm.ts";
import { note, printJson } from "../client/output.ts";
import { CommandError, UsageError } from "../command-error.ts";
import { configOf } from "../flags.ts";
import { isThere } from "../is-there.ts";

export interface OperatorKeyOptions {
	readonly databaseUrl?: string;
	readonly yes?: boolean;
	readonly json?: boolean;
}

/** `posthorn operator-key --new`: replaces the operator's key, prints the new one, and stores its hash. */
export async function newOperatorKey({ databaseUrl, yes, json }: OperatorKeyOptions): Promise<void> {
	const config = configOf({ databaseUrl });
	if (config.operatorKey !== null)
		throw new UsageError([
			"POSTHORN_OPERATOR_KEY (or _FILE) is set, so the service takes the operator's key from there: change it there, then restart the service.",
		]);
	const storage = await open(config);
	try {
		const isReplaced = (await findOperatorKey(storage, null)) !== null;
		if (isReplaced) await confirm("Replace the operator's key? The current one will stop working.", yes);
		const key = await replaceOperatorKey(storage);
		if (json) printJson({ operator_key: key });
		else console.log(key);
		note(
			isReplaced
				? "This is the operator's new key. It is only shown now. The previous one no longer works."
				: "This is the operator's key. It is only shown now.",
		);
	} finally {
		await storage.close();
	}
	if (config.database.engine === "postgres") note("Running nodes use it within 5 seconds.");
	const { operatorKeyFile: file } = config;
	if (file !== null && existsSync(file)) {
		rmSync(file);
		note(`Deleted ${file}, which contained a previous key.`);
	}
}

async function open({ database }: Config) {
	const options = { clock: { now: Date.now } };
	if (database.engine === "postgres") {
		const { openPostgresStorage } = await import("@posthorn/server/storage/postgres");
		// Nodes of an earlier version may be running.
		return openPostgresStorage({ ...options, url: database.url, migrates: false });
	}
	const { path } = database;
	// A database without its seal key couldn't be used.
	if (!isThere(path))
		throw new UsageError([`The database ${path} doesn't exist. The first "posthorn serve" creates it, with a key.`]);
	try {
		return await openSqliteStorage({ ...options, path });
	} catch (error) {
		if ((error as { code?: unknown }).code !== "in_use") throw error;
		const advice =
			"Stop the service, run this command again, then start the service: a SQLite file belongs to one process.";
		throw new CommandError([(error as Error).message, advice], 1);
	}
}
