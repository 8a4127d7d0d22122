/**
 * Checks everything the service depends on, from where it would run, and says how to fix each fault. Changes nothing,
 * and can run alongside the service.
 */
import type { Config } from "../config/index.ts";
import { examineAddress, examineDashboard, examineEgress, examineFiles, type Finding } from "./local.ts";
import { examineReceiver } from "./receiver.ts";
import { examineSqlite } from "./sqlite.ts";

export { adviceAtStart, examineDashboard, type Finding } from "./local.ts";
export { examineBackup } from "./sqlite.ts";

/** @param receivers URLs of receivers to connect to as well */
export async function examine(config: Config, receivers: readonly URL[] = []): Promise<Finding[]> {
	const files = examineFiles();
	// All others would fail for want of files, and blame something else.
	if (files.state === "fault") return [files];
	const findings = await Promise.all([
		examineNeeds(config),
		files,
		examineAddress(config),
		examineEgress(config),
		examineDashboard(config),
		...receivers.map((url) => examineReceiver(url, config)),
	]);
	return findings.flat();
}

/**
 * Checks what the service can't run without: open files, the database and its seal key. `posthorn serve` runs these
 * checks first and refuses to start on a fault; `posthorn doctor` reports the same. They take milliseconds and query only
 * the database.
 */
export async function examineNeeds(config: Config): Promise<Finding[]> {
	const { database } = config;
	const files = examineFiles();
	if (files.state === "fault") return [files];
	if (database.engine === "sqlite") return await examineSqlite(database.path, config);
	// Imported on demand, to save its memory on SQLite.
	const { examineServer } = await import("./postgres.ts");
	return await examineServer(database.url, config);
}
