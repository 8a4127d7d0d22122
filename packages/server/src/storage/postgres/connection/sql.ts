import { createHash } from "node:crypto";

/** A statement that a connection prepares the first time it runs it, and knows by its name from then on. */
export interface Statement {
	readonly name: string;
	readonly text: string;
}

/** The name is made from the text, so the same text is the same statement. Values are `$1`, `$2` … */
export function sql(text: string): Statement {
	return { name: `posthorn_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`, text };
}
