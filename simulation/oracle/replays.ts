import type { Check, Witness } from "./check.ts";

/** Replaying by filter begins each delivery again that is over and failed last, and no other. */
export function replays(witness: Witness): Check {
	return {
		promise: "replaying what failed begins just that again",
		on(happening) {
			if (happening.kind !== "replays begun") return;
			const { projectId, count } = happening;
			const expected = witness.ledger.chosen(happening).length;
			if (count !== expected) witness.broken({ projectId }, `${count} replays were begun, expected ${expected}`);
		},
	};
}
