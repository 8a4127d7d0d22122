import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { recordStatements } from "../../../../test/storage/postgres/explained.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import { BUCKET, referenceNumber } from "../../shared/bodies.ts";

const BUCKETS = 1_000;
const LIMIT = 200;
/** With the first one and, at worst, those that read 1, 4, 16, 64 and 4 × 256 buckets. */
const FEW_STEPS = 9;

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

// The rest of nearly enough events was looked for in one bucket after the other.
test.each([0, 1, 3, 100, LIMIT, LIMIT + 1])(
	"an order whose %i events are the newest of a long log is found in few steps",
	async (count) => {
		const world = await worldOf(async (clock) => openNode(await server.createDatabase(), clock));
		const projectId = await world.project();
		const reference = { kind: "order", value: "ord_1042" } as const;
		const through = BUCKETS * BUCKET;
		const seqs = Array.from({ length: count }, (_, i) => through - i);
		const references = seqs.map((seq) => ({ ref: referenceNumber(projectId, reference), seq }));
		const part = { after: 0, through, isLast: true, references };
		expect(await world.storage.indexReferences({ projectId, part })).toBe(true);
		const sent = await recordStatements(async () => {
			const found = await world.storage.findReferences({ projectId, reference, limit: LIMIT });
			expect(found).toMatchObject({ seqs: seqs.slice(0, LIMIT), capped: count > LIMIT });
		});
		const steps = sent.filter(({ text }) => text.includes("event_references"));
		expect(steps.length).toBeLessThanOrEqual(FEW_STEPS);
		await world.dispose();
	},
);
