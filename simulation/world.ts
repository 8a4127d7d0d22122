/** A world: nodes, database, network and people of a plan, from its beginning until it has come to rest. */
import { createHash } from "node:crypto";
import type { Happening, News } from "./happenings.ts";
import { behaviourOf } from "./moods.ts";
import { Network, Receiver } from "./network/index.ts";
import { BRAND, SimNode } from "./nodes/node.ts";
import { type Breach, Oracle } from "./oracle/oracle.ts";
import { RECOVERY_MS } from "./oracle/quiet.ts";
import type { Patience } from "./oracle/waiting.ts";
import { People, type Webhook } from "./people.ts";
import { MINUTE, type Plan, type Shape, type Step } from "./plan.ts";
import { type Random, stream } from "./random.ts";
import { createDatabase, type Database, type StorageKind } from "./storage/database.ts";
import { Timeline } from "./time.ts";

/** Whole seconds, somewhere in time. */
const START_MS = Date.UTC(2026, 2, 1);
/** How often to check for things that never happened, milliseconds. */
const WATCH_MS = 60_000;
/** How often to check whether a world is at rest, milliseconds. */
const LOOK_MS = 5_000;

export interface WorldOptions {
	readonly storage: StorageKind;
	/** Called for everything that happens. */
	/** Keeps a digest of everything that happens: it costs more than all else. */
	readonly digests?: boolean;
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

/** What a name may resolve to, and nothing may be sent to. */
const PRIVATE = ["10.0.0.7", "127.0.0.1", "169.254.169.254", "::1", "fd00::7"];

/** Clocks that differ by less are taken for one (storage/shared/clock-offset.ts), milliseconds. */
const AGREE_MS = 450;

/** A machine that lives of nodes run on. */
interface Machine {
	readonly index: number;
	node: SimNode | null;
	/** Names its next life. */
	lives: number;
	aheadMs: number;
	rate: number;
	/** Goes down or comes up. */
	isMoving: boolean;
}

export class World {
	readonly timeline = new Timeline();
	readonly people: People;
	readonly #plan: Plan;
	readonly #options: WorldOptions;
	readonly #oracle: Oracle;
	readonly #network: Network;
	readonly #machines: Machine[] = [];
	readonly #nodes = new Map<string, SimNode>();
	readonly #hash = createHash("sha256");
	readonly #sealKey: Uint8Array;
	#database!: Database;
	#restores = 0;
	#mostOff = 0;
	#failure: unknown = null;
	#calmAt: number | null = null;
	#drainedAt: number | null = null;
	/** Ends what still goes wrong. */
	readonly #heal = new Set<() => void>();

	constructor(plan: Plan, options: WorldOptions) {
		this.#plan = plan;
		this.#options = options;
		const { shape, seed } = plan;
		this.#sealKey = stream(seed, "seal").bytes(32);
		this.people = new People(this);
		this.#oracle = new Oracle({
			facts: {
				...shape,
				manyNodes: shape.nodes > 1 || options.storage === "postgres",
				brand: BRAND,
				sealKey: this.#sealKey,
			},
			patience: patienceOf(shape),
			now: () => this.timeline.now(),
			disagreementMs: () => this.#disagreementMs(),
			nodeNow: (node) => this.#nodes.get(node)!.clock.now(),
		});
		const { timeline } = this;
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
		if (news.kind === "sent") this.#disagreementMs();
		this.#oracle.hear(happening);
	}

	/** A node that a client reaches: it may stand still. Null when none is up. */
	nodeFor(random: Random): SimNode | null {
		const up = this.#machines.flatMap(({ node }) => (node && !node.host.isDead ? [node] : []));
		return up.length === 0 ? null : random.pick(up);
	}

	/** The next URL of a webhook; its receiver listens there. */
	urlOf(webhook: Webhook): string {
		const { project, index } = webhook;
		const host = `w${index}.p${project.index}.example`;
		webhook.urls += 1;
		if (webhook.urls === 1) this.#listen(webhook, host);
		return `https://${host}/${webhook.urls}`;
	}

	async run(): Promise<Ending> {
		const { shape, steps, seed } = this.#plan;
		this.#database = await createDatabase(this.#options.storage, {
			...{ timeline: this.timeline, startMs: START_MS },
			...{ leaseTermMs: shape.leaseTermMs, manyNodes: shape.nodes > 1 },
		});
		try {
			for (let index = 0; index < shape.nodes; index++) {
				const aheadMs = stream(seed, "clock", index).between(-400, 400);
				this.#machines.push({ index, node: null, lives: 0, aheadMs, rate: 1, isMoving: false });
				this.timeline.after(index * 100, () => this.#up(this.#machines[index]!));
			}
			for (const step of steps) this.#schedule(step);
			this.timeline.at(shape.durationMs, () => this.#calm());
			this.#watch();
			await this.timeline.run(() => this.isOver);
			if (this.#failure !== null) throw this.#failure;
			if (this.#oracle.breach === null) this.#oracle.end();
			if (this.#oracle.breach === null) await this.#recount();
		} finally {
			for (const { node } of this.#machines) node?.host.kill();
			for (const { node } of this.#machines) if (node) await this.#database.close(node.real).catch(() => undefined);
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

	/** How far two clocks may have been apart, milliseconds: 0 where a database for many nodes would take no notice. */
	#disagreementMs(): number {
		const now = START_MS + this.timeline.now();
		for (const { node } of this.#machines)
			if (node) this.#mostOff = Math.max(this.#mostOff, Math.abs(node.clock.now() - now));
		return this.#mostOff <= AGREE_MS ? 0 : 2 * (this.#mostOff + AGREE_MS);
	}

	#watch(): void {
		this.timeline.after(WATCH_MS, () => {
			this.#disagreementMs();
			this.#oracle.look();
			this.#watch();
		});
	}

	// ── nodes ──

	#run(work: Promise<unknown>): void {
		work.catch((error: unknown) => {
			this.#failure ??= error;
		});
	}

	#up(machine: Machine): void {
		if (machine.node !== null || machine.isMoving) return;
		machine.isMoving = true;
		const name = `n${machine.index}.${++machine.lives}`;
		const { shape } = this.#plan;
		const start = async (): Promise<void> => {
			const node = await SimNode.start(name, machine, {
				...{ timeline: this.timeline, startMs: START_MS, sealKey: this.#sealKey, settings: shape },
				...{ database: this.#database, network: this.#network, restores: () => this.#restores },
				random: (...names) => this.random(...names),
				tell: (news) => this.tell(news),
				register: (one) => this.#nodes.set(one.name, one),
			});
			machine.node = node;
			machine.isMoving = false;
		};
		this.#run(start());
	}

	async #down(machine: Machine, how: "crash" | "stop"): Promise<void> {
		const { node } = machine;
		if (!node || machine.isMoving) return;
		machine.isMoving = true;
		if (how === "stop") await this.#stop(node);
		else await node.crash();
		machine.node = null;
		machine.isMoving = false;
	}

	/** As on SIGTERM: after an attempt's timeout and ten seconds at the latest the process ends. */
	async #stop(node: SimNode): Promise<void> {
		this.tell({ kind: "stopping", node: node.name });
		await new Promise<void>((resolve) => {
			this.timeline.after(this.#plan.shape.attemptTimeoutMs + 10_000, resolve);
			node.host.run(() => node.stop().then(resolve, resolve));
		});
		await node.end();
	}

	#freeze(machine: Machine, ms: number, what: "process" | "machine"): void {
		const { node } = machine;
		if (!node?.host.isRunning) return;
		this.tell({ kind: "froze", node: node.name });
		node.host.freeze();
		if (what === "machine") node.clock.sleep();
		this.#lasting(ms, () => {
			if (what === "machine") node.clock.wake();
			if (!node.host.isFrozen) return;
			this.tell({ kind: "thawed", node: node.name });
			node.host.thaw();
		});
	}

	/** Until it is set right again. */
	#drift(machine: Machine, rate: number, ms: number): void {
		machine.rate = rate;
		machine.node?.clock.drift(rate);
		const since = this.timeline.now();
		const driver = machine.node;
		this.#lasting(ms, () => {
			machine.rate = 1;
			machine.node?.clock.drift(1);
			const ranFor = this.timeline.now() - since;
			if (driver === machine.node) driver?.clock.set(Math.round((1 - rate) * ranFor));
		});
	}

	// ── steps ──

	#schedule(step: Step): void {
		if (step.do === "failover") this.#scheduleFailover(step.at, step.lostMs);
		else this.timeline.at(step.at, () => this.#perform(step));
	}

	#perform(step: Step): void {
		switch (step.do) {
			case "mood":
				this.people.webhook(step.project, step.webhook).mood = step.mood;
				break;
			case "crash":
			case "restart": {
				const machine = this.#machines[step.node]!;
				const down = this.#down(machine, step.do === "crash" ? "crash" : "stop");
				this.#run(down.then(() => void this.timeline.after(step.ms, () => this.#up(machine))));
				break;
			}
			case "freeze":
			case "sleep":
				this.#freeze(this.#machines[step.node]!, step.ms, step.do === "freeze" ? "process" : "machine");
				break;
			case "drift":
				this.#drift(this.#machines[step.node]!, step.rate, step.ms);
				break;
			case "set clock":
				this.#machines[step.node]!.aheadMs += step.ms;
				this.#machines[step.node]!.node?.clock.set(step.ms);
				this.#fault(`the clock of n${step.node} is set by ${step.ms} ms`, 0, () => {});
				break;
			case "storage": {
				const { fault, ms, probability, method } = step;
				const nodes = this.#machines.filter(({ index }) => step.node === null || step.node === index);
				for (const { node } of nodes) node?.storage.begin(fault, ms, probability, method);
				const where = step.node === null ? "of all nodes" : `of n${step.node}`;
				this.#fault(`${method ?? "every call"} ${where} ${fault}, ${probability * 100} %`, ms, () => {
					for (const { node } of nodes) node?.storage.calm();
				});
				break;
			}
			case "lock": {
				const { id } = this.people.project(step.project);
				if (id !== null) this.#run(this.#lock(id, step.ms));
				break;
			}
			case "name": {
				const host = `w${step.webhook}.p${step.project}.example`;
				const { answer } = step;
				const right = [addressOf(step.project, step.webhook)];
				this.#network.names.set(
					host,
					answer === "private" ? PRIVATE : answer === "mixed" ? [...PRIVATE, ...right] : answer,
				);
				this.#fault(`${host} resolves to ${answer}`, step.ms, () => this.#network.names.set(host, right));
				break;
			}
			case "cut":
				this.#fault(
					`the network of n${step.node} is cut, ${step.how}`,
					step.ms,
					this.#network.cut(this.#machines[step.node]!.node?.name ?? "", null, step.how),
				);
				break;
			case "name servers": {
				const network = this.#machines[step.node]!.node?.network;
				if (!network) break;
				network.nameServers.state = step.state;
				this.#fault(`the name servers of n${step.node} are ${step.state}`, step.ms, () => {
					network.nameServers.state = "answering";
				});
				break;
			}
			case "shortage": {
				const network = this.#machines[step.node]!.node?.network;
				if (!network) break;
				network.shortage = { code: step.code };
				this.#fault(`n${step.node} is short: ${step.code}`, step.ms, () => {
					network.shortage = null;
				});
				break;
			}
			default:
				this.#run(this.people.perform(step));
		}
	}

	async #lock(projectId: string, ms: number): Promise<void> {
		const unlock = await this.#database.lock(projectId);
		if (unlock) this.#fault(`another session holds the rows of ${projectId}`, ms, () => this.#run(unlock()));
	}

	/** A standby takes over that lacks the last commits. */
	#scheduleFailover(at: number, lostMs: number): void {
		let restore: (() => Promise<void>) | null = null;
		let mark = 0;
		const remember = async (): Promise<void> => {
			mark = this.#oracle.mark;
			restore = await this.#database.snapshot();
		};
		this.timeline.at(at - lostMs, () => this.#run(remember()));
		this.timeline.at(at, () => {
			if (!restore) return;
			this.#restores += 1;
			this.#run(restore());
			this.tell({ kind: "restored", since: mark });
		});
	}

	/** Something goes wrong for so long. */
	#fault(text: string, ms: number, heal: () => void): void {
		this.tell({ kind: "fault", phase: "begins", text });
		this.#lasting(ms, () => {
			heal();
			this.tell({ kind: "fault", phase: "ends", text });
		});
	}

	#lasting(ms: number, end: () => void): void {
		const once = (): void => {
			if (this.#heal.delete(once)) end();
		};
		this.#heal.add(once);
		this.timeline.after(ms, once);
	}

	// ── receivers ──

	#listen(webhook: Webhook, host: string): void {
		const address = addressOf(webhook.project.index, webhook.index);
		const receiver = new Receiver(host);
		receiver.behave = (_request, draw) => behaviourOf(webhook.mood, draw);
		this.#network.names.set(host, [address]);
		this.#network.listen(receiver, address);
	}

	// ── the end ──

	/** Ends all faults, so that attempts in flight can finish. */
	#calm(): void {
		for (const end of [...this.#heal]) end();
		for (const { node } of this.#machines) node?.storage.calm();
		this.tell({ kind: "calm" });
		this.#calmAt = this.timeline.now();
		const random = this.random("calm");
		for (const { webhooks } of this.people.projects.values())
			for (const webhook of webhooks.values()) webhook.mood = random.chance(0.85) ? [[1, "ok"]] : [[1, "error"]];
		const deadline = this.#calmAt + drainMsOf(this.#plan.shape);
		let restSince: number | null = null;
		const look = (): void => {
			const now = this.timeline.now();
			for (const machine of this.#machines) this.#up(machine);
			restSince = this.#isAtRest() ? (restSince ?? now) : null;
			// Nothing may happen any more, for a while.
			if (restSince !== null && now - restSince >= RECOVERY_MS) this.#drainedAt = restSince;
			else if (now > deadline) this.#notDrained(now - this.#calmAt!);
			else this.timeline.after(LOOK_MS, look);
		};
		look();
	}

	#isAtRest(): boolean {
		return this.people.underWay === 0 && this.#waiting().next().done === true;
	}

	*#waiting() {
		for (const webhook of this.#oracle.ledger.webhooks.values()) {
			if (webhook.status === "paused" && !webhook.isDeleted) continue;
			for (const delivery of webhook.open.values()) if (!delivery.dropped) yield delivery;
		}
	}

	#notDrained(afterMs: number): void {
		const [first] = this.#waiting();
		const about = first
			? { projectId: first.webhook.projectId, webhookId: first.webhook.id, eventId: first.event.id }
			: {};
		const count = [...this.#waiting()].length;
		const what = first
			? `${count} deliveries still wait, such as number ${first.event.seq} for attempt ${first.next} of series ${first.series}`
			: `${this.people.underWay} calls were not answered`;
		this.#oracle.broken("it always drains once faults stop", about, `${what}, ${afterMs / MINUTE} minutes after that`);
	}

	async #recount(): Promise<void> {
		const { node } = this.#machines.find((machine) => machine.node)!;
		await this.#oracle.recount(node!.real, node!.clock.now());
	}
}

/** A public address for each webhook. */
function addressOf(project: number, webhook: number): string {
	const n = project * 4_096 + webhook;
	return `${[20, 40, 60][n >>> 24] ?? 80}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
}

/** The bound on how long a project waits; docs/simulation.md says why. */
function patienceOf({ projects, activeProjects, nodes, attemptTimeoutMs, sendsInFlight }: Shape): Patience {
	const turns = activeProjects === null ? 0 : 4 * Math.ceil(projects / (activeProjects * nodes));
	const turnMs = turns === 0 ? 0 : turns * 6_000 + attemptTimeoutMs;
	// Where slots are few, receivers that hang may hold all of them.
	return { hearingMs: sendsInFlight === null ? 5_000 : 5_000 + 6 * attemptTimeoutMs, turnMs };
}

/** The maximum time until nothing waits after faults stop. */
function drainMsOf(shape: Shape): number {
	const delays = shape.retryDelaysMs.reduce((sum, ms) => sum + ms, 0);
	const { hearingMs, turnMs } = patienceOf(shape);
	return 2 * delays + (shape.retryDelaysMs.length + 1) * (shape.attemptTimeoutMs + hearingMs + turnMs) + 30 * MINUTE;
}

function digestOf(happening: Happening): string {
	return JSON.stringify(happening, (_, value: unknown) => {
		if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
		return value instanceof Map ? [...value] : value;
	});
}
