import { sentence } from "./text/case.ts";

interface Fault {
	readonly pointer: string;
	readonly detail: string;
}

/**
 * A response's faults by field: the first member of each JSON Pointer (RFC 6901); a field's first fault counts, as a
 * sentence. Faults of the whole body are under the empty name.
 */
export function faultsByField(faults: readonly Fault[]): Record<string, string> {
	const fields: Record<string, string> = {};
	for (const { pointer, detail } of faults) {
		const name = (pointer.replace(/^[/?]/, "").split("/")[0] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
		fields[name] ??= sentence(detail);
	}
	return fields;
}
