/** `posthorn logs list`: the newest attempts. */
import { connect } from "../connection.ts";
import { parseLimit } from "../limit.ts";
import { note } from "../output.ts";
import { filterOf, type LogOptions, newest } from "./attempts.ts";
import { printer } from "./rows.ts";

/** The newest attempts, oldest of them first. */
export async function listLogs(options: LogOptions): Promise<void> {
	const filter = filterOf(options);
	const limit = parseLimit(options.limit ?? "50");
	const connection = await connect(options);
	const found = await newest(connection, filter, limit);
	await printer(connection, options.json === true)(found.reverse());
	if (found.length > 0 || options.json) return;
	const hint = options.status === "failed" ? " Those that will be retried have the status retrying." : "";
	note(`No attempts found.${hint}`);
}
