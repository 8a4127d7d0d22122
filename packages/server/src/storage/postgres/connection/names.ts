import { CACHED_NAMES } from "../../../base/budgets.ts";
import { BoundedMap } from "../../../base/collections.ts";
import { type Session, sql, textArray } from "./session.ts";

/** Cached numbers of names. Within an epoch, a number never changes its name. */
export class NameCache {
	readonly projects = new BoundedMap<string, number>(CACHED_NAMES);
	/** The ids of the projects above. */
	readonly projectIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly webhooks = new BoundedMap<string, { readonly no: number; readonly projectNo: number }>(CACHED_NAMES);
	readonly types = new BoundedMap<string, number>(CACHED_NAMES);
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
