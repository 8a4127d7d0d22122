import { expect, test } from "vitest";
import { LOG_READS } from "../base/budgets.ts";
import { healthWindowEnd, healthWindowStart, NO_FIGURES, readHealthOf } from "./health.ts";

// The health of 5,000 webhooks was one read, and others' keys, which the same thread of SQLite looks up, waited for
// seconds.
test("reads the health of many webhooks in steps", async () => {
	const now = Date.UTC(2026, 10, 28);
	const ids = Array.from({ length: 2 * LOG_READS.webhooksPerStep + 1 }, (_, i) => `wh_${i}`);
	const steps: number[] = [];
	const storage = {
		readHealth: async (p: { projectId: string; since: number; until?: number; webhookIds?: readonly string[] }) => {
			const [since, until] = [healthWindowStart(now), healthWindowEnd(now)];
			expect(p).toMatchObject({ projectId: "proj_1", since, until });
			steps.push(p.webhookIds!.length);
			return p.webhookIds!.filter((id) => id !== "wh_7").map((webhookId) => ({ ...NO_FIGURES, webhookId }));
		},
	};
	const health = await readHealthOf(storage, "proj_1", ids, now);
	expect(steps).toEqual([LOG_READS.webhooksPerStep, LOG_READS.webhooksPerStep, 1]);
	expect([...health.keys()]).toEqual(ids.filter((id) => id !== "wh_7"));
	expect(await readHealthOf(storage, "proj_1", [], now)).toEqual(new Map());
});
