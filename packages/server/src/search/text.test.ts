import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import type { Params, TextStep } from "../storage/port.ts";
import { searchText } from "./text.ts";

// A step was once 2 MiB, for which all other reads of the node waited.
test("reads in short steps, each in its turn, until the client has left", async () => {
	const turns: string[] = [];
	const limits: Params<"searchBodies">["limit"][] = [];
	const storage = {
		async searchBodies({ before, limit }: Params<"searchBodies">): Promise<TextStep> {
			limits.push(limit);
			turns.push("step");
			return { found: [], events: 1, reached: 0, next: (before ?? 10) - 1 };
		},
	};
	const page = await searchText(
		{ storage, clock: new VirtualClock() },
		{
			...{ projectId: "p", text: "ab", before: null, limit: 1 },
			async inTurn(step) {
				turns.push("turn");
				return step();
			},
			isGone: () => limits.length === 3,
		},
	);
	expect(page).toMatchObject({ events: 3, next: 7 });
	expect(turns).toEqual(["turn", "step", "turn", "step", "turn", "step"]);
	for (const { maxBytes } of limits) expect(maxBytes).toBeLessThanOrEqual(262_144);
});
