import { isPrintable } from "../base/text.ts";

/** A fault in one field of a request. */
export interface Fault {
	/** The field, as a JSON Pointer (RFC 6901) into the request. */
	readonly pointer: string;
	/** What is wrong and what to do; reads on from the field's name. */
	readonly detail: string;
}

/** Some fields are invalid; nothing was changed. */
export interface Invalid {
	readonly kind: "invalid";
	readonly faults: readonly Fault[];
}

/** The faults of a line of text for humans, such as a name; lengths count Unicode characters. */
export function textFaults(
	text: string,
	pointer: string,
	limits: { readonly min: number; readonly max: number },
): Fault[] {
	const faults: Fault[] = [];
	const fault = (detail: string) => faults.push({ pointer, detail });
	// A character takes at most two units, so a longer text needn't be counted.
	const length = text.length > 2 * limits.max ? text.length : [...text].length;
	if (length < limits.min) fault("must not be empty");
	if (length > limits.max) fault(`must have at most ${limits.max} characters`);
	if (!isPrintable(text)) fault("must not contain control characters, such as line breaks or tabs");
	if (!text.isWellFormed()) fault("must be valid Unicode; it contains half of a surrogate pair");
	return faults;
}
