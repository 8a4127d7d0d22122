/**
 * Checks what JSON.parse can't report: how a value is written. `data` is delivered character for character. Readers
 * with typed numbers reject `100.0` and `1e2` for an integer, lose digits beyond 2^53, and disagree about which of two
 * members with the same name counts.
 */
import { eachElement, eachMember, type JsonSchema } from "@posthorn/protocol";

export interface LexicalFault {
	/** Relative to the value that was checked. */
	readonly pointer: string;
	readonly detail: string;
}

/** The fields of a schema, by name. */
export type Fields = ReadonlyMap<string, Field>;

interface Field {
	/** Whether its value must be an integer. */
	readonly integer: boolean;
	/** Fields of the objects in its list, if it is a list. */
	readonly elements: Fields;
}

const INTEGER = /^-?\d+$/;
const OPEN_BRACE = 0x7b;

/** The fields of an object schema, and those of its lists' elements. */
export function fieldsOf(schema: JsonSchema): Fields {
	const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
	return new Map(
		Object.entries(properties).map(([name, property]) => {
			const kinds = (property.anyOf ?? [property]) as readonly JsonSchema[];
			const integer = kinds.some(({ type }) => type === "integer");
			return [name, { integer, elements: fieldsOf((property.items ?? {}) as JsonSchema) }];
		}),
	);
}

/** Faults in how the fields of this JSON object are written. For each list, only its first wrong element. */
export function lexicalFaults(text: string, fields: Fields): LexicalFault[] {
	return objectFaults(text, text.search(/\S/), fields, "");
}

function objectFaults(text: string, at: number, fields: Fields, pointer: string): LexicalFault[] {
	const faults: LexicalFault[] = [];
	const seen = new Set<string>();
	const repeated = new Set<string>();
	eachMember(text, at, (name, start, end) => {
		const field = fields.get(name);
		if (field === undefined || repeated.has(name)) return;
		const place = `${pointer}/${name}`;
		if (seen.has(name)) {
			repeated.add(name);
			faults.push({ pointer: place, detail: "is given more than once" });
			return;
		}
		seen.add(name);
		const detail = field.integer ? integerFault(text, start, end) : null;
		if (detail !== null) faults.push({ pointer: place, detail });
		if (field.elements.size > 0) faults.push(...elementFaults(text, start, field.elements, place));
	});
	return faults;
}

function elementFaults(text: string, at: number, fields: Fields, pointer: string): LexicalFault[] {
	let faults: LexicalFault[] = [];
	eachElement(text, at, (index, start) => {
		if (text.charCodeAt(start) === OPEN_BRACE) faults = objectFaults(text, start, fields, `${pointer}/${index}`);
		return faults.length > 0;
	});
	return faults;
}

/** Null for an integer that is exactly representable, and for anything that isn't a number. */
function integerFault(text: string, start: number, end: number): string | null {
	const first = text[start]!;
	if (first !== "-" && !(first >= "0" && first <= "9")) return null;
	const literal = text.slice(start, end);
	if (!INTEGER.test(literal)) return "must be an integer, written without a fraction or an exponent";
	if (!Number.isSafeInteger(Number(literal)))
		return "must be at most 2^53 - 1 in size: JSON readers do not keep larger integers exactly";
	return null;
}
