import type { Config } from "../config/index.ts";
import type { Finding } from "./finding.ts";
import { examineSqlite } from "./sqlite.ts";

/**
 * Checks what the service can't run without: the database and its seal key. `posthorn serve` runs these checks first and
 * refuses to start on a fault; `posthorn doctor` reports the same. They take milliseconds and query only the database.
 */
export async function examineNeeds(config: Config): Promise<Finding[]> {
	const { database } = config;
	if (database.engine === "sqlite") return await examineSqlite(database.path, config);
	// Imported on demand, to save its memory on SQLite.
	const { examineServer } = await import("./postgres.ts");
	return await examineServer(database.url, config);
}
