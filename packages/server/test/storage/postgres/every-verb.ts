import type { AttemptFilter, Storage } from "../../../src/storage/port.ts";
import { openPostgresStorage } from "../../../src/storage/postgres/index.ts";
import type { RecordedSuite } from "../conformance/recorded.ts";
import { START, TestClock, type World } from "../conformance/world.ts";
import { callVerb } from "./explained.ts";
import { worldOf } from "./world.ts";

const HOUR = 3_600_000;
const PAGE = { limit: 10, maxBytes: 100_000 };

/**
 * Runs every verb that engines implement themselves, with arguments that reach all of its statements. If `sweeps` is
 * false, verbs that touch other projects' rows are left out.
 *
 * @returns the names of the verbs
 */
export async function runNativeVerbs(
	url: string,
	{ sweeps }: { readonly sweeps: boolean },
): Promise<ReadonlySet<string>> {
	const called = new Set<string>();
	const world = await worldOf(async (clock) =>
		noting(called, await openPostgresStorage({ url, clock, leaseTermMs: 1_000, leasesByClock: true })),
	);
	const project = await world.project();
	const webhook = await world.webhook(project, ["a", "b"]);
	await runDelivery(world, project, webhook);
	await readAll(world.storage, project, webhook);
	await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
	await world.storage.ping();
	if (sweeps) await runSweeps(world.storage);
	await world.dispose();
	return called;
}

/** Repeats the calls of the suite, see {@link runNativeVerbs}. */
export async function repeatSuite(
	url: string,
	suite: RecordedSuite,
	{ sweeps }: { readonly sweeps: boolean },
): Promise<void> {
	const clock = new TestClock();
	const storage = await openPostgresStorage({ url, clock, leaseTermMs: 1_000, leasesByClock: true });
	await suite.repeat((verb: keyof Storage, p: never, at) => {
		clock.time = at;
		const call = storage[verb] as (p: never) => unknown;
		return sweeps || !verb.startsWith("sweep") ? callVerb(verb, () => call(p)) : null;
	});
	await storage.close();
}

/** The storage, recording the names of the methods called, including those of its `peers`. */
function noting<T extends object>(called: Set<string>, object: T): T {
	return new Proxy(object, {
		get(_, key) {
			const value: unknown = Reflect.get(object, key, object);
			if (typeof value === "object" && value !== null) return noting(called, value);
			if (typeof value !== "function") return value;
			return (...args: unknown[]) => {
				called.add(String(key));
				return callVerb(String(key), () => value.apply(object, args));
			};
		},
	});
}

/** Publishing and settling, leases and peers. */
async function runDelivery(world: World, project: string, webhook: string): Promise<void> {
	const { storage } = world;
	const peers = storage.peers!;
	peers.subscribe(() => undefined)();
	peers.onEpoch(() => undefined)();
	const events = await world.publish(project, "a", "b", "a", "a");
	await storage.appendEvents({ requests: [{ projectId: project, publishedAt: START, events: [events[0]!] }] });
	const conflicting = { ...events[0]!, body: Buffer.from("{}") };
	await storage.appendEvents({ requests: [{ projectId: project, publishedAt: START, events: [conflicting] }] });
	await storage.readLogEnd({ projectId: project, since: storage.epoch });
	await storage.acquireLeases({ holder: "n", limit: 10 });
	world.clock.time += 1_000;
	const lease = await world.lease(project);
	await storage.renewLeases({ holder: "n", leases: [lease] });
	await peers.readMarks({ projectIds: [project] });
	await peers.acknowledge({ acknowledgements: [{ lease, revision: 1 }] });
	await peers.isInForce({ projectId: project, revision: 1 });
	await peers.share({ holder: "n" });
	await peers.nextEnd();
	await peers.leave({ holder: "n" });
	await peers.takeSweep({ holder: "n", termMs: 1_000, early: true });
	await peers.endSweep({ holder: "n", restMs: 1_000 });
	await world.settle(lease, {
		attempts: [world.attempt(webhook, events[0]!), world.attempt(webhook, events[1]!, { status: "failed" })],
		schedule: [{ webhookId: webhook, seq: 3, queue: "retry", replay: 0, attempt: 2, dueAt: 5 }],
		unschedule: [{ webhookId: webhook, seq: 1 }],
		lanes: [{ webhookId: webhook, position: 3, open: [2] }],
	});
	await storage.loadLanes({ projectId: project });
	await storage.loadLanes({ projectId: project, webhookId: webhook });
	await storage.endDeletion({ projectId: project, webhookId: webhook });
	await storage.readRetries({ projectId: project, webhookId: webhook, queue: "retry", limit: 10 });
	await storage.readRetries({
		projectId: project,
		webhookId: webhook,
		queue: "replay",
		limit: 10,
		after: { dueAt: 1, seq: 1 },
	});
	await storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: events[0]!.id, at: START });
	const deliveries = [{ webhookId: webhook, eventId: events[2]!.id }];
	await storage.retryDeliveries({ projectId: project, deliveries, at: 1 });
	await storage.retryWaiting({ projectId: project, webhookId: webhook, at: 0, limit: 1 });
	const of = { projectId: project, webhookId: webhook, at: 0 };
	await storage.retryWaiting({ ...of, limit: 1, after: { dueAt: 1, seq: 1 } });
	for (const limit of [1, 100]) await storage.countRetries({ ...of, limit });
	const { createdAtGiven: _, ...sample } = world.event(project, "a");
	await storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
	await storage.cancelTest({ projectId: project, webhookId: webhook, eventId: sample.id });
	const handedOver = { webhookId: webhook, seq: 4, replay: 0, queue: null, until: START + HOUR };
	await storage.releaseLease({ lease, wakeAt: null, seen: { lastSeq: 0, revision: 0 }, inFlight: [handedOver] });
	await storage.loadLanes({ projectId: project });
	await storage.settleHandedOver({
		handedOver,
		settlement: {
			...{ projectId: project, generation: lease.generation, schedule: [], unschedule: [], lanes: [] },
			attempts: [world.attempt(webhook, { seq: 4, type: "a" })],
		},
	});
	await storage.forgetHandedOver({ projectId: project });
	await storage.nextAlarm();
}

/** Reads, and replays of what was read. */
export async function readAll(storage: Storage, project: string, webhook: string): Promise<void> {
	const [event] = await storage.readLog({ projectId: project, after: 0, window: { maxEvents: 1, maxBytes: 1_000 } });
	await storage.readLog({ projectId: project, after: 0, window: { maxEvents: 10, maxBytes: 100_000 } });
	await storage.readLog({ projectId: project, after: 0, window: { maxEvents: 10, maxBytes: 100_000 }, types: ["a"] });
	await storage.readEvents({ projectId: project, seqs: [event!.seq, event!.seq + 1] });
	await storage.findEvent({ projectId: project, eventId: event!.id });
	const ofSeqs = { seqs: [event!.seq + 1, event!.seq], maxAttempts: 10 };
	const kinds: AttemptFilter[] = [{}, { types: ["a"] }, { statuses: ["failed"] }, { eventId: event!.id }, ofSeqs];
	for (const kind of kinds) {
		const ofWebhook = { ...kind, webhookIds: [webhook], since: START - HOUR, until: START + HOUR };
		const response = { codes: [{ from: 0, to: 999 }], maxScanned: 10 };
		for (const filter of [kind, ofWebhook, { ...kind, response }, { ...ofWebhook, response }]) {
			const { rows } = await storage.listAttempts({ projectId: project, filter, page: PAGE });
			await storage.listAttempts({ projectId: project, filter, page: { ...PAGE, before: rows.at(-1)?.id ?? "att_0" } });
			const page = { ...PAGE, orderIdBytes: 1_000 };
			await storage.listAttemptSummaries({ projectId: project, filter, page });
			await storage.listFollowedAttempts({ projectId: project, filter, page });
			await storage.countAttempts({ projectId: project, filter, max: 10 });
			await storage.countMatching({ projectId: project, selection: filter, at: START, limit: 10 });
			await storage.replayMatching({
				projectId: project,
				selection: filter,
				at: START,
				limit: 2,
				after: rows.at(-1)?.id ?? "att_0",
			});
		}
	}
	const limit = { maxEvents: 10, maxBytes: 100_000 };
	// A few steps: upward, downward, and to the beginning of a short log.
	for (let step = 0; step < 3; step++) {
		const part = await storage.readUnindexed({ projectId: project, limit });
		if (part !== null) await storage.indexReferences({ projectId: project, part });
	}
	await storage.findReferences({ projectId: project, reference: { kind: "order", value: "1" }, limit: 10 });
	await storage.describeEvents({ projectId: project, seqs: [event!.seq, event!.seq + 1] });
	await storage.readOrderIds({ projectId: project, seqs: [event!.seq, event!.seq + 1], maxBytes: 1_000 });
	await storage.hasMoreAttempts({ projectId: project, seqs: [event!.seq + 1, event!.seq], maxAttempts: 10 });
	await storage.searchBodies({ projectId: project, text: "ab", before: null, limit });
	await storage.searchResponses({ projectId: project, text: "ok", before: null, limit });
	await storage.sweepReferences({ projectId: project });
	const [attempt] = (await storage.listAttempts({ projectId: project, filter: {}, page: PAGE })).rows;
	await storage.getAttempt({ projectId: project, attemptId: attempt!.id });
	await storage.getDelivery({ projectId: project, webhookId: webhook, eventId: event!.id });
	for (const stepMs of [60_000, HOUR])
		for (const of of [{}, { webhookId: webhook }])
			await storage.readStats({
				projectId: project,
				query: { ...of, since: START - 3 * stepMs, until: START + 3 * stepMs, stepMs },
			});
	await storage.dismissDeliveries({
		projectId: project,
		deliveries: [{ webhookId: webhook, eventId: event!.id }],
		at: 1,
	});
	await storage.readLatest({
		projectId: project,
		deliveries: [{ webhookId: webhook, seq: event!.seq }],
	});
	await storage.readHealth({ projectId: project, since: Number.MAX_SAFE_INTEGER });
	await storage.readHealth({ projectId: project, since: Number.MAX_SAFE_INTEGER, webhookIds: [webhook] });
	for (const of of [null, webhook]) await storage.listWaitingRetries({ projectId: project, webhookId: of, limit: 10 });
	await storage.listUnattempted({ projectId: project, limit: 10 });
	await storage.listUnattempted({ projectId: project, webhookIds: [webhook], limit: 10 });
	await storage.readBacklogs({ projectId: project, webhookIds: [webhook] });
}

async function runSweeps(storage: Storage): Promise<void> {
	await storage.gauges();
	// A few steps: within a day, a whole day, and then the events.
	for (const cutoff of [START + 2_000, START + 24 * HOUR]) {
		for (let from: number | null = 0, steps = 0; from !== null && steps < 6; steps++)
			from = (await storage.sweepAttempts({ cutoff, limit: 10, from })).next;
		await storage.sweepEvents({ cutoff, limit: 10, from: 0 });
	}
}
