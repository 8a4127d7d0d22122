/** For tests of query plans: every statement that the operations prepare, with SQLite's plan for it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants } from "node:sqlite";
import { Connection, forAnyValues, openWriter } from "../../../src/storage/sqlite/connection/connection.ts";
import { migrate } from "../../../src/storage/sqlite/migrations/index.ts";
import type { RecordedSuite } from "../conformance/recorded.ts";
import { verbsOn } from "./verbs-on.ts";

interface Explained {
	/** The steps of each plan, by the text of its statement as the operation wrote it. */
	readonly plans: ReadonlyMap<string, readonly string[]>;
	/** How often SQLite prepared a statement again before it ran it. */
	readonly preparedAgain: number;
	/** Statements of which SQLite 3.54 would do that, because a column equals a parameter. */
	readonly plannedForValues: readonly string[];
}

export async function explainEveryOperation(suite: RecordedSuite): Promise<Explained> {
	const plans = new Map<string, readonly string[]>();
	let preparing = false;
	let preparedAgain = 0;
	const plannedForValues: string[] = [];
	const directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(directory, "posthorn.db");
	const db = openWriter(path);
	migrate(db, path);
	// SQLite asks it for each thing that a statement uses, whenever it prepares one.
	db.setAuthorizer(() => {
		if (!preparing) preparedAgain++;
		return constants.SQLITE_OK;
	});
	const prepareOnce = db.prepare.bind(db);
	const prepare: typeof prepareOnce = (text) => {
		preparing = true;
		const statement = prepareOnce(text);
		preparing = false;
		return statement;
	};
	db.prepare = (text) => {
		if (/[^<>!]=\s*\?/.test(forAnyValues(text, "3.54.0"))) plannedForValues.push(text);
		if (isQuery(text)) {
			const steps = prepare(`EXPLAIN QUERY PLAN ${text}`).all();
			plans.set(
				text.replaceAll(/\s+/g, " ").replaceAll(" +?", " ?").trim(),
				steps.map(({ detail }) => String(detail)),
			);
		}
		return prepare(text);
	};
	const connection = new Connection(db);
	try {
		runEveryOperation(connection);
		const verbs = verbsOn(connection);
		await suite.repeat((verb: keyof typeof verbs, p: never, at) => verbs[verb](p, { now: at, until: at + 1_000 }));
	} finally {
		connection.close();
		await rm(directory, { recursive: true });
	}
	return { plans, preparedAgain, plannedForValues };
}

const isQuery = (text: string): boolean => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(text);

const PAGE = { limit: 10, maxBytes: 1000 };

/** Runs what the engine implements itself with arguments that reach all of its statements. */
function runEveryOperation(c: Connection): void {
	const verbs = verbsOn(c);
	const sealedDigest = new Uint8Array(32);
	verbs.createProject({ id: "p", name: "Shop", apps: ["developer"], createdAt: 0 });
	for (const id of ["w", "v"]) {
		const about = { id, projectId: "p", url: "", description: "", maxInFlight: 2, createdAt: 0, sealedDigest };
		verbs.createWebhook({ ...about, events: ["a", "b"], maxPerProject: 10 });
	}
	const event = { id: "evt_1", type: "a", createdAt: 0, createdAtGiven: true, body: new Uint8Array(9) };
	const events = [event, { ...event, id: "evt_2" }, { ...event, id: "evt_3", type: "b" }, { ...event, id: "evt_4" }];
	const request = { projectId: "p", publishedAt: 1, events };
	verbs.appendEvents({ requests: [request, request, { ...request, events: [{ ...event, type: "b" }] }] });
	verbs.readLogEnd({ projectId: "p" });
	verbs.acquireLeases({ holder: "n", limit: 10 });
	verbs.acquireLeases({ holder: "n", limit: 10, projectIds: ["p"] }, { now: 3000, until: 4000 });
	const lease = { projectId: "p", generation: 2, expiresAt: 4000 };
	verbs.renewLeases({ holder: "n", leases: [lease] }, { now: 3000, until: 4000 });
	const attempt = {
		...{ id: "att_1", webhookId: "w", seq: 1, eventType: "a", attempt: 1, replay: 0, status: "failed" as const },
		...{ statusCode: 500, errorCode: null, error: null, startedAt: 1, responseMs: 1, responseBody: new Uint8Array(1) },
		...{ responseTruncated: false, nextRetryAt: null, url: "", sent: null },
	};
	const delivered = { ...attempt, id: "att_0", webhookId: "v", status: "delivered" as const };
	const attempts = [delivered, attempt, { ...attempt, id: "att_2", seq: 2 }];
	const retry = { webhookId: "w", seq: 3, queue: "retry" as const, replay: 0, attempt: 2, dueAt: 5 };
	const unschedule = [{ webhookId: "w", seq: 1 }];
	const lanes = [{ webhookId: "w", position: 3, open: [2] }];
	const settlement = { projectId: "p", generation: 2, attempts, schedule: [retry], unschedule, lanes };
	verbs.settle({ settlements: [settlement, { ...settlement, attempts: [{ ...attempt, seq: 9 }, attempt] }] });
	const webhooks = ["w", "v"];
	verbs.readBacklogs({ projectId: "p", webhookIds: webhooks });
	verbs.readGauges(0);
	verbs.loadLanes({ projectId: "p" });
	verbs.loadLanes({ projectId: "p", webhookId: "w" });
	verbs.endDeletion({ projectId: "p", webhookId: "w" });
	verbs.readRetries({ projectId: "p", webhookId: "w", queue: "retry", limit: 10, after: { dueAt: 1, seq: 1 } });
	verbs.readLog({ projectId: "p", after: 0, window: { maxEvents: 10, maxBytes: 1000 } });
	verbs.readLog({ projectId: "p", after: 0, window: { maxEvents: 10, maxBytes: 1000 }, types: ["a", "b"] });
	verbs.readEvents({ projectId: "p", seqs: [1, 2] });
	verbs.findEvent({ projectId: "p", eventId: "evt_1" });
	for (const by of [
		{},
		{ webhookIds: ["w", "v"] },
		{ types: ["a"] },
		{ statuses: ["failed" as const] },
		{ eventId: "evt_1" },
		{ seqs: [2, 1], maxAttempts: 10 },
	]) {
		const response = { codes: [{ from: 0, to: 999 }], maxScanned: 10 };
		for (const filter of [by, { ...by, webhookIds: ["w"], since: 0, until: 9 }, { ...by, response }]) {
			verbs.listAttempts({ projectId: "p", filter, page: PAGE });
			verbs.listAttemptSummaries({ projectId: "p", filter, page: PAGE });
			verbs.listFollowedAttempts({ projectId: "p", filter, page: { ...PAGE, orderIdBytes: 1_000 } });
			verbs.countAttempts({ projectId: "p", filter, max: 10 });
			verbs.countMatching({ projectId: "p", selection: filter, at: 100, limit: 10, after: "att_0" });
		}
	}
	const limit = { maxEvents: 2, maxBytes: 1000 };
	for (let part = verbs.readUnindexed({ projectId: "p", limit }); part !== null; ) {
		verbs.indexReferences({ projectId: "p", part });
		part = verbs.readUnindexed({ projectId: "p", limit });
	}
	verbs.findReferences({ projectId: "p", reference: { kind: "order", value: "1" }, limit: 10 });
	verbs.describeEvents({ projectId: "p", seqs: [1, 2] });
	verbs.readOrderIds({ projectId: "p", seqs: [1, 2], maxBytes: 1_000 });
	verbs.listUnattempted({ projectId: "p", limit: 10 });
	verbs.listUnattempted({ projectId: "p", webhookIds: ["w"], limit: 1 });
	verbs.hasMoreAttempts({ projectId: "p", seqs: [2, 1], maxAttempts: 10 });
	verbs.searchBodies({ projectId: "p", text: "ab", before: null, limit });
	verbs.searchResponses({ projectId: "p", text: "ok", before: null, limit });
	verbs.sweepReferences({ projectId: "p" });
	verbs.getAttempt({ projectId: "p", attemptId: "att_1" });
	verbs.getDelivery({ projectId: "p", webhookId: "w", eventId: "evt_1" });
	verbs.getDelivery({ projectId: "p", webhookId: "v", eventId: "evt_1" });
	verbs.replayDelivery({ projectId: "p", webhookId: "w", eventId: "evt_1", at: 1 });
	verbs.replayMatching({ projectId: "p", selection: { statuses: ["failed"] }, at: Date.now(), limit: 10 });
	verbs.retryDeliveries({ projectId: "p", deliveries: [{ webhookId: "w", eventId: "evt_3" }], at: 1 });
	verbs.retryWaiting({ projectId: "p", webhookId: "w", at: 0, limit: 1, after: { dueAt: 0, seq: 0 } });
	verbs.countRetries({ projectId: "p", webhookId: "w", at: 0, limit: 1 });
	verbs.retryWaiting({ projectId: "p", webhookId: "w", at: 0, limit: 1 });
	verbs.dismissDeliveries({ projectId: "p", deliveries: [{ webhookId: "w", eventId: "evt_1" }], at: 1 });
	verbs.readLatest({ projectId: "p", deliveries: [{ webhookId: "w", seq: 1 }] });
	verbs.readHealth({ projectId: "p", since: 0 });
	verbs.readHealth({ projectId: "p", since: 0, webhookIds: ["w"] });
	verbs.listWaitingRetries({ projectId: "p", webhookId: null, limit: 10 });
	verbs.listWaitingRetries({ projectId: "p", webhookId: "w", limit: 10 });
	for (const stepMs of [60_000, 3_600_000])
		for (const of of [{}, { webhookId: "w" }])
			verbs.readStats({ projectId: "p", query: { ...of, since: 0, until: 24 * stepMs, stepMs } });
	verbs.appendTestEvent({
		projectId: "p",
		webhookId: "w",
		event: { id: "evt_5", type: "a", createdAt: 0, body: new Uint8Array(2) },
	});
	verbs.cancelTest({ projectId: "p", webhookId: "w", eventId: "evt_5" });
	const handedOver = { webhookId: "w", seq: 4, replay: 0, queue: null, until: 9 };
	verbs.releaseLease({ lease, wakeAt: 5, seen: { lastSeq: 0, revision: 0 }, inFlight: [handedOver] });
	verbs.loadLanes({ projectId: "p" });
	verbs.settleHandedOver({ handedOver, settlement: { ...settlement, attempts: [{ ...attempt, seq: 4 }] } });
	verbs.forgetHandedOver({ projectId: "p" });
	verbs.nextAlarm();
	verbs.sweepAttempts({ cutoff: 10, limit: 10, from: 0 });
	verbs.sweepEvents({ cutoff: 10, limit: 10, from: 0 });
	verbs.deleteWebhook({ projectId: "p", webhookId: "w", by: { keyId: "key_1" } });
	verbs.deleteWebhook({ projectId: "p", webhookId: "w" });
	verbs.sweepAttempts({ cutoff: 10, limit: 10, from: 0 });
	verbs.pingWriter();
	verbs.pingReader();
}
