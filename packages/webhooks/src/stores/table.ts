/** The name of the table unless another is given. */
export const TABLE = "posthorn_events";
/** How often a claim checks for expired rows, and how many it deletes: few, so that it never takes long. */
export const PURGE_EVERY_MS = 60_000;
export const PURGE_ROWS = 1_000;

/** A table's name, possibly after a schema's, as a quoted identifier. Throws a RangeError for any other text. */
export function quotedTable(name: string): string {
	if (!/^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?$/.test(name)) {
		throw new RangeError(`"${name}" can't be the name of a table: use letters, digits and underscores.`);
	}
	return name
		.split(".")
		.map((part) => `"${part}"`)
		.join(".");
}
