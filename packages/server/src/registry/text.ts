import { isPrintable } from "../base/text.ts";

/** What is wrong with one field of what a person handed in. */
export interface Fault {
	/** Where: a JSON Pointer (RFC 6901) into what was handed in. */
	readonly pointer: string;
	/** What, and what to do; read after the field's name. */
	readonly detail: string;
}

/** Some fields are not acceptable; nothing was changed. */
export interface Invalid {
	readonly kind: "invalid";
	readonly faults: readonly Fault[];
}

/** What is wrong with a line of text that people read, such as a name; lengths count Unicode characters. */
export function textFaults(
	text: string,
	pointer: string,
	limits: { readonly min: number; readonly max: number },
): Fault[] {
	const faults: Fault[] = [];
	const fault = (detail: string) => faults.push({ pointer, detail });
	// A character takes two units at most: a text of more is too long without being counted.
	const length = text.length > 2 * limits.max ? text.length : [...text].length;
	if (length < limits.min) fault("must not be empty");
	if (length > limits.max) fault(`must have at most ${limits.max} characters`);
	if (!isPrintable(text)) fault("must not contain control characters, such as line breaks or tabs");
	if (!text.isWellFormed()) fault("must be valid Unicode; it contains half of a surrogate pair");
	return faults;
}
