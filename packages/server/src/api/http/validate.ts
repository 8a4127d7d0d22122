import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { TSchema } from "typebox";
import { createAjv, detailOf } from "../../base/schemas.ts";
import type { Fault } from "../../base/text.ts";
import { MAX_FAULTS } from "./problem.ts";

/** The notation of times, as a JSON Schema pattern. Its groups are the parts of a time. */
export const TIME_PATTERN =
	"^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-5][0-9])(?:\\.([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$";
const ISO_TIME = new RegExp(TIME_PATTERN);

/** The years 0 to 9999, which fit four digits. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;
const MINUTE_MS = 60_000;

/**
 * An ISO 8601 time with its zone (`Z` or an offset), such as `2026-11-21T03:47:36.123Z`, as milliseconds since the Unix
 * epoch; null for anything else, including dates and hours that don't exist. Digits beyond milliseconds are cut off.
 */
export function parseTime(text: string): number | null {
	const match = ISO_TIME.exec(text);
	if (!match) return null;
	const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
	const [fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = match.slice(7);
	const at = new Date(0);
	at.setUTCFullYear(year, month - 1, day);
	at.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3).padEnd(3, "0")));
	const exists = at.getUTCMonth() === month - 1 && at.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
	if (!exists || Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null;
	const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * MINUTE_MS * (sign === "-" ? -1 : 1);
	const ms = at.getTime() - offset;
	return ms >= FIRST_MS && ms <= LAST_MS ? ms : null;
}

type Six = [number, number, number, number, number, number];

/** A time that passed its schema, milliseconds since the Unix epoch; undefined if it wasn't given. */
export const givenMs = (time: string | undefined): number | undefined =>
	time === undefined ? undefined : parseTime(time)!;

/** Reports all faults, and neither drops nor converts any input. */
const ajv = createAjv({ allErrors: true, verbose: true });
/** In a schema: the message for a value in the wrong form; null if the route's own check reports it. */
ajv.addKeyword("errorMessage");
ajv.addFormat("uri", (text: string) => URL.canParse(text));
ajv.addFormat("date-time", (text: string) => parseTime(text) !== null);

const compiled = new WeakMap<TSchema, ValidateFunction>();

/** The faults of `value` in words; none if it fits the schema. Compiled at first use. */
export function faultsBySchema(schema: TSchema, value: unknown): Fault[] {
	let check = compiled.get(schema);
	if (!check) {
		check = ajv.compile(schema);
		compiled.set(schema, check);
	}
	if (check(value)) return [];
	const faults: Fault[] = [];
	for (const error of check.errors ?? []) {
		if (faults.length > MAX_FAULTS) break;
		const fault = isReportedElsewhere(error) ? null : faultOf(error);
		const last = faults.at(-1);
		// Several rules of one schema share its message, and of several forms the first is described.
		const isKnown = fault?.pointer === last?.pointer && (fault?.detail === last?.detail || isAlternative(error));
		if (fault && !isKnown) faults.push(fault);
	}
	return faults;
}

const isAlternative = ({ keyword, schemaPath }: ErrorObject): boolean =>
	keyword === "anyOf" || /\/anyOf\/[1-9]/.test(schemaPath);

/** Errors inside a rule that combines schemas, which has its own error, and those that the route reports. */
function isReportedElsewhere({ keyword, schemaPath, parentSchema }: ErrorObject): boolean {
	if (/\/(?:oneOf|not|dependentSchemas)\//.test(schemaPath)) return true;
	return MISFITS.has(keyword) && parentSchema?.errorMessage === null;
}

function faultOf(error: ErrorObject): Fault {
	const { keyword, instancePath, params, parentSchema } = error;
	switch (keyword) {
		case "required":
			return { pointer: `${instancePath}/${escapePointer(params.missingProperty)}`, detail: "is missing" };
		case "additionalProperties":
			return { pointer: `${instancePath}/${escapePointer(params.additionalProperty)}`, detail: "is not a known field" };
		case "dependentRequired":
			return {
				pointer: `${instancePath}/${escapePointer(params.property)}`,
				detail: `may only be used together with "${params.missingProperty}"`,
			};
		default:
			if (MISFITS.has(keyword) && typeof parentSchema?.errorMessage === "string")
				return { pointer: instancePath, detail: parentSchema.errorMessage };
			return { pointer: instancePath, detail: detailOf(error) };
	}
}

/** Keywords that say "not in the expected form or unit", for which a schema may have its own text. */
const MISFITS: ReadonlySet<string> = new Set(["pattern", "format", "enum", "not", "oneOf", "maximum"]);

/** A name as part of a JSON Pointer (RFC 6901, section 3). Very long ones are cut, since pointers are only shown. */
export function escapePointer(name: string): string {
	return name.slice(0, 200).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
}

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface QuerySchema {
	readonly properties?: Readonly<
		Record<string, { readonly type?: string; readonly description?: string; readonly default?: unknown }>
	>;
	/** Those that a handler always gets. */
	readonly required?: readonly string[];
}

/** Whether a request must have a query parameter: it is required, and has no default. */
export const mustBeGiven = ({ properties, required = [] }: QuerySchema, name: string): boolean =>
	required.includes(name) && properties?.[name]?.default === undefined;

const repeated = new WeakSet<object>();

/** Marks a list whose values may contain commas: several are given by repeating the parameter. */
export function onlyRepeated<T extends TSchema>(schema: T): T {
	repeated.add(schema);
	return schema;
}

export type QueryResult =
	| { readonly ok: true; readonly value: Record<string, unknown> }
	| { readonly ok: false; readonly faults: readonly Fault[] };

const WHOLE_NUMBER = /^-?\d{1,15}$/;

/**
 * Reads a route's query parameters by its schema. Text becomes a number only if it is written as a plain whole number;
 * a list may be repeated (`type=a&type=b`) or, unless it is {@link onlyRepeated}, separated by commas; anything else may
 * be given once. A missing one gets its default, or is a fault if it {@link mustBeGiven}. So are unknown parameters.
 * Pointers have the form `?name`.
 */
export function readQuery(schema: TSchema | undefined, raw: Readonly<Record<string, unknown>>): QueryResult {
	const { properties = {}, required = [] } = (schema ?? {}) as QuerySchema;
	const value: Record<string, unknown> = {};
	for (const name of required) value[name] = properties[name]!.default;
	const faults: Fault[] = [];
	const names = Object.keys(properties);
	const known = names.length > 0 ? `, which has: ${names.join(", ")}` : "";
	for (const [name, given] of Object.entries(raw)) {
		const type = Object.hasOwn(properties, name) ? properties[name]?.type : null;
		const texts = (Array.isArray(given) ? given : [given]).map(String);
		const pointer = `?${name.slice(0, 200).toWellFormed()}`;
		if (type === null) faults.push({ pointer, detail: `is not a parameter of this route${known}` });
		else if (type === "array")
			value[name] = repeated.has(properties[name]!) ? texts : texts.flatMap((text) => text.split(","));
		else if (texts.length > 1) faults.push({ pointer, detail: "must be given only once" });
		else if (type !== "integer") value[name] = texts[0];
		else if (WHOLE_NUMBER.test(texts[0]!)) value[name] = Number(texts[0]);
		else faults.push({ pointer, detail: "must be a whole number" });
	}
	if (schema) {
		const found = faultsBySchema(schema, value).map(({ pointer, detail }) => ({
			pointer: `?${pointer.split("/")[1] ?? ""}`,
			detail,
		}));
		faults.push(...found.filter(({ pointer }) => !faults.some((fault) => fault.pointer === pointer)));
	}
	return faults.length > 0 ? { ok: false, faults } : { ok: true, value };
}
