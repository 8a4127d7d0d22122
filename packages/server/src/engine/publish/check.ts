import { EVENT_TYPES, isEventType } from "@posthorn/protocol";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { EventDraft, EventFault } from "../engine.ts";

const ajv = new Ajv2020({ allErrors: true, strict: false });

/** The types whose data is checked against the catalogue's schema; the data of the others is any object. */
const checks = new Map<string, ValidateFunction>();
for (const entry of EVENT_TYPES) if (entry.strict) checks.set(entry.type, ajv.compile(entry.schema));

/** What is wrong with an event; nothing if it may be published. Its data is known to be JSON. */
export function faultsOf(draft: EventDraft, index: number): EventFault[] {
	if (!isEventType(draft.type))
		return [
			{
				index,
				pointer: "/type",
				detail: `is not a known event type: ${JSON.stringify(draft.type)}. GET /v1/event-types lists them`,
			},
		];
	const check = checks.get(draft.type);
	if (!check || check(JSON.parse(draft.data))) return [];
	return (check.errors ?? []).map((error) => ({
		index,
		pointer: `/data${error.instancePath}${error.keyword === "required" ? `/${error.params.missingProperty}` : ""}`,
		detail: error.keyword === "required" ? "is missing" : (error.message ?? "is not valid"),
	}));
}
