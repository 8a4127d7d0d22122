/**
 * Headers as servers hand them over: `Headers` of the Fetch API, or an object with names in any case, such as Node's
 * `request.headers`.
 */
export type HeadersInput =
	| { get(name: string): string | null | undefined }
	| Readonly<Record<string, string | readonly string[] | undefined>>;

/** The header's values, none if it is missing or empty. `name` is in lower case. */
export function headerValues(headers: HeadersInput, name: string): readonly string[] {
	const values = isLookup(headers) ? [headers.get(name) ?? ""] : valuesOf(headers, name);
	// Servers join the values of a repeated header with commas, which no header of ours contains.
	return values.filter((value) => value !== "").flatMap((value) => value.split(","));
}

function isLookup(headers: HeadersInput): headers is { get(name: string): string | null | undefined } {
	return typeof headers.get === "function";
}

function valuesOf(
	headers: Readonly<Record<string, string | readonly string[] | undefined>>,
	name: string,
): readonly string[] {
	return Object.entries(headers)
		.filter(([given]) => given.toLowerCase() === name)
		.flatMap(([, value]) => value ?? []);
}
