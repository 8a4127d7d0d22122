import { createHash } from "node:crypto";

/** SHA-256 of what was reported: the same for the same values, in whatever order an object's members came. */
export function digestOf(report: unknown): Buffer {
	return createHash("sha256").update(canonical(report)).digest();
}

/** JSON with the members of every object in the order of their names; members that are undefined are left out. */
function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	const members = Object.entries(value)
		.filter(([, member]) => member !== undefined)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
	return `{${members.join(",")}}`;
}
