import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { RecordedSuite } from "../../../test/storage/conformance/recorded.ts";
import { describeColdVerbs } from "../../../test/storage/conformance/suite.ts";
import { START } from "../../../test/storage/conformance/world.ts";
import { readAll, repeatSuite, runNativeVerbs } from "../../../test/storage/postgres/every-verb.ts";
import { recordStatements } from "../../../test/storage/postgres/explained.ts";
import { BIG_PROJECT, BIG_WEBHOOK, FILL, FILL_SMALL, MANY } from "../../../test/storage/postgres/fill.ts";
import {
	boundColumns,
	INDEX_COLUMNS,
	isRange,
	type Plan,
	readsMany,
	scansOfAllVersions,
	tableOf,
	walk,
} from "../../../test/storage/postgres/plan.ts";
import { connectionConfig } from "./connection/session-settings.ts";
import { openPostgresStorage } from "./index.ts";

const DAY = 86_400_000;
/** A verb of the storage port's facts. */
const FACT_VERB = /^record|Basket|^(get|cancel)Subscription$|^getOrder$/;
/** The tables that grow with events, deliveries and backlogs … */
const HOT = ["events", "attempts", "retries"];
/** … and with time, accounts and projects. */
const BIG = [
	...HOT,
	...["webhooks", "lanes", "subscriptions", "attempt_stats", "api_keys", "accounts", "sessions", "links"],
	...["memberships", "invitations", "audit"],
];

/**
 * The verbs that may find a row of `logs` or `lanes` by its key, because they run less often than for each event. Any
 * other one has to use hot-rows.ts: during a dump, it would become slower with each event.
 */
const RARE = [
	...["createWebhook", "updateWebhook", "rotateSecret", "deleteWebhook", "setDeveloperApp"],
	...["replayDelivery", "replayMatching", "retryDeliveries", "retryWaiting", "dismissDeliveries"],
	...["appendTestEvent", "cancelTest", "getDelivery", "readBacklogs", "readHealth", "listWaitingRetries"],
	// When a lease is taken or released.
	...["loadLanes", "settleHandedOver"],
	...["gauges", "listUnattempted", "sweepAttempts", "sweepEvents"],
];

const suite = new RecordedSuite(describeColdVerbs);

describe("the statements of all verbs", () => {
	let server: PostgresServer;
	let url: string;
	let client: Client;
	/** The statements that the verbs sent. */
	let texts: string[];
	/** The verbs that sent each. */
	let verbsOf: ReadonlyMap<string, ReadonlySet<string>>;
	let called: ReadonlySet<string>;

	beforeAll(async () => {
		// PostgreSQL shows generic plans since version 16. The test itself says when to gather statistics.
		server = await PostgresServer.start({ own: true, settings: { autovacuum: "off" } });
		url = await server.createDatabase();
		const recorded = await recordStatements(async () => {
			const native = await runNativeVerbs(url, { sweeps: true });
			await repeatSuite(await server.createDatabase(), suite, { sweeps: true });
			called = native.union(suite.called);
		});
		// Swept days are gone, so any other day represents them.
		const day = "SELECT relname FROM pg_class WHERE relname ~ '^attempts_[0-9]{8}$'";
		const [{ relname }] = (await server.execute(day, url)) as [{ relname: string }];
		const sent = Map.groupBy(recorded, ({ text }) => text.replaceAll(/attempts_\d{8}/g, relname));
		texts = [...sent.keys()];
		verbsOf = new Map([...sent].map(([text, times]) => [text, new Set(times.map(({ verb = "no verb" }) => verb))]));
		client = new Client(connectionConfig(url));
		await client.connect();
	});
	afterAll(async () => {
		await client.end();
		await server.stop();
	});

	test("every verb ran", async () => {
		const storage = await openPostgresStorage({ url, clock: { now: () => START }, leaseTermMs: 1_000 });
		const verbs = new Set(Object.keys(storage.peers));
		for (const name of Object.keys(storage)) verbs.add(name);
		await storage.close();
		for (const name of ["place", "peers", "pools", "epoch", "lacksConnections", "clockAheadMs", "close"])
			verbs.delete(name);
		// facts-plans.test.ts runs these.
		for (const name of verbs) if (FACT_VERB.test(name)) verbs.delete(name);
		expect([...verbs].filter((name) => !called.has(name))).toEqual([]);
		expect(texts.length).toBeGreaterThan(130);
	});

	/** @param fill puts the database into this state */
	function describePlans(state: string, fill: () => Promise<unknown>): void {
		describe(`when ${state}`, () => checkPlans(fill));
	}

	function checkPlans(fill: () => Promise<unknown>): void {
		const plans = new Map<string, Plan>();
		/** The columns of each index. */
		let columns: Map<string, string[]>;
		beforeAll(async () => {
			await fill();
			const indexes = await server.execute(INDEX_COLUMNS, url);
			columns = new Map(indexes.map((row) => [row.index as string, row.columns as string[]]));
			for (const text of texts) {
				const { rows } = await client.query({ text: `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`, rowMode: "array" });
				plans.set(text, rows[0]![0][0].Plan as Plan);
			}
		});

		function scansOf(tables: readonly string[]): { plan: Plan; text: string }[] {
			const all = [...plans].flatMap(([text, plan]) => walk(plan).map((node) => ({ plan: node, text })));
			return all.filter(({ plan }) => plan["Node Type"].includes("Scan") && tables.includes(tableOf(plan) ?? ""));
		}

		test("big tables are read by index ranges, or by a row's physical location", () => {
			const others = scansOf(BIG).filter(
				({ plan }) =>
					!plan["Node Type"].startsWith("Tid ") && !isRange(plan, columns.get(plan["Index Name"] ?? "") ?? []),
			);
			for (const { plan } of others) expect(plan["Node Type"]).toMatch(/^Index (Only )?Scan$/);
			// Tables with few rows (operators), or a few of many.
			expect(others.map(({ plan, text }) => [plan["Index Cond"], text.trim().split(/\n|,/)[0]])).toEqual([
				[undefined, "SELECT project_no"],
				[undefined, expect.stringMatching(/^SELECT count.* LIMIT 20000\) AS entry$/)],
				[undefined, "SELECT 1 FROM posthorn.accounts WHERE operator LIMIT 1"],
			]);
		});

		test("events, attempts and retries are read within a project", () => {
			const others = scansOf(HOT).filter(
				({ plan }) => !plan["Node Type"].startsWith("Tid ") && !boundColumns(plan).has("project_no"),
			);
			// The sweep reads events by age, and days one by one.
			expect(others.map(({ plan, text }) => [plan["Index Cond"], text.trim().split(/\n|,/)[0]])).toEqual([
				["(no >= $1)", "SELECT ctid::text AS place"],
				[undefined, "SELECT project_no"],
				[undefined, expect.stringMatching(/^SELECT count.* LIMIT 20000\) AS entry$/)],
			]);
		});

		test("no row is read and then discarded", () => {
			const filtered = scansOf(HOT).filter(
				({ plan }) => plan.Filter !== undefined && !/\bstatus_code\b/.test(plan.Filter),
			);
			// Except those that a filter by response examines, and those that the sweep found locked before.
			expect(filtered.map(({ plan }) => [plan["Node Type"], plan.Filter])).toEqual([
				["Index Scan", "(project_no <> ALL ($2))"],
			]);
		});

		test("verbs that run for each event find a project's log and a webhook's lane by the newest stretch", () => {
			const others = [...plans].filter(([, plan]) => scansOfAllVersions(plan).length > 0);
			const verbs = new Set(others.flatMap(([text]) => [...verbsOf.get(text)!]));
			expect(verbs).toEqual(new Set(RARE));
		});

		test("events of a type are found in the type's index", () => {
			const byType = scansOf(["events"]).filter(({ plan }) => plan["Index Cond"]?.includes("ROW(type, seq)"));
			expect(byType.length).toBeGreaterThan(5);
			expect(new Set(byType.map(({ plan }) => plan["Index Name"]))).toEqual(new Set(["events_by_type"]));
		});

		test("the attempts of a delivery are found in the primary key", () => {
			const ofDelivery = scansOf(["attempts"]).filter(({ plan }) => plan["Index Cond"]?.includes("seq ="));
			expect(ofDelivery.length).toBeGreaterThan(5);
			for (const { plan } of ofDelivery) expect(plan["Index Name"]).toMatch(/^attempts_\d{8}_pkey$/);
		});

		test("due retries are one range of their queue", () => {
			const due = scansOf(["retries"]).filter(({ plan }) => plan["Index Cond"]?.includes("ROW(due_at, seq) >"));
			expect(due).toHaveLength(4);
			for (const { plan } of due) expect(plan["Index Name"]).toBe("retries_by_due");
		});

		test("no join reads more of a hot table than an event's rows", () => {
			const joins = [...plans].flatMap(([text, plan]) =>
				walk(plan)
					.filter((node) => /^(Hash|Merge) Join/.test(node["Node Type"]) && readsMany(node, HOT))
					.map((node) => [node["Node Type"], text]),
			);
			expect(joins).toEqual([]);
		});
	}

	describePlans("tables are almost empty", async () => undefined);
	describePlans("tables are large, with statistics", async () => {
		// Creates the swept day.
		await (await openPostgresStorage({ url, clock: { now: () => START }, leaseTermMs: 1_000 })).close();
		await server.execute(FILL, url);
	});

	/** A bounded plan may still read a lot, and a sort everything that it gets, so rows are counted as well. */
	test("verbs read a few rows, however many there are", async () => {
		// Creates the days that the suite uses, whose empty tables are scanned then.
		await repeatSuite(url, suite, { sweeps: false });
		await server.execute("SELECT pg_stat_reset()", url);
		await runNativeVerbs(url, { sweeps: false });
		await repeatSuite(url, suite, { sweeps: false });
		const storage = await openPostgresStorage({ url, clock: { now: () => START }, leaseTermMs: 1_000 });
		await readAll(storage, BIG_PROJECT, BIG_WEBHOOK);
		// Connections report what they have read when they end.
		await storage.close();
		const read = await server.execute(
			`SELECT regexp_replace(relname, '_\\d{8}$', '') AS table, sum(seq_scan)::int AS whole,
			sum(seq_tup_read + idx_tup_fetch)::int AS rows
		FROM pg_stat_user_tables GROUP BY 1`,
			url,
		);
		const big = read.filter(({ table }) => BIG.includes(table as string));
		expect(big).toHaveLength(BIG.length);
		for (const { table, whole, rows } of big) {
			expect(whole, `full scans of ${table}`).toBe(0);
			expect(rows, `rows read from ${table}`).toBeGreaterThan(0);
			expect(rows, `rows read from ${table}`).toBeLessThan(MANY / 10);
		}
	});

	// During an upgrade, a new node adds columns to the tables that nodes of the previous release use. Their connections
	// failed with "cached plan must not change result type" for as long as they lived.
	test("a statement that was prepared before a migration added columns still runs", async () => {
		await client.query("BEGIN");
		for (const [i, text] of texts.entries()) await client.query(`PREPARE statement_${i} AS ${text}`);
		await client.query(`
			DO $$ DECLARE one record;
			BEGIN
				FOR one IN
					SELECT relname FROM pg_class
					WHERE relnamespace = 'posthorn'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
				LOOP
					EXECUTE format('ALTER TABLE posthorn.%I ADD COLUMN added bigint', one.relname);
				END LOOP;
			END $$`);
		const { rows } = await client.query<{ name: string; statement: string; parameters: number }>(
			`SELECT name, statement, cardinality(parameter_types) AS parameters FROM pg_prepared_statements
			WHERE name ~ '^statement_'`,
		);
		const failed: string[] = [];
		for (const { name, statement, parameters } of rows) {
			await client.query("SAVEPOINT before");
			const values = parameters === 0 ? "" : `(${Array(parameters).fill("NULL").join(", ")})`;
			await client.query(`EXPLAIN EXECUTE ${name}${values}`).catch(({ message }: Error) => {
				failed.push(`${message}: ${statement}`);
				return client.query("ROLLBACK TO before");
			});
		}
		await client.query("ROLLBACK; DEALLOCATE ALL");
		expect(rows).toHaveLength(texts.length);
		expect(failed).toEqual([]);
	});

	test("a page far from any match reads a bounded number of attempts", async () => {
		const storage = await openPostgresStorage({ url, clock: { now: () => START }, leaseTermMs: 1_000 });
		const maxScanned = 500;
		const filter = { response: { codes: [{ from: 500, to: 599 }], maxScanned } };
		await server.execute("SELECT pg_stat_reset()", url);
		const page = await storage.listAttemptSummaries({ projectId: BIG_PROJECT, filter, page: { limit: 10 } });
		const count = await storage.countAttempts({ projectId: BIG_PROJECT, filter, max: 10_000 });
		const step = await storage.countMatching({
			projectId: BIG_PROJECT,
			selection: filter,
			at: START + 2 * DAY,
			limit: 10,
		});
		await storage.close();
		expect(page).toEqual({ rows: [], next: expect.stringMatching(/^att_/) });
		expect(count).toEqual({ count: 0, capped: true });
		expect(step).toMatchObject({ count: 0, next: expect.stringMatching(/^att_/) });
		const [read] = await server.execute(
			`SELECT sum(idx_tup_read)::int AS entries FROM pg_stat_user_indexes WHERE relname ~ '^attempts_[0-9]{8}$'`,
			url,
		);
		// That many entries of each of four ranges, two statuses and two types, and then each row that is examined.
		expect(read!.entries).toBeGreaterThan(3 * maxScanned);
		expect(read!.entries).toBeLessThanOrEqual(3 * (4 + 1) * maxScanned);
	});

	// Events were found by an index of all events of their project, because PostgreSQL expected one.
	describePlans("statistics say that each project has one event", async () => {
		// Without VACUUM: an index that has all columns is no cheaper then.
		await server.execute(FILL_SMALL, url);
		await server.execute("ANALYZE", url);
	});
});
