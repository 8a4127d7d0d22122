import { readFileSync } from "node:fs";

/** A table or an index of the current schema. */
export interface SchemaPart {
	/** Without the schema's name. */
	readonly name: string;
	/** The statement that creates an index again; null for a table, whose rows would be lost. */
	readonly statement: string | null;
}

/** A table's name, an index, or a key and its columns, each on its own line. */
const PART =
	/^CREATE TABLE posthorn\.(?<table>\w+) |^(?<create>CREATE (?:UNIQUE )?INDEX (?<index>\w+) ON )(?:ONLY )?(?<on>.*;)$|^\tCONSTRAINT (?<key>\w+) (?<columns>(?:PRIMARY KEY|UNIQUE) .*?),?$/gm;

/** All tables and indexes, in the order of `schema.sql`: a table before its indexes. */
export function readSchemaParts(): SchemaPart[] {
	const text = readFileSync(new URL("../schema.sql", import.meta.url), "utf8");
	let of = "";
	return Array.from(text.matchAll(PART), ({ groups }) => {
		const { table, create, index, on, key, columns } = groups!;
		if (table !== undefined) {
			of = table;
			return { name: table, statement: null };
		}
		if (index !== undefined) return { name: index, statement: `${create}${on}` };
		return { name: key!, statement: `ALTER TABLE posthorn.${of} ADD CONSTRAINT ${key} ${columns};` };
	});
}
