import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Connection, openWriter } from "./connection.ts";
import { packAppends } from "./log-wire.ts";
import { migrate } from "./migrate.ts";
import { READS, WRITES } from "./operations.ts";
import { packSettlements } from "./settle-wire.ts";

let directory: string;
let connection: Connection;
/** Every statement that the operations prepared, with its plan. */
const plans = new Map<string, readonly string[]>();

beforeAll(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(directory, "posthorn.db");
	const db = openWriter(path);
	migrate(db, path);
	const prepare = db.prepare.bind(db);
	db.prepare = (text) => {
		if (isQuery(text))
			plans.set(
				text,
				prepare(`EXPLAIN QUERY PLAN ${text}`)
					.all()
					.map(({ detail }) => String(detail)),
			);
		return prepare(text);
	};
	connection = new Connection(db);
	runEveryOperation(connection);
});

afterAll(async () => {
	connection.close();
	await rm(directory, { recursive: true });
});

const TERM = { now: 1000, until: 2000 };
const PAGE = { limit: 10, maxBytes: 1000 };

/** Each of them with arguments that lead through all of its statements. */
function runEveryOperation(c: Connection): void {
	const sealedDigest = new Uint8Array(32);
	WRITES.createProject(c, { id: "p", name: "Shop", apps: [], createdAt: 0 });
	for (const id of ["w", "v"]) {
		const about = { id, projectId: "p", url: "", description: "", maxInFlight: 2, createdAt: 0, sealedDigest };
		WRITES.createWebhook(c, { ...about, events: ["a", "b"] }, 10);
	}
	const event = { id: "evt_1", type: "a", createdAt: 0, createdAtGiven: true, body: new Uint8Array(9) };
	const events = [event, { ...event, id: "evt_2" }, { ...event, id: "evt_3", type: "b" }, { ...event, id: "evt_4" }];
	const request = { projectId: "p", publishedAt: 1, events };
	WRITES.appendEvents(c, packAppends([request, request, { ...request, events: [{ ...event, type: "b" }] }]));
	WRITES.acquireLeases(c, "n", 10, TERM);
	WRITES.acquireLeases(c, "n", 10, { now: 3000, until: 4000 }, ["p"]);
	const lease = { projectId: "p", generation: 2, expiresAt: 4000 };
	WRITES.renewLeases(c, "n", [lease], { now: 3000, until: 4000 });
	const attempt = {
		...{ id: "att_1", webhookId: "w", seq: 1, eventType: "a", attempt: 1, replay: 0, status: "failed" as const },
		...{ statusCode: 500, errorCode: null, error: null, startedAt: 1, responseMs: 1, responseBody: new Uint8Array(1) },
		...{ responseTruncated: false, nextRetryAt: null, url: "", sent: null },
	};
	const attempts = [attempt, { ...attempt, id: "att_2", seq: 2 }];
	const retry = { webhookId: "w", seq: 3, queue: "retry" as const, replay: 0, attempt: 2, dueAt: 5 };
	const unschedule = [{ webhookId: "w", seq: 1 }];
	const lanes = [{ webhookId: "w", cursor: 1, ahead: [3] }];
	const settlement = { projectId: "p", generation: 2, attempts, schedule: [retry], unschedule, lanes };
	WRITES.settle(c, packSettlements([settlement, { ...settlement, attempts: [{ ...attempt, seq: 9 }, attempt] }]));
	const webhooks = ["w", "v"];
	READS.readBacklogs(c, "p", webhooks);
	READS.readGauges(c, 0);
	READS.loadLanes(c, "p");
	READS.readRetries(c, "p", "w", "retry", 10, { dueAt: 1, seq: 1 });
	READS.readLog(c, "p", 0, { maxEvents: 10, maxBytes: 1000 });
	READS.readLog(c, "p", 0, { maxEvents: 10, maxBytes: 1000 }, ["a", "b"]);
	READS.readEvents(c, "p", [1, 2]);
	READS.findEvent(c, "p", "evt_1");
	for (const by of [{}, { webhookId: "w" }, { type: "a" }, { status: "failed" as const }, { eventId: "evt_1" }]) {
		READS.listAttempts(c, "p", by, PAGE);
		READS.listAttempts(c, "p", { ...by, webhookId: "w", since: 0, until: 9 }, PAGE);
	}
	READS.getAttempt(c, "p", "att_1");
	READS.getDelivery(c, "p", "w", "evt_1");
	READS.getDelivery(c, "p", "v", "evt_1");
	WRITES.replayDelivery(c, "p", "w", "evt_1", 1);
	WRITES.replayFailed(c, "p", "w", { since: 0 }, 1, 10, "att_0");
	WRITES.appendTestEvent(c, "p", "w", { id: "evt_5", type: "a", createdAt: 0, body: new Uint8Array(2) }, 1);
	WRITES.releaseLease(c, lease, 5, { lastSeq: 0, revision: 0 });
	READS.nextAlarm(c, 1);
	WRITES.sweepAttempts(c, 10, 10, 0);
	WRITES.sweepEvents(c, 10, 10, 0);
	WRITES.createApiKey(c, { id: "k", projectId: "p", name: "", prefix: "", createdAt: 0 }, sealedDigest);
	READS.findApiKey(c, sealedDigest);
	READS.listApiKeys(c, "p", PAGE);
	WRITES.touchApiKeys(c, new Map([["k", 1]]));
	WRITES.deleteApiKey(c, "p", "k");
	WRITES.initSetting(c, "s", "1");
	READS.getSetting(c, "s");
	READS.getProject(c, "p");
	READS.listProjects(c, PAGE);
	READS.getWebhook(c, "p", "w");
	READS.listWebhooks(c, "p", PAGE);
	WRITES.updateWebhook(c, "p", "w", { events: ["b"], from: "now" });
	WRITES.rotateSecret(c, "p", "w", sealedDigest);
	WRITES.setDeveloperApp(c, "p", false);
	WRITES.deleteWebhook(c, "p", "w", 5);
	WRITES.sweepAttempts(c, 10, 10, 0);
	WRITES.pingWriter(c);
	READS.pingReader(c);
}

const isQuery = (text: string): boolean => /^\s*(SELECT|INSERT|UPDATE|DELETE)/.test(text);

/** Tables that stay small (a row for each event type, or for each webhook's types), and what needs no table. */
const SMALL = /^SCAN (event_types|json_each|CONSTANT ROW)/;
const allOf = (text: string): string[] => [...plans].filter(([sql]) => sql.includes(text)).flatMap(([, plan]) => plan);

test("no operation walks through a table, but for the gauge that counts projects", () => {
	const walks = [...plans].filter(([, plan]) => plan.some((step) => step.startsWith("SCAN") && !SMALL.test(step)));
	expect(walks.map(([text]) => text)).toEqual(["SELECT count(*) AS count FROM projects"]);
});

test("no operation sorts, but for the attempts of one event", () => {
	const sorts = [...plans].filter(([, plan]) => plan.some((step) => step.includes("TEMP B-TREE")));
	expect(sorts).toHaveLength(2);
	for (const [, plan] of sorts)
		expect(plan[0]).toMatch(/^SEARCH attempts USING INDEX attempts_by_delivery \(project_no=\? AND seq=\?/);
});

test("the delivery log is a merge of ranges of the index that fits its filter", () => {
	const ranges = (text: string) => allOf(text).filter((step) => step.startsWith("SEARCH"));
	const bound = "status=? AND type=? AND id>? AND id<?";
	const byProject = `SEARCH attempts USING COVERING INDEX attempts_by_project (project_no=? AND ${bound})`;
	const byWebhook = `SEARCH attempts USING COVERING INDEX attempts_by_webhook (webhook_no=? AND ${bound})`;
	expect(new Set(ranges("WHERE project_no = ?1 AND status ="))).toEqual(new Set([byProject]));
	expect(new Set(ranges("SELECT no, id FROM attempts\n\t\t\t\tWHERE webhook_no"))).toEqual(new Set([byWebhook]));
	expect(allOf("UNION ALL").filter((step) => step === "MERGE (UNION ALL)").length).toBeGreaterThan(5);
});

test("due retries, the log, alarms and backlogs are each one range of their index", () => {
	const planOf = (text: string) => new Set(allOf(text));
	expect(planOf("FROM retries\n\t\t\tWHERE webhook_no")).toEqual(
		new Set(["SEARCH retries USING INDEX retries_by_due (webhook_no=? AND queue=? AND (due_at,seq)>(?,?))"]),
	);
	expect(planOf("seq > ? ORDER BY seq LIMIT ?")).toEqual(
		new Set(["SEARCH events USING INDEX events_by_seq (project_no=? AND seq>?)"]),
	);
	expect(planOf("wake_at <= ?")).toEqual(new Set(["SEARCH projects USING INDEX projects_by_alarm (wake_at<?)"]));
	expect(planOf("SELECT type_seq FROM events")).toEqual(
		new Set([
			"SEARCH events USING COVERING INDEX events_by_type (project_no=? AND type=? AND seq>?)",
			"SEARCH events USING COVERING INDEX events_by_type (project_no=? AND type=?)",
		]),
	);
});
