import { createHash, randomBytes } from "node:crypto";
import { EVENT_TYPES } from "@posthorn/protocol";
import { Signal } from "@posthorn/testkit/signal";
import { patience } from "@posthorn/testkit/until";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import type { Clock } from "../src/base/clock.ts";
import { IdSource } from "../src/base/ids.ts";
import { silentLogger } from "../src/base/logger.ts";
import { Seal } from "../src/base/seal.ts";
import { type ChangeScope, type EngineOptions, type RunningEngine, startEngine } from "../src/engine/index.ts";
import type { Sender, Sent, Shipment } from "../src/engine/send/outcome.ts";
import type { FailureReason } from "../src/net/errors.ts";
import type { Shortage } from "../src/net/shortages.ts";
import type { NewAttempt, Storage } from "../src/storage/port.ts";
import { diskClock } from "./disk-clock.ts";

export const SPEC_DELAYS_MS = [30, 60, 120, 300, 600, 1800, 3600].map((s) => s * 1000);
export const DAY_MS = 24 * 60 * 60 * 1000;
export const LEASE_TERM_MS = 10_000;
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** How long a node waits before it checks again whether a change is in force. */
const MOMENT_MS = 20;
export const ALL_TYPES = EVENT_TYPES.map((entry) => entry.type);

/** How a scripted receiver treats an attempt. */
export type Script = (shipment: Shipment, nth: number) => ScriptedResponse | Promise<ScriptedResponse>;
export type ScriptedResponse = number | FailureReason | "cancelled" | { readonly shortage: Shortage };

/** The injected network: decides how receivers respond, and records what was sent. */
export class ScriptedSender implements Sender {
	readonly sent: { url: string; eventId: string; at: number }[] = [];
	/** Fires with every request that is sent. */
	readonly sending = new Signal();
	readonly #clock: Clock;
	script: Script;
	/** Awaited before an attempt's request is written; cancelled attempts write none. */
	beforeWriting: (() => Promise<void>) | null = null;
	/** Ids of the events whose requests were written, once per attempt. */
	readonly written: string[] = [];
	inFlight = 0;
	mostInFlight = new Map<string, number>();
	readonly #open = new Map<string, number>();
	readonly #answered = Promise.withResolvers<200>();

	constructor(clock: Clock, script: Script = () => 200) {
		this.#clock = clock;
		this.script = script;
	}

	async send(shipment: Shipment): Promise<Sent> {
		const startedAt = this.#clock.now();
		shipment.onBegun?.(startedAt);
		const { url } = shipment.target;
		this.sent.push({ url, eventId: shipment.eventId, at: startedAt });
		this.sending.look();
		if (this.beforeWriting) {
			await this.beforeWriting();
			if (!shipment.target.active || !shipment.mayLeave()) return { kind: "cancelled" };
		}
		this.written.push(shipment.eventId);
		shipment.onWritten?.();
		const open = (this.#open.get(url) ?? 0) + 1;
		this.#open.set(url, open);
		this.mostInFlight.set(url, Math.max(open, this.mostInFlight.get(url) ?? 0));
		const answer = await Promise.race([this.#answered.promise, this.script(shipment, this.sent.length)]);
		this.#open.set(url, (this.#open.get(url) ?? 1) - 1);
		if (answer === "cancelled") return { kind: "cancelled" };
		if (typeof answer === "object") return { kind: "deferred", ...answer };
		const times = { startedAt, endedAt: this.#clock.now(), waitedMs: 0 };
		const request = { url, brand: "Service", timestamp: Math.floor(startedAt / 1000), signature: "0".repeat(64) };
		return typeof answer === "number"
			? { kind: "answered", status: answer, body: Buffer.from("ok"), truncated: false, request, ...times }
			: { kind: "unanswered", reason: answer, url, request, ...times };
	}

	async close(): Promise<void> {}

	/** From now on, receivers respond immediately, also to what is in flight. */
	answerAll(): void {
		this.#answered.resolve(200);
	}

	/** Forgets the requests sent so far and those in flight. */
	forget(): void {
		this.sent.length = 0;
		this.#open.clear();
		this.mostInFlight.clear();
	}

	/** Ids of the events sent to this URL, in the order of their attempts. */
	to(url: string): string[] {
		return this.sent.filter((request) => request.url === url).map((request) => request.eventId);
	}
}

export interface Settled extends NewAttempt {
	readonly eventId: string;
}

/** A database for one rig. */
export interface RigDatabase {
	/** Its leases use the clock, and last {@link LEASE_TERM_MS} by default. */
	open(clock: Clock, leaseTermMs?: number): Promise<Storage>;
	/** Called after it is closed. */
	remove(): Promise<void>;
}

/** Starts an engine on an empty database. `wrap` wraps its storage. */
export type StartRig = (
	wrap?: (storage: Storage) => Storage,
	leaseTermMs?: number,
	bounds?: Bounds,
) => Promise<EngineRig>;

/** Smaller than a real node's. */
export type Bounds = Partial<Pick<EngineOptions, "sendsInFlight" | "activeProjects" | "windowBytes">>;

/** A real engine on a real database, with a scripted network and a virtual clock. */
export class EngineRig {
	readonly clock = new VirtualClock();
	readonly sender: ScriptedSender;
	readonly ids: IdSource;
	/** What the next engine opens secrets with. */
	seal = new Seal([randomBytes(32)]);
	/** The delays of the next engine. */
	retryDelaysMs: readonly number[] = SPEC_DELAYS_MS;
	readonly settled: Settled[] = [];
	/** Messages of warnings and errors that the engine has logged. */
	readonly logged: string[] = [];
	storage!: Storage;
	engine!: RunningEngine;
	projectId = "";
	readonly #settling = new Signal();
	readonly #database: RigDatabase;
	readonly #wrap: (storage: Storage) => Storage;
	readonly #leaseTermMs: number;
	readonly #bounds: Bounds;

	private constructor(database: RigDatabase, wrap: (storage: Storage) => Storage, leaseTermMs: number, bounds: Bounds) {
		this.ids = new IdSource(this.clock);
		this.sender = new ScriptedSender(this.clock);
		this.#database = database;
		this.#wrap = wrap;
		this.#leaseTermMs = leaseTermMs;
		this.#bounds = bounds;
	}

	static async start(
		database: RigDatabase,
		wrap: (storage: Storage) => Storage = (s) => s,
		leaseTermMs = LEASE_TERM_MS,
		bounds: Bounds = {},
	): Promise<EngineRig> {
		const rig = new EngineRig(database, wrap, leaseTermMs, bounds);
		await rig.open();
		rig.projectId = await rig.project();
		return rig;
	}

	/** Creates another project. By default, everything else here applies to {@link projectId}. */
	async project(): Promise<string> {
		const id = this.ids.next("project");
		await this.storage.createProject({ id, name: "A store", apps: ["developer"], createdAt: this.clock.now() });
		return id;
	}

	readonly #log = (_fields: object, message: string): void => void this.logged.push(message);

	async open(): Promise<void> {
		this.storage = this.#wrap(await this.#database.open(this.clock, this.#leaseTermMs));
		this.engine = startEngine({
			storage: this.storage,
			sender: this.sender,
			clock: this.clock,
			disk: diskClock,
			ids: this.ids,
			seal: this.seal,
			logger: { ...silentLogger, warn: this.#log, error: this.#log },
			leaseTermMs: this.#leaseTermMs,
			retryDelaysMs: this.retryDelaysMs,
			attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
			retentionMs: 30 * DAY_MS,
			maxEventBytes: 262_144,
			...this.#bounds,
			observer: {
				attempted: (_projectId, eventId, attempt) => {
					this.settled.push({ ...attempt, eventId });
					this.#settling.look();
				},
			},
		});
	}

	async close(): Promise<void> {
		await this.engine.stop();
		await this.storage.close();
	}

	/** Kills the node: nothing that it does from now on is stored, and other nodes may take its leases. */
	async crash(): Promise<void> {
		await this.storage.close();
		this.clock.advance(this.#leaseTermMs);
	}

	/** Waits for no receiver: otherwise, a test that fails while some hang wouldn't say why. */
	async [Symbol.asyncDispose](): Promise<void> {
		this.sender.answerAll();
		await this.close();
		await this.#database.remove();
	}

	/**
	 * Changes the project's webhooks. If other nodes may own the project, that takes a moment, so the clock advances by
	 * that much.
	 */
	async change<T>(change: () => Promise<T>, scope: ChangeScope = "project", projectId = this.projectId): Promise<T> {
		let isOver = false;
		const changed = this.engine.change(projectId, change, () => scope);
		const over = (): void => {
			isOver = true;
		};
		changed.then(over, over);
		const stillInTime = patience("a change of webhooks to be in force");
		while (!isOver) {
			stillInTime();
			await new Promise((resolve) => setImmediate(resolve));
			const { nextAt } = this.clock;
			if (nextAt !== null && nextAt - this.clock.elapsed() <= MOMENT_MS) this.clock.advanceTo(nextAt);
		}
		return changed;
	}

	/** The project's queues have changed in storage, as by a replay. */
	wake(): void {
		void this.engine.wakeAfter(this.projectId, Promise.resolve(), () => true);
	}

	/** Runs a retention pass that starts now; one already in progress used an earlier time. */
	async sweep(): Promise<void> {
		await this.engine.sweep();
		await this.engine.sweep();
	}

	/** Resolves as soon as `ready` returns true; it is called after every settled attempt. */
	until(what: string, ready: () => boolean): Promise<void> {
		return this.#settling.until(what, ready);
	}

	/** Resolves when the receivers were sent `count` requests, whether or not they responded. */
	sentCount(count: number): Promise<void> {
		return this.sentWhen(`${count} requests to be sent`, (sent) => sent.length >= count);
	}

	/** Resolves when `ready` returns true; it is called with every request that is sent. The clock doesn't move. */
	async sentWhen(what: string, ready: (sent: ScriptedSender["sent"]) => boolean): Promise<void> {
		if (ready(this.sender.sent)) return;
		await this.sender.sending.until(what, () => ready(this.sender.sent));
		// What the last request triggers immediately is done.
		await new Promise((resolve) => setImmediate(resolve));
	}

	settledCount(count: number): Promise<void> {
		return this.until(`${count} attempts to be settled`, () => this.settled.length >= count);
	}

	async webhook(
		name: string,
		options: { events?: readonly string[]; maxInFlight?: number; projectId?: string } = {},
	): Promise<{ id: string; url: string }> {
		const { projectId = this.projectId } = options;
		const id = this.ids.next("webhook");
		const url = `https://${name}.example/`;
		const webhook = {
			...{ id, projectId, url },
			description: name,
			events: options.events ?? ALL_TYPES,
			maxInFlight: options.maxInFlight ?? 1,
			createdAt: this.clock.now(),
			sealedDigest: this.seal.seal(createHash("sha256").update(name).digest(), id),
		};
		await this.change(
			() => this.storage.createWebhook({ ...webhook, maxPerProject: 100 }),
			{ webhookId: id },
			projectId,
		);
		return { id, url };
	}

	/** Publishes `count` events, one per call; returns their ids. */
	async publish(count: number, type = "delivery.success"): Promise<string[]> {
		const ids: string[] = [];
		for (let i = 0; i < count; i++) ids.push((await this.publishAll(1, type))[0]!);
		return ids;
	}

	/** Publishes `count` events in one call. */
	async publishAll(count: number, type = "delivery.success", projectId = this.projectId): Promise<string[]> {
		const drafts = Array.from({ length: count }, (_, n) => ({ type, data: JSON.stringify({ n }) }));
		const result = await this.engine.publish(projectId, drafts);
		if (result.kind !== "published") throw new Error(`not published: ${JSON.stringify(result)}`);
		return result.events.map((event) => event.id);
	}
}
