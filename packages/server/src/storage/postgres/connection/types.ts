import { textArray } from "./literals.ts";
import type { NameCache } from "./name-cache.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

const FIND = sql("SELECT code, name FROM posthorn.event_types WHERE name = ANY ($1::text[])");
const ADD = sql("INSERT INTO posthorn.event_types (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING");

/** The code of an event type that {@link internTypes} has seen to before. */
export function typeCode(names: NameCache, name: string): number {
	const code = names.types.get(name);
	if (code === undefined) throw new Error(`Event type ${name} was not given a code before it was used.`);
	return code;
}

/** The codes of those of these event types that any row ever had. */
export async function findTypes(c: Session, names: Iterable<string>): Promise<number[]> {
	const wanted = [...new Set(names)];
	await lookUp(c, wanted);
	return wanted.map((name) => c.names.types.get(name)).filter((code) => code !== undefined);
}

/** Gives every one of these event types a code. Not within a transaction that might not be committed. */
export async function internTypes(c: Session, names: Iterable<string>): Promise<void> {
	const wanted = [...new Set(names)];
	if (await lookUp(c, wanted)) return;
	// Nodes that add the same ones at once do so in one order: each would wait for what the other has added.
	const unknown = wanted.filter((name) => !c.names.types.has(name)).sort();
	await c.run(ADD, textArray(unknown));
	if (!(await lookUp(c, wanted))) throw new Error("Event types were not there right after they were added.");
}

/** Whether all of them have a code. */
async function lookUp(c: Session, wanted: readonly string[]): Promise<boolean> {
	const unknown = wanted.filter((name) => !c.names.types.has(name));
	if (unknown.length === 0) return true;
	const rows = await c.rows<{ code: number; name: string }>(FIND, textArray(unknown));
	for (const { code, name } of rows) c.names.types.set(name, code);
	return rows.length === unknown.length;
}
