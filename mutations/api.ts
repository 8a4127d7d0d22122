import { of } from "./mutation.ts";

/** Limits on what callers of the API may do. */
export const API = [
	...of(
		"server/src/api/route.ts",
		["server/src/api/admission.test.ts"],
		[
			{
				name: "changes-not-counted",
				find: 'return rate === undefined ? ["changes"] : [rate, "changes"];',
				replace: "return rate === undefined ? [] : [rate];",
				only: "changes have a burst",
				why: "A project changes a webhook hundreds of times a second, and every other project's events wait.",
			},
		],
	),
	...of(
		"server/src/api/http/connections.ts",
		["server/src/api/connections.test.ts"],
		[
			{
				name: "unknown-clients-do-not-wait",
				find: "if (caller === null) return false;",
				replace: "if (caller === null) return true;",
				only: "wait for their turn",
				why: "A flood of requests without a valid key delays everyone else's.",
			},
			{
				name: "known-client-starts-all",
				find: "if (count >= CONNECTIONS.startsPerTurn) return false;",
				replace: "",
				only: "wait for their turn",
				why: "One key's requests on many connections delay everyone else's.",
			},
		],
	),
	...of(
		"server/src/api/routes/system.ts",
		["server/src/api/system.test.ts"],
		[
			{
				name: "metrics-made-for-everyone",
				find: 'renders.take("all") === null || rendered === undefined',
				replace: "true",
				only: "makes the metrics",
				why: "Anyone stops all deliveries by reading the metrics in a loop.",
			},
			{
				name: "storage-asked-by-everyone",
				find: "asking ??= ",
				replace: "asking = ",
				only: "asks storage once",
				why: "Anyone fills the database's connections by asking whether the node is ready.",
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
