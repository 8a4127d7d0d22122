import { of } from "./mutation.ts";

/** Limits on what callers of the API may do. */
export const API = [
	...of(
		"server/src/api/route.ts",
		["server/src/api/admission.test.ts"],
		[
			{
				name: "changes-not-counted",
				find: '? own : [...own, "changes"]',
				replace: "? own : own",
				only: "changes have a burst",
				why: "A project changes a webhook hundreds of times a second, and every other project's events wait.",
			},
		],
	),
	...of(
		"server/src/base/throttle.ts",
		["server/src/base/rates.test.ts"],
		[
			{
				name: "node-rate-leaves-nothing",
				find: "if (left < used - 1)",
				replace: "if (left < 0)",
				why: "A few busy projects use up the node's rate, and everyone else gets 503.",
			},
			{
				name: "node-rate-not-used",
				find: "this.#nodeFullAt = nodeFullAt;",
				replace: "",
				why: "Any number of projects together change as much as each of them may.",
			},
		],
	),
];
