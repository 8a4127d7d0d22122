import { EVENT_TYPES, type EventTypeEntry, isEventType, type JsonSchema } from "@posthorn/protocol";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { createAjv } from "../../base/schemas.ts";
import type { EventDraft, EventFault } from "../engine.ts";

/** Faults that are told of at most: nobody reads more, and data may hold a hundred thousand. */
const MAX_FAULTS = 100;

/** What data of one type is checked against. */
interface Check {
	/** All faults of the fields themselves, which are few. */
	readonly fields: ValidateFunction;
	/** The whole, to its first fault: lists may hold very many. */
	readonly whole: ValidateFunction;
}

const every = createAjv({ allErrors: true, strict: false });
const first = createAjv({ strict: false });

/** The types whose data is checked against the catalogue's schema; the data of the others is any object. */
const checks = new Map<string, Check>();
for (const { strict, type, schema } of EVENT_TYPES)
	if (strict) checks.set(type, { fields: every.compile(withoutElements(schema)), whole: first.compile(schema) });

/** What is wrong with these events; nothing if they may be published. Their data is known to be JSON objects. */
export function faultsOf(drafts: readonly EventDraft[]): EventFault[] {
	const faults: EventFault[] = [];
	for (const [index, draft] of drafts.entries()) {
		for (const fault of faultsOfOne(draft)) faults.push({ index, ...fault });
		if (faults.length >= MAX_FAULTS) break;
	}
	return faults.slice(0, MAX_FAULTS);
}

function faultsOfOne({ type, data }: EventDraft): Omit<EventFault, "index">[] {
	if (!isEventType(type)) {
		const detail = `is not a known event type: ${JSON.stringify(type)}. GET /v1/event-types lists them`;
		return [{ pointer: "/type", detail }];
	}
	const check = checks.get(type);
	if (!check) return [];
	const value: unknown = JSON.parse(data);
	const errors = check.fields(value) ? (check.whole(value) ? [] : check.whole.errors) : check.fields.errors;
	return (errors ?? []).map(describe);
}

function describe(error: ErrorObject): Omit<EventFault, "index"> {
	if (error.keyword === "required")
		return { pointer: `/data${error.instancePath}/${error.params.missingProperty}`, detail: "is missing" };
	return { pointer: `/data${error.instancePath}`, detail: error.message ?? "is not valid" };
}

/** The schema without what it says of the elements of lists. */
function withoutElements(schema: EventTypeEntry["schema"]): JsonSchema {
	const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
		const { items: _, ...rest } = property;
		return [name, rest];
	});
	return { ...schema, properties: Object.fromEntries(properties) };
}
