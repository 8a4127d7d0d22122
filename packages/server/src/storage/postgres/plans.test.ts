import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../testkit/src/postgres.ts";
import { START, World } from "../conformance/world.ts";
import { connectionConfig } from "./connection.ts";
import { openPostgresStorage } from "./index.ts";

/** The tables that grow with what is published, delivered and waiting. */
const BIG = ["events", "attempts", "retries"];

interface Plan {
	readonly "Node Type": string;
	readonly "Relation Name"?: string;
	readonly "Index Name"?: string;
	readonly "Index Cond"?: string;
	readonly Plans?: readonly Plan[];
}

let server: PostgresServer;
/** The plans of all statements that the verbs below run, by text: as made before the first row was written. */
const plans = new Map<string, Plan>();

beforeAll(async () => {
	// Generic plans are shown by PostgreSQL 16 and later.
	server = await PostgresServer.start({ own: true });
	const url = await server.createDatabase();
	const texts = await collectStatements(url);
	const client = new Client(connectionConfig(url));
	await client.connect();
	// The days that were swept are gone: any other stands for them.
	const { rows: days } = await client.query("SELECT relname FROM pg_class WHERE relname ~ '^attempts_[0-9]{8}$'");
	for (const sent of texts) {
		const text = sent.replaceAll(/attempts_\d{8}/g, days[0].relname);
		const { rows } = await client.query({ text: `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`, rowMode: "array" });
		plans.set(text, rows[0]![0][0].Plan as Plan);
	}
	await client.end();
}, START_TIMEOUT_MS);
afterAll(() => server.stop());

test("the verbs of publishing, delivering and sweeping were run", () => {
	expect(plans.size).toBeGreaterThan(40);
});

test("big tables are read by ranges of their indexes that begin with the project, or by the row's place", () => {
	const others = scansOf(BIG).filter(
		({ plan }) =>
			plan["Node Type"] !== "Tid Scan" &&
			!(/Index (Only )?Scan/.test(plan["Node Type"]) && /^\(+(ROW\()?project_no = /.test(plan["Index Cond"] ?? "")),
	);
	const sweeps = others.map(({ plan, text }) => [plan["Index Cond"], text.trim().split(/\s+LIMIT|\n/)[0]]);
	expect(sweeps.sort()).toEqual([
		// The sweep goes through events in the order of their age, and through days one by one: all of them by steps, or
		// where there are few.
		["(id < $2)", expect.stringMatching(/^SELECT .* FROM posthorn.attempts_\d{8} WHERE id < \$2 ORDER BY id$/)],
		["(no >= $1)", expect.stringMatching(/^SELECT e\.no/)],
		[undefined, expect.stringMatching(/^SELECT count.* FROM posthorn.attempts_\d{8}$/)],
		[undefined, expect.stringMatching(/^SELECT .* FROM posthorn.attempts_\d{8} WHERE status = 3 ORDER BY/)],
	]);
	for (const { plan } of others) expect(plan["Node Type"]).toMatch(/^Index (Only )?Scan$/);
});

test("events of a type are found in the index of their type", () => {
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
	const due = scansOf(["retries"]).filter(({ plan }) => plan["Index Cond"]?.includes("due_at"));
	expect(due.map(({ plan }) => plan["Index Name"])).toEqual(["retries_by_due"]);
	expect(due[0]!.plan["Index Cond"]).toContain("ROW(due_at, seq) >");
});

test("no join and no sort reads a big table to its end", () => {
	const joins = [...plans].filter(([, plan]) =>
		walk(plan).some((node) => /^(Hash|Merge) Join/.test(node["Node Type"]) && readsBig(node)),
	);
	expect(joins.map(([text]) => text)).toEqual([]);
});

function walk(plan: Plan): Plan[] {
	return [plan, ...(plan.Plans ?? []).flatMap(walk)];
}

const tableOf = (plan: Plan): string | undefined => plan["Relation Name"]?.replace(/^attempts_\d+$/, "attempts");

function scansOf(tables: readonly string[]): { plan: Plan; text: string }[] {
	const all = [...plans].flatMap(([text, plan]) => walk(plan).map((node) => ({ plan: node, text })));
	return all.filter(({ plan }) => plan["Node Type"].includes("Scan") && tables.includes(tableOf(plan) ?? ""));
}

/** Whether one side of a join is a big table that is not looked up row by row. */
function readsBig(join: Plan): boolean {
	const direct = (plan: Plan): Plan[] =>
		["Limit", "Nested Loop"].includes(plan["Node Type"]) ? [] : [plan, ...(plan.Plans ?? []).flatMap(direct)];
	return direct(join).some((node) => BIG.includes(tableOf(node) ?? ""));
}

/** Runs every verb once, and answers with the statements that were sent. */
async function collectStatements(url: string): Promise<Set<string>> {
	const texts = new Set<string>();
	const send = Client.prototype.query as (...args: unknown[]) => unknown;
	Client.prototype.query = function (this: Client, ...args: unknown[]) {
		const [config] = args as [{ name?: string; text: string }];
		if (config.name !== undefined) texts.add(config.text);
		return send.apply(this, args);
	} as typeof Client.prototype.query;
	try {
		await runVerbs(url);
	} finally {
		Client.prototype.query = send as typeof Client.prototype.query;
	}
	return texts;
}

async function runVerbs(url: string): Promise<void> {
	const world = await World.open({
		name: "PostgreSQL",
		capabilities: { manyNodes: true },
		leaseTermMs: 1000,
		open: ({ clock }) => openPostgresStorage({ url, clock, leaseTermMs: 1000, leasesByClock: true }),
		reopen: () => Promise.reject(new Error("not here")),
		dispose: (storage) => storage.close(),
	});
	const { storage } = world;
	const project = await world.project();
	const webhook = await world.webhook(project, ["a", "b"]);
	const events = await world.publish(project, "a", "b", "a", "a");
	await storage.appendEvents([{ projectId: project, publishedAt: START, events: [events[0]!] }]);
	await storage.acquireLeases("n", 10);
	world.clock.time += 1000;
	const lease = await world.lease(project);
	await storage.renewLeases("n", [lease]);
	await world.settle(lease, {
		attempts: [world.attempt(webhook, events[0]!), world.attempt(webhook, events[1]!, { status: "failed" })],
		schedule: [{ webhookId: webhook, seq: 3, queue: "retry", replay: 0, attempt: 2, dueAt: 5 }],
		unschedule: [{ webhookId: webhook, seq: 1 }],
		lanes: [{ webhookId: webhook, cursor: 1, ahead: [3] }],
	});
	await storage.loadLanes(project);
	await world.queues(project, webhook);
	await world.log(project);
	await storage.readLog(project, 0, { maxEvents: 10, maxBytes: 10 }, ["a"]);
	await storage.readEvents(project, [1]);
	await storage.findEvent(project, events[0]!.id);
	await storage.readBacklogs(project, [webhook]);
	await storage.gauges();
	await storage.replayDelivery(project, webhook, events[0]!.id, START);
	await storage.replayFailed(project, webhook, {}, START, 10);
	const { createdAtGiven: _, ...sample } = world.event(project, "a");
	await storage.appendTestEvent(project, webhook, sample);
	await storage.releaseLease(lease, null, { lastSeq: 0, revision: 0 });
	await storage.nextAlarm();
	await storage.updateWebhook(project, webhook, { events: ["a"], from: "now" });
	await storage.rotateSecret(project, webhook, Buffer.from("x"));
	await storage.setDeveloperApp(project, true);
	await storage.deleteWebhook(project, webhook);
	for (const cutoff of [START + 1, START + 86_400_000]) {
		for (let from: number | null = 0; from !== null; ) from = (await storage.sweepAttempts(cutoff, 1, from)).next;
		for (let from: number | null = 0; from !== null; ) from = (await storage.sweepEvents(cutoff, 10, from)).next;
	}
	await storage.ping();
	await world.dispose();
}
