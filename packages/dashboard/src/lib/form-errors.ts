interface Fault {
	readonly pointer: string;
	readonly detail: string;
}

/**
 * The faults of an answer by the field they are about: the first member of each JSON Pointer (RFC 6901); the first fault
 * of a field counts. Faults of the whole body are under the empty name.
 */
export function faultsByField(faults: readonly Fault[]): Record<string, string> {
	const fields: Record<string, string> = {};
	for (const { pointer, detail } of faults) {
		const name = (pointer.replace(/^[/?]/, "").split("/")[0] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
		fields[name] ??= detail;
	}
	return fields;
}
