import { expect, test } from "vitest";
import type { Arrival } from "../database/site.ts";
import { judge, type Verdict } from "./verdict.ts";

interface Case {
	readonly log: readonly string[];
	/** By id, the sequence number in the response. */
	readonly acknowledged: Readonly<Record<string, number>>;
	readonly arrivals: readonly string[];
}

function verdictOn({ log, acknowledged, arrivals }: Case): Promise<Verdict> {
	const site = {
		projectIds: ["prj_1"],
		webhooks: [
			{
				id: "whk_1",
				projectId: "prj_1",
				arrivals: arrivals.map((eventId): Arrival => ({ eventId, at: 0, clock: 0 })),
			},
		],
		ask: async (_method: string, path: string) => {
			const after = Number(/after=(\d+)/.exec(path)![1]);
			const data = log.slice(after).map((id) => ({ id }));
			return { status: 200, body: { data, last_seq: log.length } };
		},
	};
	const traffic = { acknowledged: new Map([["prj_1", new Map(Object.entries(acknowledged))]]) };
	return judge(site, traffic, new AbortController().signal, 0);
}

test("repeated deliveries are counted, but allowed", async () => {
	const verdict = await verdictOn({ log: ["a", "b"], acknowledged: { a: 1, b: 2 }, arrivals: ["a", "b", "a"] });
	expect(verdict).toEqual({
		acknowledged: 2,
		inLog: 2,
		received: 3,
		repeated: 1,
		lost: 0,
		outOfOrder: 0,
		problems: [],
	});
});

test("an acknowledged event that the log lacks is lost", async () => {
	const verdict = await verdictOn({ log: ["a"], acknowledged: { a: 1, b: 2 }, arrivals: ["a"] });
	expect(verdict).toMatchObject({ lost: 1, outOfOrder: 0 });
	expect(verdict.problems).toEqual([expect.stringMatching(/^lost: event 2 of prj_1 \(b\) .*not in the log$/)]);
});

test("an event that never reached its receiver is lost", async () => {
	const verdict = await verdictOn({ log: ["a", "b", "c"], acknowledged: { a: 1, b: 2, c: 3 }, arrivals: ["a", "c"] });
	expect(verdict).toMatchObject({ lost: 1, outOfOrder: 0 });
	expect(verdict.problems).toEqual([expect.stringMatching(/^lost: event 2 of prj_1 \(b\) never reached whk_1$/)]);
});

test("an event that moved in the log, or arrived before an earlier one, is out of order", async () => {
	const moved = await verdictOn({ log: ["b", "a"], acknowledged: { a: 1, b: 2 }, arrivals: ["b", "a"] });
	expect(moved).toMatchObject({ lost: 0, outOfOrder: 2 });
	const early = await verdictOn({ log: ["a", "b"], acknowledged: { a: 1, b: 2 }, arrivals: ["b", "a"] });
	expect(early).toMatchObject({ lost: 0, outOfOrder: 1 });
	expect(early.problems).toEqual([expect.stringMatching(/^out of order: whk_1 received b as event 1, expected a$/)]);
});
