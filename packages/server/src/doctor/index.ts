/**
 * Looks at what the service needs, from where it would run, and says what to mend. Changes nothing, and may run beside the
 * service.
 */
import type { Config } from "../config/index.ts";
import { examineDashboard } from "./dashboard.ts";
import { examineEgress } from "./egress.ts";
import type { Finding } from "./finding.ts";
import { examineServer } from "./postgres.ts";
import { examineReceiver } from "./receiver.ts";
import { examineSqlite } from "./sqlite.ts";

export type { Finding } from "./finding.ts";

/** @param receivers URLs of receivers that are to be reached, too */
export async function examine(config: Config, receivers: readonly URL[] = []): Promise<Finding[]> {
	const { database: where } = config;
	const database = where.engine === "sqlite" ? examineSqlite(where.path, config) : examineServer(where.url, config);
	const reached = receivers.map((url) => examineReceiver(url, config));
	return (await Promise.all([database, examineEgress(config), examineDashboard(config), ...reached])).flat();
}
