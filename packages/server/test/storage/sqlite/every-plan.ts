/** For tests of query plans: every statement that the operations prepare, with SQLite's plan for it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection, openWriter } from "../../../src/storage/sqlite/connection/connection.ts";
import { migrate } from "../../../src/storage/sqlite/connection/migrate.ts";
import { verbsOn } from "./verbs-on.ts";

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

const PAGE = { limit: 10, maxBytes: 1000 };

/** Runs each operation with arguments that reach all of its statements. */
function runEveryOperation(c: Connection): void {
	const verbs = verbsOn(c);
	const sealedDigest = new Uint8Array(32);
	verbs.createProject({ id: "p", name: "Shop", apps: [], createdAt: 0 });
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
	const attempts = [attempt, { ...attempt, id: "att_2", seq: 2 }];
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
	for (const by of [{}, { webhookId: "w" }, { type: "a" }, { status: "failed" as const }, { eventId: "evt_1" }]) {
		const response = { codes: [{ from: 0, to: 999 }], maxScanned: 10 };
		for (const filter of [by, { ...by, webhookId: "w", since: 0, until: 9 }, { ...by, response }]) {
			verbs.listAttempts({ projectId: "p", filter, page: PAGE });
			verbs.listAttemptSummaries({ projectId: "p", filter, page: PAGE });
			verbs.countAttempts({ projectId: "p", filter, max: 10 });
			verbs.countMatching({ projectId: "p", selection: filter, at: 100, limit: 10, after: "att_0" });
		}
	}
	verbs.getAttempt({ projectId: "p", attemptId: "att_1" });
	verbs.getDelivery({ projectId: "p", webhookId: "w", eventId: "evt_1" });
	verbs.getDelivery({ projectId: "p", webhookId: "v", eventId: "evt_1" });
	verbs.replayDelivery({ projectId: "p", webhookId: "w", eventId: "evt_1", at: 1 });
	verbs.replayFailed({ projectId: "p", webhookId: "w", filter: { since: 0 }, at: 1, limit: 10, after: "att_0" });
	verbs.replayMatching({ projectId: "p", selection: { status: "failed" }, at: Date.now(), limit: 10 });
	verbs.retryDelivery({ projectId: "p", webhookId: "w", eventId: "evt_3", at: 1 });
	verbs.retryWaiting({ projectId: "p", webhookId: "w", at: 0, limit: 1, after: { dueAt: 0, seq: 0 } });
	verbs.readLatest({ projectId: "p", deliveries: [{ webhookId: "w", seq: 1 }] });
	verbs.readHealth({ projectId: "p" });
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
	const handedOver = { webhookId: "w", seq: 4, replay: 0, queue: null, until: 9 };
	verbs.releaseLease({ lease, wakeAt: 5, seen: { lastSeq: 0, revision: 0 }, inFlight: [handedOver] });
	verbs.loadLanes({ projectId: "p" });
	verbs.settleHandedOver({ handedOver, settlement: { ...settlement, attempts: [{ ...attempt, seq: 4 }] } });
	verbs.forgetHandedOver({ projectId: "p" });
	verbs.nextAlarm();
	verbs.sweepAttempts({ cutoff: 10, limit: 10, from: 0 });
	verbs.sweepEvents({ cutoff: 10, limit: 10, from: 0 });
	const grants = { scopes: ["read"], expiresAt: null, createdBy: null } as const;
	verbs.createApiKey({ id: "k", projectId: "p", name: "", prefix: "", ...grants, createdAt: 0, hash: sealedDigest });
	verbs.findApiKey({ hash: sealedDigest });
	verbs.listApiKeys({ projectId: "p", ...PAGE });
	verbs.getApiKey({ projectId: "p", keyId: "k" });
	verbs.touchApiKeys({ uses: new Map([["k", 1]]) });
	verbs.deleteApiKey({ projectId: "p", keyId: "k" });
	verbs.initSetting({ name: "s", value: "1" });
	verbs.getSetting({ name: "s" });
	verbs.observeClock({ now: 1, vouched: 0, stepMs: 1 });
	verbs.confirmClock({ now: 1 });
	verbs.getProject({ projectId: "p" });
	verbs.listProjects(PAGE);
	verbs.getWebhook({ projectId: "p", webhookId: "w" });
	verbs.listWebhooks({ projectId: "p", ...PAGE });
	verbs.updateWebhook({ projectId: "p", webhookId: "w", patch: { events: ["b"], from: "now" } });
	verbs.rotateSecret({ projectId: "p", webhookId: "w", sealedDigest });
	verbs.setDeveloperApp({ projectId: "p", installed: false });
	verbs.deleteWebhook({ projectId: "p", webhookId: "w" });
	verbs.sweepAttempts({ cutoff: 10, limit: 10, from: 0 });
	verbs.renameProject({ projectId: "p", name: "Store" });
	verbs.pingWriter();
	verbs.pingReader();
}

function runAccountOperations(c: Connection): void {
	const verbs = verbsOn(c);
	const [first, second, third, fourth] = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte)) as [
		Uint8Array,
		Uint8Array,
		Uint8Array,
		Uint8Array,
	];
	const account = { id: "acc_1", email: "A@b", name: "", operator: true, createdAt: 0 };
	verbs.createLink({ kind: "setup", supersedes: 1, tokenHash: first, expiresAt: 10 });
	verbs.holdsSetupLink({ tokenHash: first, at: 5 });
	verbs.createOperator({ account, normalEmail: "a@b", passwordHash: "", tokenHash: first, at: 5 });
	verbs.createAccount({ account: { ...account, id: "acc_2" }, normalEmail: "c@d", passwordHash: "" });
	verbs.getAccount({ accountId: "acc_1" });
	verbs.findCredentials({ normalEmail: "a@b" });
	verbs.getCredentials({ accountId: "acc_1" });
	verbs.renameAccount({ accountId: "acc_1", name: "B" });
	const session = { id: "ses_1", accountId: "acc_1", createdAt: 0, lastSeenAt: 0, expiresAt: 10 };
	verbs.createSession({ ...session, byLink: false, userAgent: "", address: "", tokenHash: first, maxPerAccount: 100 });
	verbs.findSession({ tokenHash: first, at: 5 });
	verbs.touchSession({ sessionId: "ses_1", lastSeenAt: 1, expiresAt: 11 });
	verbs.listSessions({ accountId: "acc_1", at: 5 });
	verbs.createLink({ kind: "sign_in", accountId: "acc_1", tokenHash: second, expiresAt: 10 });
	verbs.useSignInLink({ tokenHash: second, at: 5 });
	const invitation = { id: "inv_1", projectId: "p", role: "owner" as const, email: null, createdAt: 0, expiresAt: 10 };
	const actor = { kind: "operator_key" as const, id: null, name: "" };
	verbs.createInvitation({ ...invitation, invitedBy: actor, tokenHash: third });
	verbs.findInvitation({ tokenHash: third, at: 5 });
	verbs.listInvitations({ projectId: "p", at: 5 });
	verbs.acceptInvitation({ projectId: "p", tokenHash: third, by: { accountId: "acc_1" }, at: 5 });
	for (const role of ["viewer", "owner"] as const) {
		verbs.createInvitation({ ...invitation, role, invitedBy: actor, tokenHash: fourth });
		verbs.acceptInvitation({ projectId: "p", tokenHash: fourth, by: { accountId: "acc_2" }, at: 5 });
	}
	const member = { projectId: "p", accountId: "acc_2" };
	verbs.listMemberships({ accountId: "acc_1" });
	verbs.getRole(member);
	verbs.listMembers({ projectId: "p", ...PAGE });
	verbs.getMember(member);
	verbs.setRole({ ...member, role: "viewer" });
	verbs.removeMember(member);
	verbs.deleteInvitation({ projectId: "p", invitationId: "inv_1" });
	verbs.appendAudit({ id: "aud_1", projectId: "p", at: 0, actor, action: "a", target: null, detail: {} });
	verbs.listAudit({ projectId: "p", ...PAGE });
	verbs.sweepAudit({ cutoff: 1, limit: 10 });
	verbs.setPassword({ accountId: "acc_1", passwordHash: "", keepSessionId: "ses_1" });
	verbs.deleteSession({ accountId: "acc_1", sessionId: "ses_1" });
	verbs.deleteSessions({ accountId: "acc_1" });
	verbs.sweepExpired({ at: 5 });
}
