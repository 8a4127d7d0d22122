import { Ajv2020, type ErrorObject, type Options } from "ajv/dist/2020.js";
import type { Fault } from "./text.ts";

/**
 * Creates a compiler for our own JSON Schemas (2020-12). Tests check that they are valid, because validating them takes
 * several times as long as compiling them, in every process at startup or at the first call that uses one.
 */
export const createAjv = (options: Options): Ajv2020 => new Ajv2020({ ...options, validateSchema: false, meta: false });

/** The error message for an invalid currency, in every schema. */
export const CURRENCY_DETAIL = "must be a currency code that ISO 4217 lists, in capital letters, such as EUR";

/** What a schema's rule asks for, in words. The error's compiler must be `verbose`. */
export function detailOf({ keyword, params, parentSchema, message }: ErrorObject): string {
	switch (keyword) {
		case "type":
			return `must be ${nameOf(params.type)}`;
		case "anyOf": {
			const types = (parentSchema!.anyOf as readonly { type?: string }[]).map(({ type = "" }) => type);
			return new Set(types).size < types.length ? "is not valid" : `must be ${types.map(nameOf).join(" or ")}`;
		}
		default:
			return (DETAILS[keyword] ?? (() => message ?? "is not valid"))(params);
	}
}

/** The errors in an event's data, checked with the catalogue's schema. Pointers are relative to the data. */
export function dataFaultsOf(errors: readonly ErrorObject[]): Fault[] {
	// An alternative's error adds nothing to that of the whole value.
	const own = errors.filter(({ schemaPath }) => !schemaPath.includes("/anyOf/"));
	return own.map((error) => {
		const { keyword, instancePath: pointer, params } = error;
		if (keyword === "required") return { pointer: `${pointer}/${params.missingProperty}`, detail: "is missing" };
		if (pointer === "/customer_email") return { pointer, detail: "must be an e-mail address" };
		return { pointer, detail: keyword === "pattern" && pointer === "/currency" ? CURRENCY_DETAIL : detailOf(error) };
	});
}

const DETAILS: Record<string, (params: ErrorObject["params"]) => string> = {
	enum: ({ allowedValues }) => `must be one of: ${allowedValues.join(", ")}`,
	minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
	maxLength: ({ limit }) => `must have at most ${limit} characters`,
	minItems: ({ limit }) => `must have at least ${limit} ${limit === 1 ? "item" : "items"}`,
	maxItems: ({ limit }) => `must have at most ${limit} items`,
	minimum: ({ limit }) => `must be at least ${limit}`,
	exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
	maximum: ({ limit }) => `must be at most ${limit}`,
	uniqueItems: ({ i, j }) => `must not contain the same item twice; items ${j} and ${i} are equal`,
};

const TYPE_NAMES: Record<string, string> = {
	string: "a string",
	integer: "a whole number",
	number: "a number",
	boolean: "true or false",
	object: "an object",
	array: "an array",
};

const nameOf = (type: string): string => TYPE_NAMES[type] ?? type;
