/**
 * Finds the rows that change with every event: a project's in `logs`, and a webhook's in `lanes`. Every statement that
 * runs for each event uses it; plans.test.ts lists the verbs that needn't.
 *
 * While a transaction with an old snapshot is open, such as a dump or a report, PostgreSQL keeps all versions of a row.
 * A search for its key passes each of them, which takes milliseconds after some ten thousand events. So these rows have
 * a `stretch`, which rises every 256 events and is indexed after the key. A search starts at the newest stretch, and
 * passes at most the versions of that one. An update finds the row by its `ctid`, see `log_end` in log/append.ts.
 * It may lag, because nodes of the previous release don't change it. Only speed depends on it.
 *
 * Decision 0070 explains why.
 */

/** The stretch of a row whose last event, or position, has this number. */
export const stretchOf = (seq: string): string => `(${seq}) >> 8`;

type HotTable = "logs" | "lanes";

const newest = (table: HotTable, key: string) => `FROM posthorn.${table} WHERE ${key} ORDER BY stretch DESC LIMIT 1`;

/** Without the lower bound, a search that skips a locked row would go on through all of its versions. */
const locked = (table: HotTable, key: string, mode: string) => `
	FROM posthorn.${table} WHERE ${key} AND stretch >= (SELECT stretch ${newest(table, key)})
	ORDER BY stretch DESC LIMIT 1 FOR NO KEY UPDATE ${mode}`;

/** Indexed as sums, which the primary key doesn't have: the planner would prefer it once it is the smaller index. */
const keyOfLog = (project: string) => `project_no + 0 = ${project}`;
const keyOfLane = (project: string, webhook: string) => `project_no + 0 = ${project} AND webhook_no + 0 = ${webhook}`;

/** The row of `logs` of this project: the end of a SELECT. */
export const newestLog = (project: string): string => newest("logs", keyOfLog(project));

/** The same, locked until the transaction ends. `mode` may be SKIP LOCKED. */
export const lockedLog = (project: string, mode = ""): string => locked("logs", keyOfLog(project), mode);

/** The row of `lanes` of this webhook: the end of a SELECT. None if it was deleted. */
export const newestLane = (project: string, webhook: string): string => newest("lanes", keyOfLane(project, webhook));

/** The same, locked until the transaction ends. `mode` may be SKIP LOCKED. */
export const lockedLane = (project: string, webhook: string, mode = ""): string =>
	locked("lanes", keyOfLane(project, webhook), mode);
