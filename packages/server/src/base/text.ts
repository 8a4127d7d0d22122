/**
 * Text that can be stored and shown: no control characters (C0, DEL and C1; NUL can't be stored in PostgreSQL). As a
 * JSON Schema pattern, written so that other regular expression engines read it the same way.
 */
export const TEXT_PATTERN = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

const TEXT = new RegExp(TEXT_PATTERN, "u");

/** Whether `text` has no control characters. */
export function isPrintable(text: string): boolean {
	return TEXT.test(text);
}
