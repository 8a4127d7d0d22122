/** The numbers that projects, webhooks and event types have in tables, by their names, and the other way round. */
import { CACHED_NAMES } from "../../../base/budgets.ts";
import { BoundedMap } from "../../../base/collections.ts";
import { numberArray, type Row, type Session, type Statement, sql, textArray } from "./session.ts";

/** Cached numbers of names, and names of numbers. Within an epoch, a number never changes its name. */
export class NameCache {
	readonly projects = new BoundedMap<string, number>(CACHED_NAMES);
	/** The ids of the projects above. */
	readonly projectIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly webhooks = new BoundedMap<string, { readonly no: number; readonly projectNo: number }>(CACHED_NAMES);
	readonly webhookIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly types = new BoundedMap<string, number>(CACHED_NAMES);
	readonly typeNames = new BoundedMap<number, string>(CACHED_NAMES);
	/** Whether the server {@link readsListsInOrder}; null if not known yet. */
	readsListsInOrder: boolean | null = null;
}

const IN_ORDER = sql("SELECT current_setting('server_version_num')::integer >= 170000 AS in_order");

/**
 * Whether one scan finds the rows of a list of values (`= ANY`) in the order of the index. Before version 17, a scan in
 * that order reads everything else, too, and PostgreSQL chooses it if it expects few rows.
 */
export async function readsListsInOrder(c: Session): Promise<boolean> {
	c.names.readsListsInOrder ??= (await c.row<{ in_order: boolean }>(IN_ORDER))!.in_order;
	return c.names.readsListsInOrder;
}

const FIND_PROJECT = sql("SELECT no FROM posthorn.projects WHERE id = $1");

/** The project's number, or null if it doesn't exist. */
export async function findProject(c: Session, projectId: string): Promise<number | null> {
	const known = c.names.projects.get(projectId);
	if (known !== undefined) return known;
	const row = await c.row<{ no: number }>(FIND_PROJECT, projectId);
	if (row === undefined) return null;
	c.names.projects.set(projectId, row.no);
	c.names.projectIds.set(row.no, projectId);
	return row.no;
}

const FIND_WEBHOOK = sql(`
	SELECT w.no, w.project_no FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.id = $2`);

/** The number of a webhook of this project, deleted or not; null if it doesn't exist. */
export async function findWebhook(c: Session, projectNo: number, webhookId: string): Promise<number | null> {
	const known = c.names.webhooks.get(webhookId);
	if (known !== undefined) return known.projectNo === projectNo ? known.no : null;
	const row = await c.row<{ no: number }>(FIND_WEBHOOK, projectNo, webhookId);
	if (row === undefined) return null;
	c.names.webhooks.set(webhookId, { no: row.no, projectNo });
	return row.no;
}

const FIND = sql("SELECT code, name FROM posthorn.event_types WHERE name = ANY ($1::text[])");
const ADD = sql("INSERT INTO posthorn.event_types (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING");

/** The code of an event type that {@link internTypes} has looked up before. */
export function typeCode(names: NameCache, name: string): number {
	const code = names.types.get(name);
	if (code === undefined) throw new Error(`Event type ${name} was used before it was given a code.`);
	return code;
}

/** The codes of these event types, without those never used. */
export async function findTypes(c: Session, names: Iterable<string>): Promise<number[]> {
	const wanted = [...new Set(names)];
	await lookUp(c, wanted);
	return wanted.map((name) => c.names.types.get(name)).filter((code) => code !== undefined);
}

/** Gives each of these event types a code. Don't call it in a transaction that might not commit. */
export async function internTypes(c: Session, names: Iterable<string>): Promise<void> {
	const wanted = [...new Set(names)];
	if (await lookUp(c, wanted)) return;
	// Nodes that add the same types concurrently use one order, so that they don't wait for each other.
	const unknown = wanted.filter((name) => !c.names.types.has(name)).sort();
	await c.run(ADD, textArray(unknown));
	if (!(await lookUp(c, wanted))) throw new Error("Event types were missing right after they were added.");
}

/** Whether all of them have a code. */
async function lookUp(c: Session, wanted: readonly string[]): Promise<boolean> {
	const unknown = wanted.filter((name) => !c.names.types.has(name));
	if (unknown.length === 0) return true;
	const rows = await c.rows<{ code: number; name: string }>(FIND, textArray(unknown));
	for (const { code, name } of rows) c.names.types.set(name, code);
	return rows.length === unknown.length;
}

const WEBHOOK_IDS = sql(
	"SELECT no, id AS name FROM posthorn.webhooks WHERE project_no = $1 AND no = ANY ($2::bigint[])",
);
const TYPE_NAMES = sql("SELECT code AS no, name FROM posthorn.event_types WHERE code = ANY ($1::integer[])");

/** The webhook and the event type of a row that has their numbers, `webhook_no` and `type`. */
export type Names = (row: Row) => { readonly webhookId: string; readonly eventType: string };

/**
 * Looks up the {@link Names} of these rows of a project, unless they are cached. Returns them with the rows, except those
 * of webhooks that have been deleted since the rows were read: retention deletes a webhook along with its last attempts.
 */
export async function named<R extends Row>(
	c: Session,
	projectNo: number,
	rows: readonly R[],
): Promise<{ readonly rows: R[]; readonly names: Names }> {
	const find = async (cache: Map<number, string>, column: string, statement: Statement, ...of: readonly number[]) => {
		const numbers = new Set(rows.map((row) => row[column] as number));
		const names = new Map([...numbers].map((no) => [no, cache.get(no)]));
		const unknown = [...numbers].filter((no) => names.get(no) === undefined);
		if (unknown.length === 0) return names;
		for (const { no, name } of await c.rows<{ no: number; name: string }>(statement, ...of, numberArray(unknown))) {
			cache.set(no, name);
			names.set(no, name);
		}
		return names;
	};
	const [webhookIds, types] = await Promise.all([
		find(c.names.webhookIds, "webhook_no", WEBHOOK_IDS, projectNo),
		find(c.names.typeNames, "type", TYPE_NAMES),
	]);
	const nameIn = (names: Map<number, string | undefined>, no: unknown): string => {
		const name = names.get(no as number);
		if (name === undefined) throw new Error(`The delivery log refers to number ${no}, which has no name.`);
		return name;
	};
	return {
		rows: rows.filter((row) => webhookIds.get(row.webhook_no as number) !== undefined),
		names: (row) => ({ webhookId: nameIn(webhookIds, row.webhook_no), eventType: nameIn(types, row.type) }),
	};
}
