/** JSON whose numbers are written as they were read. */

declare global {
	/** ECMAScript's proposal "JSON.parse source text access", which the compiler's library lacks. */
	interface JSON {
		parse(
			text: string,
			reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
		): unknown;
		rawJSON(text: string): object;
		isRawJSON(value: unknown): boolean;
	}
}

/**
 * Parses JSON so that JSON.stringify writes each number as it was. JavaScript's numbers would change integers beyond
 * 2^53; a number that would be changed becomes an object, for which {@link isContainer} is false.
 *
 * @throws SyntaxError if it isn't JSON
 */
export const parseExactly = (text: string): unknown =>
	JSON.parse(text, (_key, value, { source }) =>
		typeof value === "number" && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
	);

/** Whether a value that {@link parseExactly} returned is an object or a list. */
export const isContainer = (value: unknown): value is object =>
	typeof value === "object" && value !== null && !JSON.isRawJSON(value);
