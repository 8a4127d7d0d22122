import { CURRENCIES, EVENT_TYPES, type EventTypeEntry, isEventType, type JsonSchema } from "@posthorn/protocol";
import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { createAjv } from "../../base/schemas.ts";
import type { EventDraft, EventFault } from "../engine.ts";
import { type Fields, fieldsOf, lexicalFaults } from "./lexical.ts";

/** How far a publisher's clock may be ahead of ours, milliseconds. */
export const MAX_AHEAD_MS = 300_000;

/** The checks for data of one type. */
interface Check {
	/** Finds all faults of the fields themselves, which are few. */
	readonly fields: ValidateFunction;
	/** Finds the first fault of the whole data, since lists may contain very many. */
	readonly whole: ValidateFunction;
	/** The fields whose notation is checked. */
	readonly written: Fields;
}

const every = createAjv({ allErrors: true, strict: false });
const first = createAjv({ strict: false });

/** Types whose data is checked against the catalogue's schema; data of the others may be any object. */
const strictTypes = new Map(
	EVENT_TYPES.filter(({ strict }) => strict).map(({ type, schema }) => [type as string, schema]),
);
const checks = new Map<string, Check>();

/** Compiled at first use; undefined if any object is valid. */
function checkOf(type: string): Check | undefined {
	const schema = strictTypes.get(type);
	if (schema === undefined || checks.has(type)) return checks.get(type);
	const fields = every.compile(withoutElements(schema));
	const check = { fields, whole: first.compile(schema), written: fieldsOf(schema) };
	checks.set(type, check);
	return check;
}

type Fault = Omit<EventFault, "index">;

/**
 * The faults of an event; none if it may be published. Its data is known to be a JSON object.
 *
 * @param now milliseconds since the Unix epoch
 */
export function faultsOf({ type, data, createdAt }: EventDraft, now: number): Fault[] {
	if (!isEventType(type)) {
		const detail = `is not a known event type: ${JSON.stringify(type)}. GET /v1/event-types lists them`;
		return [{ pointer: "/type", detail }];
	}
	const faults = dataFaults(type, data);
	if (createdAt !== undefined && createdAt > now + MAX_AHEAD_MS)
		faults.push({ pointer: "/created_at", detail: "is in the future: at most 5 minutes ahead of the service's clock" });
	return faults;
}

function dataFaults(type: string, data: string): Fault[] {
	const check = checkOf(type);
	if (!check) return [];
	const value = JSON.parse(data) as Readonly<Record<string, unknown>>;
	const errors = check.fields(value) ? (check.whole(value) ? [] : check.whole.errors) : check.fields.errors;
	const faults = (errors ?? []).map(describe);
	const { currency } = value;
	if (typeof currency === "string" && !CURRENCIES.has(currency))
		faults.unshift({ pointer: "/data/currency", detail: "is not the code of a currency in ISO 4217, such as EUR" });
	for (const { pointer, detail } of lexicalFaults(data, check.written))
		faults.unshift({ pointer: `/data${pointer}`, detail });
	const told = new Set<string>();
	return faults.filter(({ pointer }) => !told.has(pointer) && told.add(pointer));
}

function describe(error: ErrorObject): Fault {
	if (error.keyword === "required")
		return { pointer: `/data${error.instancePath}/${error.params.missingProperty}`, detail: "is missing" };
	return { pointer: `/data${error.instancePath}`, detail: error.message ?? "is not valid" };
}

/** The schema without its rules for list elements. */
function withoutElements(schema: EventTypeEntry["schema"]): JsonSchema {
	const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
		const { items: _, ...rest } = property;
		return [name, rest];
	});
	return { ...schema, properties: Object.fromEntries(properties) };
}
