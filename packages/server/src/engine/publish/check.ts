import {
	CURRENCIES,
	type EventType,
	type EventTypeEntry,
	eachElement,
	eachMember,
	eventTypeEntry,
	isEventType,
	type JsonSchema,
} from "@posthorn/protocol";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { CURRENCY_DETAIL, createAjv, dataFaultsOf } from "../../base/schemas.ts";
import type { Fault } from "../../base/text.ts";
import type { EventDraft } from "../engine.ts";

/** How far a publisher's clock may be ahead of ours, milliseconds. */
export const MAX_AHEAD_MS = 300_000;

interface Check {
	/** Finds all faults of the fields themselves, which are few. */
	readonly fields: ValidateFunction;
	/** Finds the first fault of the whole data, since lists may contain very many. */
	readonly whole: ValidateFunction;
	/** The fields whose notation is checked. */
	readonly written: Fields;
}

const every = createAjv({ allErrors: true, strict: false, verbose: true });
const first = createAjv({ strict: false, verbose: true });

const checks = new Map<EventType, Check>();

/** Compiled at first use. */
function checkOf(type: EventType): Check {
	let check = checks.get(type);
	if (check === undefined) {
		const { schema } = eventTypeEntry(type);
		check = { fields: every.compile(withoutElements(schema)), whole: first.compile(schema), written: fieldsOf(schema) };
		checks.set(type, check);
	}
	return check;
}

/** The faults of an event, whose data is known to be a JSON object; none if it may be published. */
export function faultsOf({ type, data, createdAt }: EventDraft, now: number): Fault[] {
	if (!isEventType(type)) {
		const detail = `is not a known event type: ${JSON.stringify(type)}. GET /v1/event-types lists them`;
		return [{ pointer: "/type", detail }];
	}
	// Data of other types may be any object.
	const faults = eventTypeEntry(type).strict ? dataFaults(type, data) : [];
	if (createdAt !== undefined && createdAt > now + MAX_AHEAD_MS)
		faults.push({ pointer: "/created_at", detail: "is in the future: at most 5 minutes ahead of the service's clock" });
	return faults;
}

/** Where an event's data, a JSON object, differs from the catalogue's schema of its type, strict or not. */
export function dataFaults(type: string, data: string): Fault[] {
	if (!isEventType(type)) return [];
	const check = checkOf(type);
	const value = JSON.parse(data) as Readonly<Record<string, unknown>>;
	const errors = check.fields(value) ? (check.whole(value) ? [] : check.whole.errors) : check.fields.errors;
	const faults = dataFaultsOf(errors ?? []).map(({ pointer, detail }) => ({ pointer: `/data${pointer}`, detail }));
	const { currency } = value;
	if (typeof currency === "string" && !CURRENCIES.has(currency))
		faults.unshift({ pointer: "/data/currency", detail: CURRENCY_DETAIL });
	for (const { pointer, detail } of lexicalFaults(data, data.search(/\S/), check.written))
		faults.unshift({ pointer: `/data${pointer}`, detail });
	const listed = new Set<string>();
	return faults.filter(({ pointer }) => !listed.has(pointer) && listed.add(pointer));
}

/** The first fault of data that isn't written yet, by the catalogue's schema of its type. Pointers are relative to it. */
export function payloadFaults(type: EventType, data: object): Fault[] {
	const { whole } = checkOf(type);
	return whole(data) ? [] : dataFaultsOf(whole.errors ?? []);
}

/** The schema without its rules for list elements. */
function withoutElements(schema: EventTypeEntry["schema"]): JsonSchema {
	const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
		const { items: _, ...rest } = property;
		return [name, rest];
	});
	return { ...schema, properties: Object.fromEntries(properties) };
}

type Fields = ReadonlyMap<string, Field>;

interface Field {
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

/**
 * Faults in how the fields of the JSON object at this index are written, which JSON.parse can't report; for each list,
 * only its first wrong element. Data is delivered character for character, but readers with typed numbers reject `100.0`
 * and `1e2` for an integer, lose digits beyond 2^53, and disagree about which of two members with the same name counts.
 */
function lexicalFaults(text: string, at: number, fields: Fields, pointer = ""): Fault[] {
	const faults: Fault[] = [];
	const seen = new Set<string>();
	const repeated = new Set<string>();
	eachMember(text, at, (name, start, end) => {
		const field = fields.get(name);
		if (field === undefined || repeated.has(name)) return;
		const path = `${pointer}/${name}`;
		if (seen.has(name)) {
			repeated.add(name);
			faults.push({ pointer: path, detail: "is given more than once" });
			return;
		}
		seen.add(name);
		const detail = field.integer ? integerFault(text, start, end) : null;
		if (detail !== null) faults.push({ pointer: path, detail });
		if (field.elements.size > 0) faults.push(...elementFaults(text, start, field.elements, path));
	});
	return faults;
}

function elementFaults(text: string, at: number, fields: Fields, pointer: string): Fault[] {
	let faults: Fault[] = [];
	eachElement(text, at, (index, start) => {
		if (text.charCodeAt(start) === OPEN_BRACE) faults = lexicalFaults(text, start, fields, `${pointer}/${index}`);
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
