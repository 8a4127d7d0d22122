import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { describeFacts } from "../../../test/storage/conformance/facts.ts";
import { RecordedSuite } from "../../../test/storage/conformance/recorded.ts";
import { TestClock } from "../../../test/storage/conformance/world.ts";
import { callVerb, recordStatements } from "../../../test/storage/postgres/explained.ts";
import { type Plan as AnyPlan, scansOfAllVersions, walk } from "../../../test/storage/postgres/plan.ts";
import type { FactStorage } from "../port.ts";
import { connectionConfig } from "./connection/session-settings.ts";
import { openPostgresStorage } from "./index.ts";

const TABLES = ["customers", "orders", "refunds", "chargebacks", "deliverables", "subscriptions", "baskets"];

interface Plan extends AnyPlan {
	readonly "TID Cond"?: string;
	readonly Plans?: readonly Plan[];
}

let server: PostgresServer;
let url: string;
let client: Client;
/** Every statement on store facts that the verbs send. */
let texts: string[];
/** Every statement on logs and lanes that they send. */
let hotTexts: string[];

const suite = new RecordedSuite(describeFacts);

describe("the statements of all verbs", () => {
	beforeAll(async () => {
		// Generic plans are shown by PostgreSQL 16 and later.
		server = await PostgresServer.start({ own: true });
		url = await server.createDatabase();
		const recorded = (await recordStatements(runVerbs)).filter(({ verb }) => verb !== undefined);
		const sent = new Set(recorded.map(({ text }) => text));
		texts = [...sent].filter((text) => text.includes("posthorn.store_"));
		hotTexts = [...sent].filter((text) => /posthorn\.(logs|lanes)\b/.test(text));
		client = new Client(connectionConfig(url));
		await client.connect();
	});
	afterAll(async () => {
		await client.end();
		await server.stop();
	});

	test("every verb ran", () => {
		expect(texts.length).toBeGreaterThan(20);
		for (const table of TABLES) expect(texts.some((text) => text.includes(`INTO posthorn.store_${table}`))).toBe(true);
	});

	describe.each(["tables are almost empty", "tables are large, with statistics"])("when %s", (state) => {
		let scans: { text: string; plan: Plan }[];
		let nodes: { text: string; plan: Plan }[];
		beforeAll(async () => {
			if (state.includes("large")) await fill();
			const plans = [];
			for (const text of texts) plans.push({ text, plan: await explain(text) });
			nodes = plans.flatMap(({ text, plan }) => walk(plan).map((node) => ({ text, plan: node })));
			scans = nodes.filter(({ plan }) => plan["Relation Name"]?.startsWith("store_") && isScan(plan));
		});

		test("every fact is found by its key, no matter how many others exist", () => {
			const byKey = scans.filter(({ text }) => !text.includes("ORDER BY due_at"));
			expect(byKey.length).toBeGreaterThan(14);
			for (const { text, plan } of byKey) {
				expect(plan["Node Type"], text).toMatch(/^Index (Only )?Scan$/);
				expect(plan["Index Cond"], text).toMatch(/^\(\(project_no = .*(_id|key) = /);
				// The touch isn't part of a basket's key.
				if (plan.Filter !== undefined) expect(plan.Filter).toBe("(touched_at = $3)");
			}
			const bought = byKey.filter(({ plan }) => plan["Index Cond"]?.includes("basket_id"));
			expect(new Set(bought.map(({ plan }) => plan["Index Name"]))).toEqual(
				new Set(["store_orders_by_basket", "store_baskets_pkey"]),
			);
			const deliverable = byKey.find(({ plan }) => plan["Relation Name"] === "store_deliverables")!;
			expect(deliverable.plan["Index Cond"]).toMatch(/order_id = .* AND \(deliverable_id = /);
		});

		test("due baskets are a range of their times, however many are pending", () => {
			const byTime = scans.filter(({ text }) => text.includes("ORDER BY due_at"));
			const ranges = byTime.filter(({ plan }) => plan["TID Cond"] === undefined);
			expect(ranges.map(({ plan }) => [plan["Index Name"], plan["Index Cond"]])).toEqual([
				["store_baskets_by_due", undefined],
				["store_baskets_by_due", "(due_at <= $2)"],
				["store_baskets_by_due", "(due_at <= $2)"],
			]);
			// The rows of the range are updated by their physical location.
			const [changed] = byTime.filter(({ plan }) => plan["TID Cond"] !== undefined);
			expect(changed!.plan["TID Cond"]).toMatch(/^\(ctid = ANY \(/);
		});

		test("a project's log is found by its newest stretch", async () => {
			expect(hotTexts.length).toBeGreaterThan(2);
			for (const text of hotTexts) expect(scansOfAllVersions(await explain(text)), text).toEqual([]);
		});

		test("nothing is sorted, and no join reads a whole table", () => {
			const kinds = new Set(nodes.map(({ plan }) => plan["Node Type"]));
			for (const kind of kinds) expect(kind).not.toMatch(/Sort|Hash|Merge|Seq Scan|Bitmap/);
			expect(kinds).toContain("Nested Loop");
		});
	});
});

async function explain(text: string): Promise<Plan> {
	const { rows } = await client.query({ text: `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`, rowMode: "array" });
	return rows[0]![0][0].Plan as Plan;
}

const isScan = (plan: Plan): boolean => plan["Node Type"].includes("Scan");

/** Facts of two projects, one of which has nearly all. */
async function fill(): Promise<void> {
	await server.execute(
		`
		INSERT INTO posthorn.store_customers SELECT n % 100 / 99 + 1, sha256(n::text::bytea) FROM generate_series(1, 20000) n;
		INSERT INTO posthorn.store_orders (project_no, at, amount_cents, order_id, basket_id, currency, digest, events)
			SELECT n % 100 / 99 + 1, n, n, n, CASE WHEN n % 3 = 0 THEN n END, 'EUR', '', '[]' FROM generate_series(1, 20000) n;
		INSERT INTO posthorn.store_refunds SELECT n % 100 / 99 + 1, n, n, '', '[]' FROM generate_series(1, 20000) n;
		INSERT INTO posthorn.store_chargebacks SELECT n % 100 / 99 + 1, n, n, '', '[]' FROM generate_series(1, 20000) n;
		INSERT INTO posthorn.store_deliverables SELECT n % 100 / 99 + 1, n, n / 9, n, '', '[]' FROM generate_series(1, 20000) n;
		INSERT INTO posthorn.store_subscriptions (project_no, at, subscription_id, data, digest, events)
			SELECT n % 100 / 99 + 1, n, n, '', '', '[]' FROM generate_series(1, 20000) n;
		INSERT INTO posthorn.store_baskets SELECT n % 100 / 99 + 1, n, n, n, '{}' FROM generate_series(1, 20000) n;
		ANALYZE;`,
		url,
	);
}

async function runVerbs(): Promise<void> {
	const clock = new TestClock();
	const storage = await openPostgresStorage({ url, clock, leaseTermMs: 1000, leasesByClock: true });
	for (const id of ["p", "q"]) await storage.createProject({ id, name: "Shop", apps: [], createdAt: 0 });
	await suite.repeat((verb: keyof FactStorage, p: never, at) => {
		clock.time = at;
		return callVerb(verb, () => storage[verb](p));
	});
	await storage.close();
}
