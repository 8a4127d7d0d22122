/** One life of a node, from start to death: the real engine, registry and store, over what the world hands in. */
import { IdSource } from "../../packages/server/src/base/ids.ts";
import type { Logger } from "../../packages/server/src/base/logger.ts";
import { Seal } from "../../packages/server/src/base/seal.ts";
import { type RunningEngine, startEngine } from "../../packages/server/src/engine/index.ts";
import type { Sender } from "../../packages/server/src/engine/send/outcome.ts";
import { createGuard } from "../../packages/server/src/net/egress.ts";
import { SHORTAGE_TEXT, Shortages } from "../../packages/server/src/net/shortages.ts";
import { Projects } from "../../packages/server/src/registry/projects.ts";
import { Webhooks } from "../../packages/server/src/registry/webhooks.ts";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import { type RunningStore, startStore } from "../../packages/server/src/store/index.ts";
import type { News } from "../happenings.ts";
import { createNodeSender, type Network, type NodeNetwork } from "../network/index.ts";
import type { Random } from "../random.ts";
import type { Database } from "../storage/database.ts";
import { HostileStorage } from "../storage/hostile.ts";
import { NodeClock, type Timeline } from "../time.ts";
import { Host } from "./host.ts";

export interface NodeSettings {
	readonly leaseTermMs: number;
	readonly retryDelaysMs: readonly number[];
	readonly attemptTimeoutMs: number;
	readonly retentionMs: number;
	readonly basketIdleMs: number;
	readonly activeProjects: number | null;
	readonly sendsInFlight: number | null;
	/** How long a call of the database takes each way at most, milliseconds. */
	readonly databaseLatencyMs: number;
}

export interface NodeParts {
	readonly timeline: Timeline;
	/** The time of day when the world began. */
	readonly startMs: number;
	readonly sealKey: Uint8Array;
	readonly settings: NodeSettings;
	readonly database: Database;
	readonly network: Network;
	readonly random: (...names: readonly (string | number)[]) => Random;
	readonly restores: () => number;
	readonly tell: (news: News) => void;
	/** Called before anything happens in it. */
	readonly register: (node: SimNode) => void;
}

export const BRAND = "Posthorn";
const MAX_EVENT_BYTES = 262_144;
/** The clock of the machine that it runs on. */
export interface MachineClock {
	/** How far it is ahead, milliseconds. */
	readonly aheadMs: number;
	/** 1 is right. */
	readonly rate: number;
}

const LIMITS = { maxWebhooksPerProject: 10_000, maxUrlLength: 2_048, maxDescriptionLength: 200 };

export class SimNode {
	readonly name: string;
	readonly host: Host;
	readonly clock: NodeClock;
	storage!: HostileStorage;
	engine!: RunningEngine;
	store!: RunningStore;
	projects!: Projects;
	webhooks!: Webhooks;
	network!: NodeNetwork;
	#sender!: Sender;
	readonly #parts: NodeParts;
	/** Its way to the database, as if nothing ever went wrong. */
	real!: Storage;

	private constructor(name: string, { aheadMs, rate }: MachineClock, parts: NodeParts) {
		this.name = name;
		this.#parts = parts;
		this.host = new Host(name, (run) => parts.timeline.after(0, run));
		this.clock = new NodeClock(parts.timeline, this.host, parts.startMs, aheadMs);
		this.clock.drift(rate);
		parts.register(this);
	}

	static async start(name: string, machine: MachineClock, parts: NodeParts): Promise<SimNode> {
		const node = new SimNode(name, machine, parts);
		await node.#start();
		return node;
	}

	async #start(): Promise<void> {
		const { timeline, settings, sealKey, database, random, restores, tell } = this.#parts;
		const { clock, host, name } = this;
		const hold: typeof database.hold = (call) => database.hold(call);
		this.real = await hold(database.open(clock));
		this.storage = new HostileStorage(this.real, {
			...{ timeline, host, hold, restores, tell, hasHints: database.hasHints },
			random: random("storage", name),
			hints: random("hints", name),
			latencyMs: settings.databaseLatencyMs,
		});
		const storage = this.storage.seen;
		const draw = random("ids", name);
		const ids = new IdSource(clock, (count) => draw.bytes(count));
		const nonces = random("nonces", name);
		const seal = new Seal([sealKey], (count) => nonces.bytes(count));
		const logger = this.#logger();
		const shortages = new Shortages(clock, (shortage) => logger.warn({ shortage }, SHORTAGE_TEXT[shortage]));
		this.network = this.#parts.network.attach(host, clock);
		const guard = createGuard({ allow: [], interfaces: this.network.interfaces, clock });
		this.#sender = createNodeSender(this.network, {
			...{ clock, guard, shortages, brand: BRAND, timeoutMs: settings.attemptTimeoutMs },
			random: random("connections", name).float,
			onFault: (err) => logger.error({ err }, "an attempt failed because of an error in this service"),
		});
		this.engine = startEngine({
			...{ storage, sender: this.#sender, clock, disk: clock, ids, seal, logger, shortages },
			leaseTermMs: settings.leaseTermMs,
			retryDelaysMs: settings.retryDelaysMs,
			attemptTimeoutMs: settings.attemptTimeoutMs,
			retentionMs: settings.retentionMs,
			maxEventBytes: MAX_EVENT_BYTES,
			sendsInFlight: settings.sendsInFlight ?? undefined,
			activeProjects: settings.activeProjects ?? undefined,
		});
		const { engine } = this;
		this.store = startStore({
			...{ storage, engine, clock, ids, logger },
			maxEventBytes: MAX_EVENT_BYTES,
			basketIdleMs: settings.basketIdleMs,
		});
		this.projects = new Projects({ storage, engine, clock, ids });
		const secrets = random("secrets", name);
		this.webhooks = new Webhooks({
			...{ storage, engine, guard, seal, clock, ids, limits: LIMITS },
			random: (count) => secrets.bytes(count),
		});
		tell({ kind: "started", node: name });
	}

	/** The process dies: nothing that it does from now on counts. */
	async crash(): Promise<void> {
		this.host.kill();
		this.network.die();
		this.#parts.tell({ kind: "crashed", node: this.name });
		await this.#parts.database.close(this.real);
	}

	/** Stops in order, as on SIGTERM: resolves when everything is given back. */
	async stop(): Promise<void> {
		await this.store.stop();
		await this.engine.stop();
		await this.#sender.close();
	}

	/** Ends the process. */
	async end(): Promise<void> {
		if (this.host.isDead) return;
		this.host.kill();
		this.network.die();
		this.#parts.tell({ kind: "stopped", node: this.name });
		await this.#parts.database.close(this.real);
	}

	#logger(): Logger {
		const { tell } = this.#parts;
		const log = (level: string) => (fields: object, text: string) => {
			if (this.host.isDead) return;
			const { err, ...others } = fields as { err?: Error };
			const about = Object.keys(others).length > 0 ? ` ${JSON.stringify(others)}` : "";
			tell({ kind: "logged", node: this.name, level, text: `${text}${about}${err ? ` (${err.message})` : ""}` });
		};
		return {
			debug() {},
			info() {},
			warn: log("warn"),
			error: log("error"),
			isLevelEnabled: (level) => level !== "debug",
		};
	}
}
