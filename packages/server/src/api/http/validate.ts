import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { TSchema } from "typebox";
import { createAjv, detailOf } from "../../base/schemas.ts";
import type { Fault } from "../../base/text.ts";
import { MAX_FAULTS } from "./problem.ts";
import { parseTime } from "./time.ts";

/** Reports all faults, and neither drops nor converts any input. */
const ajv = createAjv({
	allErrors: true,
	verbose: true,
	removeAdditional: false,
	coerceTypes: false,
	useDefaults: false,
});
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
		// Several rules of one schema share its message.
		const last = faults.at(-1);
		if (fault && !(fault.pointer === last?.pointer && fault.detail === last.detail)) faults.push(fault);
	}
	return faults;
}

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

/** Keywords that say "not in the expected form", for which a schema may have its own text. */
const MISFITS: ReadonlySet<string> = new Set(["pattern", "format", "enum", "not", "oneOf"]);

/** A name as part of a JSON Pointer (RFC 6901, section 3). Very long ones are cut, since pointers are only shown. */
export function escapePointer(name: string): string {
	return name.slice(0, 200).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
}
