import { createHash } from "node:crypto";
import { encodeEnvelope } from "@posthorn/protocol";
import { expect } from "vitest";
import { type IdKind, IdSource } from "../../../src/base/ids.ts";
import type {
	AppendedEvent,
	AppendRequest,
	AppendResult,
	AttemptStatus,
	LaneState,
	Lease,
	LogEvent,
	NewAttempt,
	NewEvent,
	Retry,
	Settlement,
	Storage,
	Verdict,
	Webhook,
	WebhookPatch,
} from "../../../src/storage/port.ts";
import { QUEUES } from "../../../src/storage/shared/deliveries.ts";
import type { StorageHarness } from "./harness.ts";

export const START = Date.UTC(2026, 10, 21);
export const WIDE = { maxEvents: 10_000, maxBytes: 1e9 };
export const ALL = { limit: 10_000, maxBytes: 1e9 };
export const NODE = "node_a";

/** A clock that only moves when told to. */
export class TestClock {
	time = START;
	readonly now = (): number => this.time;
}

/** An open storage and the few verbs that the suite uses. */
export class World {
	storage: Storage;
	readonly harness: StorageHarness;
	readonly clock: TestClock;
	readonly #ids: IdSource;

	private constructor(harness: StorageHarness, storage: Storage, clock: TestClock) {
		this.harness = harness;
		this.storage = storage;
		this.clock = clock;
		this.#ids = new IdSource(clock);
	}

	static async open(harness: StorageHarness): Promise<World> {
		const clock = new TestClock();
		return new World(harness, await harness.open({ clock }), clock);
	}

	async reopen(): Promise<void> {
		this.storage = await this.harness.reopen(this.storage);
	}

	dispose(): Promise<void> {
		return this.harness.dispose(this.storage);
	}

	id(kind: IdKind): string {
		return this.#ids.next(kind);
	}

	async project(name = "Shop"): Promise<string> {
		const id = this.id("project");
		await this.storage.createProject({ id, name, apps: ["developer"], createdAt: this.clock.now() });
		return id;
	}

	async webhook(projectId: string, events: readonly string[], patch: WebhookPatch = {}): Promise<string> {
		const id = this.id("webhook");
		const made = await this.storage.createWebhook({
			id,
			projectId,
			url: `https://receiver.example/${id}`,
			description: "",
			events,
			maxInFlight: 1,
			createdAt: this.clock.now(),
			sealedDigest: createHash("sha256").update(id).digest(),
			maxPerProject: 100,
		});
		expect(made).toBe("created");
		if (Object.keys(patch).length > 0) await this.storage.updateWebhook({ projectId, webhookId: id, patch });
		return id;
	}

	event(projectId: string, type: string, about: Partial<NewEvent> & { data?: string } = {}): NewEvent {
		const id = about.id ?? this.id("event");
		const createdAt = about.createdAt ?? this.clock.now();
		const body = about.body ?? encodeEnvelope({ id, type, createdAt, projectId, data: about.data ?? "{}" });
		return { id, type, createdAt, createdAtGiven: about.createdAtGiven ?? false, body };
	}

	/** Appends one event of each of these types in one request. */
	async publish(projectId: string, ...types: readonly string[]): Promise<(NewEvent & AppendedEvent)[]> {
		const events = types.map((type) => this.event(projectId, type));
		const result = await this.append({ projectId, publishedAt: this.clock.now(), events });
		if (result.kind !== "appended") throw new Error(`Publishing ended as ${result.kind}.`);
		return events.map((event, i) => ({ ...event, ...result.events[i]! }));
	}

	/** Like the engine, retries while another session holds the project's rows. */
	async append(request: AppendRequest): Promise<AppendResult> {
		for (let next = request; ; ) {
			const [result] = await this.storage.appendEvents({ requests: [next], waits: true });
			if (result!.kind !== "locked") return result!;
			if (result!.maybeWritten) next = { ...request, maybeWritten: true };
		}
	}

	async lease(projectId: string, holder = NODE): Promise<Lease> {
		const [lease] = await this.storage.acquireLeases({ holder, limit: 1, projectIds: [projectId] });
		if (lease === undefined) throw new Error(`The lease of ${projectId} is not free.`);
		return lease;
	}

	attempt(webhookId: string, event: { seq: number; type: string }, about: Partial<NewAttempt> = {}): NewAttempt {
		const startedAt = about.startedAt ?? this.clock.now();
		return {
			id: new IdSource({ now: () => startedAt }).next("attempt"),
			webhookId,
			seq: event.seq,
			eventType: event.type,
			attempt: 1,
			replay: 0,
			status: "delivered",
			statusCode: 200,
			errorCode: null,
			error: null,
			startedAt,
			responseMs: 12,
			responseBody: Buffer.from("ok"),
			responseTruncated: false,
			nextRetryAt: null,
			url: "https://receiver.example/hook",
			sent: { brand: "Service", timestamp: Math.floor(startedAt / 1000), signature: "0123456789abcdef".repeat(4) },
			...about,
		};
	}

	async settle(lease: Lease, about: Partial<Settlement>): Promise<Verdict> {
		const empty = { attempts: [], schedule: [], unschedule: [], lanes: [] };
		const settlement = { projectId: lease.projectId, generation: lease.generation, ...empty, ...about };
		const [verdict] = await this.storage.settle({ settlements: [settlement], waits: true });
		return verdict!;
	}

	/** Settles a delivery's only attempt and moves the lane past its event. */
	async finish(
		lease: Lease,
		webhookId: string,
		event: { seq: number; type: string },
		status: AttemptStatus,
		about: Partial<NewAttempt> = {},
	): Promise<NewAttempt> {
		const attempt = this.attempt(webhookId, event, { status, ...about });
		const lanes = event.seq > 0 ? [{ webhookId, position: event.seq, open: [] }] : [];
		const unschedule = [{ webhookId, seq: event.seq }];
		expect(await this.settle(lease, { attempts: [attempt], unschedule, lanes })).toBe("settled");
		return attempt;
	}

	async lane(projectId: string, webhookId: string): Promise<LaneState> {
		const { lanes } = await this.storage.loadLanes({ projectId });
		const lane = lanes.find((each) => each.webhookId === webhookId);
		if (lane === undefined) throw new Error(`Webhook ${webhookId} has no lane.`);
		return lane;
	}

	async queues(projectId: string, webhookId: string): Promise<Retry[]> {
		const all: Retry[] = [];
		for (const queue of QUEUES)
			all.push(...(await this.storage.readRetries({ projectId, webhookId, queue, limit: 10_000 })));
		return all;
	}

	log(projectId: string): Promise<LogEvent[]> {
		return this.storage.readLog({ projectId, after: 0, window: WIDE });
	}
}

/** Bytes as text, so that two rows with byte arrays of different classes can be compared. */
export function plain<T>(value: T): unknown {
	if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
	if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, plain(each)]));
	if (Array.isArray(value)) return value.map(plain);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

/** The webhook with its events in a fixed order, for comparison. */
export function sorted(webhook: Webhook | null): Webhook | null {
	return webhook === null ? null : { ...webhook, events: [...webhook.events].sort() };
}
