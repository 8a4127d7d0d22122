import type { Check, Witness } from "../check.ts";

/** Log messages, or how they begin, that only an internal error causes. */
export const ERRORS = [
	"a project's actor failed",
	"events that were in flight are missing from the log",
	"the event of a pending retry is missing from the log",
	"storage rejected outcomes",
	"an attempt failed because of an error in this service",
	"a project is paused for a while",
];

/** The service reports no internal error. */
export function sound(witness: Witness): Check {
	return {
		promise: "the service reports no internal error",
		on(happening) {
			if (happening.kind !== "logged") return;
			if (ERRORS.some((text) => happening.text.startsWith(text)))
				witness.broken({}, `${happening.node} logged: ${happening.text}`);
		},
	};
}
