import type { Check, Witness } from "./check.ts";

/** What the service logs only where it has made a mistake. */
const MISTAKES = [
	"a project's actor failed",
	"events that were in flight are missing from the log",
	"the event of a pending retry is missing from the log",
	"storage rejected outcomes",
	"an attempt failed because of an error in this service",
	"a project sends nothing for a while",
];

/** The service finds no mistake of its own. */
export function sound(witness: Witness): Check {
	return {
		promise: "the service makes no mistake that it notices itself",
		on(happening) {
			if (happening.kind !== "logged") return;
			if (MISTAKES.some((text) => happening.text.startsWith(text)))
				witness.broken({}, `${happening.node} logged: ${happening.text}`);
		},
	};
}
