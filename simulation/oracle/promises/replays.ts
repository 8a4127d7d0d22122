import type { Check, Witness } from "../check.ts";

/** Replaying by filter replays exactly the finished deliveries whose last attempt failed. */
export function replays(witness: Witness): Check {
	return {
		promise: "replaying failures replays exactly those",
		on(happening) {
			if (happening.kind !== "replays begun") return;
			const { projectId, count } = happening;
			const expected = witness.ledger.chosen(happening).length;
			if (count !== expected) witness.broken({ projectId }, `${count} replays were begun, expected ${expected}`);
		},
	};
}
