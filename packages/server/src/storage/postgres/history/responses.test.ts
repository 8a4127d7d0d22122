import { expect, test } from "vitest";
import type { Session } from "../connection/session.ts";
import type { PostgresNode } from "../node.ts";
import { searchResponses } from "./attempts.ts";

// Each remaining attempt was shown with the text of the response before it.
test("an attempt that retention deletes while responses are searched is left out, alone", async () => {
	const ids = ["c", "b", "a"];
	const read = ids.map((id) => {
		const response_body = Buffer.from(`No such plan ${id}`);
		return { status: 1, type: 1, id, seq: 1, webhook_no: 1, started_at: 1, response_body };
	});
	const positions = read.map(({ status, type, id }) => ({ status, type, id }));
	const answers: unknown[][] = [
		positions,
		[],
		read,
		read.slice(1).map((row) => ({ ...row, event_id: "evt_1", created_at: 1 })),
	];
	const session = {
		names: {
			projects: new Map([["proj_1", 1]]),
			webhookIds: new Map([[1, "wh_1"]]),
			typeNames: new Map([[1, "a"]]),
		},
		rows: async () => answers.shift()!,
	} as unknown as Session;
	const query = { projectId: "proj_1", text: "such plan", before: null, limit: { maxEvents: 9, maxBytes: 999 } };
	const { found } = await searchResponses(session, query, { clock: { now: () => Date.now() } } as PostgresNode);
	expect(found.map(({ attempt, excerpt }) => [attempt.id, excerpt])).toEqual([
		["att_b", "No such plan b"],
		["att_a", "No such plan a"],
	]);
});
