import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { TSchema } from "typebox";
import { createAjv } from "../base/schemas.ts";
import type { Fault } from "../registry/index.ts";
import { MAX_FAULTS } from "./problem.ts";
import { parseTime } from "./time.ts";

/** All faults are told, nothing is dropped from what came, and nothing in it is converted. */
const ajv = createAjv({ allErrors: true, removeAdditional: false, coerceTypes: false, useDefaults: false });
ajv.addFormat("date-time", (text: string) => parseTime(text) !== null);

const compiled = new WeakMap<TSchema, ValidateFunction>();

/** What is wrong with `value`, told for people; empty if it fits the schema. Compiled at first use. */
export function faultsBySchema(schema: TSchema, value: unknown): Fault[] {
	let check = compiled.get(schema);
	if (!check) {
		check = ajv.compile(schema);
		compiled.set(schema, check);
	}
	if (check(value)) return [];
	return (check.errors ?? []).slice(0, MAX_FAULTS + 1).map(faultOf);
}

function faultOf(error: ErrorObject): Fault {
	const { keyword, instancePath, params } = error;
	switch (keyword) {
		case "required":
			return { pointer: `${instancePath}/${escapePointer(params.missingProperty)}`, detail: "is missing" };
		case "additionalProperties":
			return { pointer: `${instancePath}/${escapePointer(params.additionalProperty)}`, detail: "is not known here" };
		default:
			return { pointer: instancePath, detail: (DETAILS[keyword] ?? (() => error.message ?? "is not valid"))(params) };
	}
}

const DETAILS: Record<string, (params: ErrorObject["params"]) => string> = {
	type: ({ type }) => `must be ${TYPE_NAMES[type] ?? type}`,
	enum: ({ allowedValues }) => `must be one of: ${allowedValues.join(", ")}`,
	minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
	maxLength: ({ limit }) => `must have at most ${limit} characters`,
	minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? "item" : "items"}`,
	maxItems: ({ limit }) => `must have at most ${limit} items`,
	minimum: ({ limit }) => `must be at least ${limit}`,
	maximum: ({ limit }) => `must be at most ${limit}`,
	uniqueItems: ({ i, j }) => `must not name the same thing twice; items ${j} and ${i} are equal`,
	format: () => "must be an ISO 8601 time with its zone, such as 2026-11-21T03:47:36.123Z",
};

const TYPE_NAMES: Record<string, string> = {
	string: "a string",
	integer: "a whole number",
	number: "a number",
	boolean: "true or false",
	object: "an object",
	array: "an array",
};

/** A name as a part of a JSON Pointer (RFC 6901, section 3). Very long ones are cut: it is only told, never followed. */
export function escapePointer(name: string): string {
	return name.slice(0, 200).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
}
