/** For the tests of query plans: every statement that the operations prepare, as SQLite means to run it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection, openWriter } from "../../../src/storage/sqlite/connection/connection.ts";
import { migrate } from "../../../src/storage/sqlite/connection/migrate.ts";
import { packSettlements } from "../../../src/storage/sqlite/lanes/settle-wire.ts";
import { packAppends } from "../../../src/storage/sqlite/log/wire.ts";
import { READS, WRITES } from "../../../src/storage/sqlite/operations.ts";
import { COLD } from "../../../src/storage/sqlite/verbs.ts";

/** The steps of each plan, by the text of its statement. */
export async function explainEveryOperation(): Promise<ReadonlyMap<string, readonly string[]>> {
	const plans = new Map<string, readonly string[]>();
	const directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(directory, "posthorn.db");
	const db = openWriter(path);
	migrate(db, path);
	const prepare = db.prepare.bind(db);
	db.prepare = (text) => {
		if (isQuery(text)) {
			const steps = prepare(`EXPLAIN QUERY PLAN ${text}`).all();
			plans.set(
				text,
				steps.map(({ detail }) => String(detail)),
			);
		}
		return prepare(text);
	};
	const connection = new Connection(db);
	try {
		runEveryOperation(connection);
		runAccountOperations(connection);
	} finally {
		connection.close();
		await rm(directory, { recursive: true });
	}
	return plans;
}

const isQuery = (text: string): boolean => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(text);

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
	READS.readLogEnd(c, "p");
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
	const lanes = [{ webhookId: "w", position: 3, open: [2] }];
	const settlement = { projectId: "p", generation: 2, attempts, schedule: [retry], unschedule, lanes };
	WRITES.settle(c, packSettlements([settlement, { ...settlement, attempts: [{ ...attempt, seq: 9 }, attempt] }]));
	const webhooks = ["w", "v"];
	READS.readBacklogs(c, "p", webhooks);
	READS.readGauges(c, 0);
	READS.loadLanes(c, "p");
	READS.loadLanes(c, "p", "w");
	WRITES.endDeletion(c, "p", "w");
	READS.readRetries(c, "p", "w", "retry", 10, { dueAt: 1, seq: 1 });
	READS.readLog(c, "p", 0, { maxEvents: 10, maxBytes: 1000 });
	READS.readLog(c, "p", 0, { maxEvents: 10, maxBytes: 1000 }, ["a", "b"]);
	READS.readEvents(c, "p", [1, 2]);
	READS.findEvent(c, "p", "evt_1");
	for (const by of [{}, { webhookId: "w" }, { type: "a" }, { status: "failed" as const }, { eventId: "evt_1" }]) {
		const response = { codes: [{ from: 0, to: 999 }], maxScanned: 10 };
		for (const filter of [by, { ...by, webhookId: "w", since: 0, until: 9 }, { ...by, response }]) {
			READS.listAttempts(c, "p", filter, PAGE);
			READS.listAttemptSummaries(c, "p", filter, PAGE);
			READS.countAttempts(c, "p", filter, 10);
			READS.countMatching(c, "p", filter, 100, 10, "att_0");
		}
	}
	READS.getAttempt(c, "p", "att_1");
	READS.getDelivery(c, "p", "w", "evt_1");
	READS.getDelivery(c, "p", "v", "evt_1");
	WRITES.replayDelivery(c, "p", "w", "evt_1", 1);
	WRITES.replayFailed(c, "p", "w", { since: 0 }, 1, 10, "att_0");
	WRITES.replayMatching(c, "p", { status: "failed" }, Date.now(), 10);
	READS.readHealth(c, "p");
	READS.listWaitingRetries(c, "p", null, 10);
	READS.listWaitingRetries(c, "p", "w", 10);
	for (const stepMs of [60_000, 3_600_000])
		for (const of of [{}, { webhookId: "w" }]) READS.readStats(c, "p", { ...of, since: 0, until: 24 * stepMs, stepMs });
	WRITES.appendTestEvent(c, "p", "w", { id: "evt_5", type: "a", createdAt: 0, body: new Uint8Array(2) }, 1);
	const handedOver = { webhookId: "w", seq: 4, replay: 0, queue: null, until: 9 };
	WRITES.releaseLease(c, lease, 5, { lastSeq: 0, revision: 0 }, [handedOver]);
	READS.loadLanes(c, "p");
	WRITES.settleHandedOver(c, handedOver, packSettlements([{ ...settlement, attempts: [{ ...attempt, seq: 4 }] }]));
	WRITES.forgetHandedOver(c, "p", 10);
	READS.nextAlarm(c, 1);
	WRITES.sweepAttempts(c, 10, 10, 0, 10);
	WRITES.sweepEvents(c, 10, 10, 0);
	COLD.createApiKey(c, { id: "k", projectId: "p", name: "", prefix: "", createdAt: 0, hash: sealedDigest });
	COLD.findApiKey(c, { hash: sealedDigest });
	COLD.listApiKeys(c, { projectId: "p", ...PAGE });
	COLD.getApiKey(c, { projectId: "p", keyId: "k" });
	COLD.touchApiKeys(c, { uses: new Map([["k", 1]]) });
	COLD.deleteApiKey(c, { projectId: "p", keyId: "k" });
	COLD.initSetting(c, { name: "s", value: "1" });
	COLD.getSetting(c, { name: "s" });
	READS.getProject(c, "p");
	READS.listProjects(c, PAGE);
	READS.getWebhook(c, "p", "w");
	READS.listWebhooks(c, "p", PAGE);
	WRITES.updateWebhook(c, "p", "w", { events: ["b"], from: "now" });
	WRITES.rotateSecret(c, "p", "w", sealedDigest);
	WRITES.setDeveloperApp(c, "p", false);
	WRITES.deleteWebhook(c, "p", "w", 5);
	WRITES.sweepAttempts(c, 10, 10, 0, 10);
	WRITES.renameProject(c, "p", "Store");
	WRITES.pingWriter(c);
	READS.pingReader(c);
}

function runAccountOperations(c: Connection): void {
	const [first, second, third, fourth] = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte)) as [
		Uint8Array,
		Uint8Array,
		Uint8Array,
		Uint8Array,
	];
	const account = { id: "acc_1", email: "A@b", name: "", operator: true, createdAt: 0 };
	COLD.createLink(c, { kind: "setup", supersedes: 1, tokenHash: first, expiresAt: 10 });
	COLD.holdsSetupLink(c, { tokenHash: first, at: 5 });
	COLD.createOperator(c, { account, normalEmail: "a@b", passwordHash: "", tokenHash: first, at: 5 });
	COLD.createAccount(c, { account: { ...account, id: "acc_2" }, normalEmail: "c@d", passwordHash: "" });
	COLD.getAccount(c, { accountId: "acc_1" });
	COLD.findCredentials(c, { normalEmail: "a@b" });
	COLD.getCredentials(c, { accountId: "acc_1" });
	COLD.renameAccount(c, { accountId: "acc_1", name: "B" });
	const session = { id: "ses_1", accountId: "acc_1", createdAt: 0, lastSeenAt: 0, expiresAt: 10 };
	COLD.createSession(c, { ...session, byLink: false, userAgent: "", address: "", tokenHash: first });
	COLD.findSession(c, { tokenHash: first, at: 5 });
	COLD.touchSession(c, { sessionId: "ses_1", lastSeenAt: 1, expiresAt: 11 });
	COLD.listSessions(c, { accountId: "acc_1", at: 5 });
	COLD.createLink(c, { kind: "sign_in", accountId: "acc_1", tokenHash: second, expiresAt: 10 });
	COLD.useSignInLink(c, { tokenHash: second, at: 5 });
	const invitation = { id: "inv_1", projectId: "p", role: "owner" as const, email: null, createdAt: 0, expiresAt: 10 };
	const actor = { kind: "operator_key" as const, id: null, name: "" };
	COLD.createInvitation(c, { ...invitation, invitedBy: actor, tokenHash: third });
	COLD.findInvitation(c, { tokenHash: third, at: 5 });
	COLD.listInvitations(c, { projectId: "p", at: 5 });
	COLD.acceptInvitation(c, { projectId: "p", tokenHash: third, accountId: "acc_1", at: 5 });
	for (const role of ["viewer", "owner"] as const) {
		COLD.createInvitation(c, { ...invitation, role, invitedBy: actor, tokenHash: fourth });
		COLD.acceptInvitation(c, { projectId: "p", tokenHash: fourth, accountId: "acc_2", at: 5 });
	}
	const member = { projectId: "p", accountId: "acc_2" };
	COLD.listMemberships(c, { accountId: "acc_1" });
	COLD.getRole(c, member);
	COLD.listMembers(c, { projectId: "p", ...PAGE });
	COLD.getMember(c, member);
	COLD.setRole(c, { ...member, role: "viewer" });
	COLD.removeMember(c, member);
	COLD.deleteInvitation(c, { projectId: "p", invitationId: "inv_1" });
	COLD.appendAudit(c, { id: "aud_1", projectId: "p", at: 0, actor, action: "a", target: null, detail: {} });
	COLD.listAudit(c, { projectId: "p", ...PAGE });
	COLD.sweepAudit(c, { cutoff: 1, limit: 10 });
	COLD.setPassword(c, { accountId: "acc_1", passwordHash: "", keepSessionId: "ses_1" });
	COLD.deleteSession(c, { accountId: "acc_1", sessionId: "ses_1" });
	COLD.deleteSessions(c, { accountId: "acc_1" });
	COLD.sweepExpired(c, { at: 5 });
}
