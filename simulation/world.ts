/** A world: nodes, database, network and people of a plan, from its beginning until it has come to rest. */
import { createHash } from "node:crypto";
import { StorageError } from "../packages/server/src/storage/port.ts";
import { Faults, Lasting } from "./faults.ts";
import type { Happening, News } from "./happenings.ts";
import { Network } from "./network/index.ts";
import { Machines } from "./nodes/machines.ts";
import { BRAND, type SimNode } from "./nodes/node.ts";
import { type Breach, Oracle } from "./oracle/oracle.ts";
import { drainMsOf } from "./oracle/promises/delivered.ts";
import { RECOVERY_MS } from "./oracle/promises/quiet.ts";
import { patienceOf } from "./oracle/promises/waiting.ts";
import { People, type Webhook } from "./people.ts";
import type { Plan, Step } from "./plan.ts";
import { type Random, stream } from "./random.ts";
import { nextUrl } from "./receivers.ts";
import { createDatabase, type Database, type StorageKind } from "./storage/database.ts";
import { Timeline } from "./time.ts";

/** The time of day when a world begins: any whole second. */
const START_MS = Date.UTC(2026, 2, 1);
/** How often to check for things that never happened, milliseconds. */
const WATCH_MS = 60_000;
/** How often to check whether a world is at rest, milliseconds. */
const LOOK_MS = 5_000;
/** When statistics are recounted before the end, as parts of a world's time. */
const RECOUNTED_AT = [0.3, 0.6, 0.9];

export interface WorldOptions {
	readonly storage: StorageKind;
	/** A running server, for worlds on PostgreSQL. */
	readonly postgresUrl?: string | undefined;
	/** Keeps a digest of everything that happens: it costs more than all else. */
	readonly digests?: boolean;
	/** Called for everything that happens. */
	readonly onHappening?: ((happening: Happening) => void) | undefined;
}

/** How a world went. */
export interface Ending {
	/** The promise that was broken, or null. */
	readonly breach: Breach | null;
	readonly virtualMs: number;
	readonly events: number;
	readonly attempts: number;
	readonly requests: number;
	/** How long the world took to come to rest after all faults had ended, milliseconds. */
	readonly drainedMs: number;
	readonly longestWaitMs: number;
	/** A digest of everything that happened, in order, if requested. */
	readonly digest: string;
}

/** A copy of the database that no longer gets its commits. */
interface Standby {
	/** The oracle's mark when it was cut off. */
	mark: number;
	/** Makes it the database; null until it can be. */
	restore: (() => Promise<void>) | null;
}

export class World {
	readonly timeline = new Timeline();
	readonly people: People;
	readonly #plan: Plan;
	readonly #options: WorldOptions;
	readonly #oracle: Oracle;
	readonly #network: Network;
	readonly #hash = createHash("sha256");
	readonly #sealKey: Uint8Array;
	readonly #lasting: Lasting;
	#database!: Database;
	#machines!: Machines;
	#faults!: Faults;
	/** Those that are cut off and will take over. */
	readonly #standbys = new Set<Standby>();
	#restores = 0;
	#failure: unknown = null;
	#calmAt: number | null = null;
	#drainedAt: number | null = null;

	constructor(plan: Plan, options: WorldOptions) {
		this.#plan = plan;
		this.#options = options;
		const { shape, seed } = plan;
		const { timeline } = this;
		this.#sealKey = stream(seed, "seal").bytes(32);
		this.people = new People(this);
		this.#lasting = new Lasting(timeline, (news) => this.tell(news));
		const manyNodes = shape.nodes > 1 || options.storage === "postgres";
		this.#oracle = new Oracle({
			facts: { ...shape, manyNodes, brand: BRAND, sealKey: this.#sealKey },
			patience: patienceOf(shape),
			now: () => timeline.now(),
			disagreementMs: () => this.#machines.disagreementMs(),
			nodeNow: (node) => this.#machines.named(node).clock.now(),
		});
		this.#network = new Network({
			time: timeline,
			streams: (...names) => this.random("network", ...names),
			keepRequests: false,
			latency: (_node, _address, draw) => draw.between(1, shape.networkLatencyMs),
			observer: {
				connecting: (node, address) => this.tell({ kind: "connecting", node, address }),
				sent: (request) => this.tell({ kind: "sent", request }),
				received: (request) => this.tell({ kind: "received", request }),
				responded: (request, status) => this.tell({ kind: "responded", request, status }),
				broken: (request, why) => this.tell({ kind: "broken", request, why }),
			},
		});
	}

	random(...names: readonly (string | number)[]): Random {
		return stream(this.#plan.seed, ...names);
	}

	get isOver(): boolean {
		return this.#failure !== null || this.#oracle.breach !== null || this.#drainedAt !== null;
	}

	tell(news: News): void {
		const happening = { ...news, at: this.timeline.now() } as Happening;
		if (this.#options.digests) this.#hash.update(digestOf(happening));
		this.#options.onHappening?.(happening);
		if (news.kind === "sent") this.#machines.disagreementMs();
		this.#oracle.hear(happening);
	}

	/** A node that a client reaches, even if it is suspended. Null when none is up. */
	nodeFor(random: Random): SimNode | null {
		const up = this.#machines.nodes.filter(({ host }) => !host.isDead);
		return up.length === 0 ? null : random.pick(up);
	}

	/** The next URL of a webhook. Its receiver listens there. */
	urlOf(webhook: Webhook): string {
		return nextUrl(webhook, this.#network);
	}

	async run(): Promise<Ending> {
		await this.#create();
		try {
			for (const step of this.#plan.steps) this.#schedule(step);
			this.timeline.at(this.#plan.shape.durationMs, () => this.#calm());
			this.#watch();
			for (const part of RECOUNTED_AT)
				this.timeline.at(Math.floor(this.#plan.shape.durationMs * part), () => this.#run(this.#recountMeanwhile()));
			await this.timeline.run(() => this.isOver);
			if (this.#failure !== null) throw this.#failure;
			if (this.#oracle.breach === null) this.#oracle.end();
			if (this.#oracle.breach === null) await this.#recount();
		} finally {
			await this.#machines.end();
			await this.#database.dispose();
		}
		const { ledger, wire, breach, longestWaitMs } = this.#oracle;
		return {
			...{ breach, longestWaitMs, virtualMs: this.timeline.now() },
			...{ events: ledger.events, attempts: ledger.attempts.size, requests: wire.count },
			drainedMs: (this.#drainedAt ?? this.timeline.now()) - (this.#calmAt ?? this.timeline.now()),
			digest: this.#hash.digest("hex"),
		};
	}

	async #create(): Promise<void> {
		const { timeline } = this;
		const { shape } = this.#plan;
		const manyNodes = shape.nodes > 1;
		const { leaseTermMs } = shape;
		const { storage, postgresUrl } = this.#options;
		const database = await createDatabase(storage, {
			...{ timeline, startMs: START_MS, leaseTermMs, manyNodes, postgresUrl },
		});
		const network = this.#network;
		const lasting = this.#lasting;
		const run = (work: Promise<unknown>): void => this.#run(work);
		this.#machines = new Machines({
			...{ timeline, startMs: START_MS, shape, sealKey: this.#sealKey, database, network, run },
			random: (...names) => this.random(...names),
			restores: () => this.#restores,
			tell: (news) => this.tell(news),
			lasting: (ms, end) => lasting.add(ms, end),
		});
		const projectId = (index: number): string | null => this.people.project(index).id;
		this.#faults = new Faults({ lasting, machines: this.#machines, network, database, projectId, run });
		this.#database = database;
	}

	#watch(): void {
		this.timeline.after(WATCH_MS, () => {
			this.#machines.disagreementMs();
			this.#oracle.look();
			this.#watch();
		});
	}

	#run(work: Promise<unknown>): void {
		work.catch((error: unknown) => {
			this.#failure ??= error;
		});
	}

	// ── steps ──

	#schedule(step: Step): void {
		if (step.do === "failover") this.#scheduleFailover(step.at, step.lostMs);
		else this.timeline.at(step.at, () => this.#perform(step));
	}

	#perform(step: Step): void {
		switch (step.do) {
			case "crash":
			case "restart":
			case "freeze":
			case "sleep":
			case "drift":
				this.#machines.perform(step);
				break;
			case "set clock":
			case "storage":
			case "lock":
			case "name":
			case "cut":
			case "name servers":
			case "shortage":
				this.#faults.perform(step);
				break;
			default:
				this.#run(this.people.perform(step));
		}
	}

	/** A standby stops following the database, and takes over later, without the last commits. */
	#scheduleFailover(at: number, lostMs: number): void {
		const standby: Standby = { mark: 0, restore: null };
		this.timeline.at(at - lostMs, () => {
			this.#standbys.add(standby);
			this.#run(this.#cutOff(standby));
		});
		this.timeline.at(at, () => this.#run(this.#promote(standby)));
	}

	async #cutOff(standby: Standby): Promise<void> {
		standby.mark = this.#oracle.mark;
		standby.restore = await this.#database.snapshot();
	}

	async #promote(standby: Standby): Promise<void> {
		this.#standbys.delete(standby);
		if (!standby.restore) return;
		this.#restores += 1;
		const restored = standby.restore();
		this.tell({ kind: "restored", since: standby.mark });
		// Other standbys have commits that are lost now: they copy the new database.
		const ahead = [...this.#standbys].filter(({ mark }) => mark >= standby.mark);
		for (const other of ahead) other.restore = null;
		await restored;
		for (const other of ahead) await this.#cutOff(other);
	}

	// ── the end ──

	/** Ends all faults, so that attempts in flight can finish. */
	#calm(): void {
		this.#lasting.endAll();
		this.tell({ kind: "calm" });
		this.people.calm(this.random("calm"));
		this.#calmAt = this.timeline.now();
		const deadline = this.#calmAt + drainMsOf(this.#plan.shape, this.#oracle.pending);
		let restSince: number | null = null;
		const look = (): void => {
			const now = this.timeline.now();
			const { underWay } = this.people;
			this.#machines.upAll();
			restSince = underWay === 0 && this.#oracle.isAtRest ? (restSince ?? now) : null;
			// Rest lasts: nothing starts again.
			if (restSince !== null && now - restSince >= RECOVERY_MS) this.#drainedAt = restSince;
			else if (now > deadline) this.#oracle.late(now - this.#calmAt!, underWay);
			else this.timeline.after(LOOK_MS, look);
		};
		look();
	}

	/** Compares the statistics with the oracle's, by the clock of a node that is up. */
	async #recount(): Promise<void> {
		const node = this.#machines.nodes.find(({ host }) => !host.isDead);
		if (node) await this.#oracle.recount(node.real, node.clock.now());
	}

	/** The same while the service works: faults may keep the node from its database. */
	async #recountMeanwhile(): Promise<void> {
		await this.#database.hold(
			this.#recount().catch((error: unknown) => {
				if (!(error instanceof StorageError)) throw error;
			}),
		);
	}
}

function digestOf(happening: Happening): string {
	return JSON.stringify(happening, (_, value: unknown) => {
		if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
		return value instanceof Map ? [...value] : value;
	});
}
