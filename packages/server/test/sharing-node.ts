import { createHash } from "node:crypto";
import { createMetrics, type Metrics } from "../src/api/metrics.ts";
import { systemClock } from "../src/base/clock.ts";
import { IdSource } from "../src/base/ids.ts";
import { silentLogger } from "../src/base/logger.ts";
import { Seal } from "../src/base/seal.ts";
import { type RunningEngine, startEngine } from "../src/engine/index.ts";
import type { Storage } from "../src/storage/port.ts";
import { openPostgresStorage } from "../src/storage/postgres/index.ts";
import { ALL_TYPES, DAY_MS, ScriptedSender } from "./engine-rig.ts";
import type { LeaseLedger } from "./lease-ledger.ts";

/** Short, so that a test sees leases change hands; long enough for a busy machine to renew them. */
const LEASE_TERM_MS = 2_500;
/** Failing deliveries are due again after this, and never end. */
const RETRY_MS = 250;
const NEVER_ENDING = 100_000;

const seal = new Seal([Buffer.alloc(32)]);

/** A node with its own engine and storage, whose receivers always fail. */
export class SharingNode {
	readonly #ids = new IdSource(systemClock);
	readonly #storage: Storage;
	readonly #metrics: Metrics;
	readonly #engine: RunningEngine;
	readonly #gate: Gate;
	#stopped: Promise<void> | null = null;

	private constructor(name: string, storage: Storage, ledger: LeaseLedger, metrics: Metrics) {
		this.#storage = storage;
		this.#metrics = metrics;
		this.#gate = new Gate();
		this.#engine = startEngine({
			storage: watched(name, storage, this.#gate, ledger),
			sender: new ScriptedSender(systemClock, ({ target }) => {
				ledger.started(name, projectOf(target.url));
				return 500;
			}),
			clock: systemClock,
			disk: systemClock,
			ids: this.#ids,
			seal,
			logger: silentLogger,
			leaseTermMs: LEASE_TERM_MS,
			retryDelaysMs: Array.from({ length: NEVER_ENDING }, () => RETRY_MS),
			attemptTimeoutMs: 15_000,
			retentionMs: 30 * DAY_MS,
			maxEventBytes: 262_144,
			observer: metrics.engine,
		});
		metrics.watchNode(() => this.#engine.node);
	}

	static async start(url: string, ledger: LeaseLedger): Promise<SharingNode> {
		const metrics = createMetrics(15_000);
		const observer = metrics.database();
		const storage = await openPostgresStorage({ url, clock: systemClock, leaseTermMs: LEASE_TERM_MS, observer });
		metrics.watchPools(() => storage.pools);
		return new SharingNode(new IdSource(systemClock).next("node"), storage, ledger, metrics);
	}

	/** Its Prometheus metrics: every sample by its name and labels. */
	async samples(): Promise<ReadonlyMap<string, number>> {
		const lines = (await this.#metrics.registry.metrics()).split("\n");
		const samples = lines.filter((line) => line.startsWith("posthorn_")).map((line) => /^(.*) (\S+)$/.exec(line)!);
		return new Map(samples.map(([, name, value]) => [name!, Number(value)]));
	}

	/** Creates a project that always has work. */
	async addProject(): Promise<void> {
		const [projectId, id] = [this.#ids.next("project"), this.#ids.next("webhook")];
		await this.#storage.createProject({ id: projectId, name: "A store", apps: ["developer"], createdAt: Date.now() });
		const webhook = {
			url: urlOf(projectId),
			description: "",
			events: ALL_TYPES,
			maxInFlight: 1,
			createdAt: Date.now(),
		};
		const sealedDigest = seal.seal(createHash("sha256").update(id).digest(), id);
		await this.#engine.change(
			projectId,
			() => this.#storage.createWebhook({ id, projectId, sealedDigest, ...webhook, maxPerProject: 100 }),
			() => ({ webhookId: id }),
		);
		const published = await this.#engine.publish(projectId, [{ type: "delivery.success", data: "{}" }]);
		if (published.kind !== "published") throw new Error(`not published: ${published.kind}`);
	}

	/** From now on, none of its storage calls gets through, as in a suspended process. */
	hang(): void {
		this.#gate.close();
	}

	/** Lets the calls made meanwhile through, late. */
	goOn(): void {
		this.#gate.open();
	}

	/** Releases its leases. */
	stop(): Promise<void> {
		this.goOn();
		this.#stopped ??= this.#engine.stop().then(() => this.#storage.close());
		return this.#stopped;
	}
}

const urlOf = (projectId: string): string => `https://receiver.example/${projectId}`;
const projectOf = (url: string): string => url.slice(url.lastIndexOf("/") + 1);

class Gate {
	#closed: PromiseWithResolvers<void> | null = null;

	close(): void {
		this.#closed = Promise.withResolvers();
	}

	open(): void {
		this.#closed?.resolve();
		this.#closed = null;
	}

	async pass(): Promise<void> {
		await this.#closed?.promise;
	}
}

/** A node's storage with the gate in front, recording leases in the ledger. */
function watched(name: string, storage: Storage, gate: Gate, ledger: LeaseLedger): Storage {
	const told: Partial<Storage> = {
		async acquireLeases(p) {
			const leases = await storage.acquireLeases(p);
			for (const lease of leases) ledger.granted(name, lease);
			return leases;
		},
		async renewLeases(p) {
			const renewal = await storage.renewLeases(p);
			for (const lease of renewal.renewed) ledger.renewed(name, lease);
			return renewal;
		},
		releaseLease(p) {
			ledger.released(name, p.lease);
			return storage.releaseLease(p);
		},
	};
	return behind(gate, storage, told);
}

/** The object with its methods delayed until the gate is open; those in `instead` replace its own. */
function behind<T extends object>(gate: Gate, object: T, instead: Partial<T> = {}): T {
	return new Proxy(object, {
		get(_, key) {
			const value: unknown = Reflect.get(key in instead ? instead : object, key, object);
			if (typeof value !== "function") return key === "peers" && value ? behind(gate, value) : value;
			if (key === "subscribe" || key === "onEpoch") return value.bind(object);
			return async (...args: unknown[]) => {
				await gate.pass();
				return value.apply(object, args);
			};
		},
	});
}
