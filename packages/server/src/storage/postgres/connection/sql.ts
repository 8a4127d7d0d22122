import { createHash } from "node:crypto";

/** A statement that a connection prepares on first use and then runs by name. */
export interface Statement {
	readonly name: string;
	readonly text: string;
}

/** The name is derived from the text, so equal texts are one statement. Values are `$1`, `$2` … */
export function sql(text: string): Statement {
	return { name: `posthorn_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`, text };
}
