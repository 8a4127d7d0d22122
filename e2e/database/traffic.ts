import { randomBytes } from "node:crypto";
import { Signal, within } from "@posthorn/testkit";
import { purchase } from "../shop.ts";
import type { SiteNode } from "./node.ts";
import type { Site } from "./site.ts";

/** Pause between a call that wasn't acknowledged and the next one, milliseconds. */
const AGAIN_MS = 100;
/** How long a call may take before it is repeated at the next node, milliseconds. */
const PATIENCE_MS = 3_000;
/** Pause between two successful calls, milliseconds: a steady rate, not the maximum. */
const PACE_MS = 50;
/** Maximum number of events per call. */
const BATCH = 5;

interface NewEvent {
	readonly id: string;
	readonly data: object;
}

export interface TrafficOptions {
	/** Concurrent calls. */
	readonly publishers?: number;
	/** How long a publisher waits after a successful call, milliseconds. */
	readonly paceMs?: number;
	/** How long a call may take before it is repeated at the next node, milliseconds. */
	readonly patienceMs?: number;
	/** Bytes added to each event, incompressible. */
	readonly ballast?: number;
	/** Called for each acknowledged call. */
	readonly acknowledged?: (call: Acknowledged) => void;
}

export interface Acknowledged {
	readonly node: SiteNode;
	/** When this call was made, and when its events were first offered (`performance.now()`). */
	readonly calledAt: number;
	readonly offeredAt: number;
	readonly ids: readonly string[];
}

/** How a node refused events; status null if it didn't respond. */
export interface Refusal {
	readonly status: number | null;
	readonly detail: string;
}

/**
 * Publishes events to a site's projects at a steady rate. Each publisher starts with its own node, and publishes events
 * that weren't acknowledged again with the same id, to the next node.
 */
export class Traffic {
	/** By project and id, the acknowledged sequence number. */
	readonly acknowledged = new Map<string, Map<string, number>>();
	/** Every id ever sent, by project. */
	readonly offered = new Map<string, Set<string>>();
	readonly refusals: Refusal[] = [];
	readonly #site: Site;
	readonly #options: TrafficOptions;
	readonly #publishers: Promise<void>[];
	readonly #signal = new Signal();
	#total = 0;
	#n = 0;
	#isOver = false;

	constructor(site: Site, options: TrafficOptions = {}) {
		this.#site = site;
		this.#options = options;
		for (const id of site.projectIds) {
			this.acknowledged.set(id, new Map());
			this.offered.set(id, new Set());
		}
		this.#publishers = Array.from({ length: options.publishers ?? 4 }, (_, i) => this.#publish(i));
	}

	/** Events acknowledged so far. */
	get total(): number {
		return this.#total;
	}

	/** Resolves once `count` more events are acknowledged. */
	more(count: number): Promise<void> {
		const goal = this.#total + count;
		return this.#signal.until(`${count} more events to be acknowledged`, () => this.#total >= goal);
	}

	/** Resolves once `count` more calls are refused. */
	moreRefused(count: number): Promise<void> {
		const goal = this.refusals.length + count;
		return this.#signal.until(`${count} more calls to be refused`, () => this.refusals.length >= goal);
	}

	/** Ends once everything offered is acknowledged. */
	async stop(): Promise<void> {
		this.#isOver = true;
		await within("every event offered to be acknowledged", Promise.all(this.#publishers));
	}

	async #publish(publisher: number): Promise<void> {
		for (let turn = publisher; !this.#isOver; turn++) {
			const projectId = this.#site.projectIds[turn % this.#site.projectIds.length]!;
			const events = Array.from({ length: 1 + (turn % BATCH) }, () => this.#event());
			for (const { id } of events) this.offered.get(projectId)!.add(id);
			await this.#insist(projectId, events, publisher);
			await new Promise((go) => setTimeout(go, this.#options.paceMs ?? PACE_MS));
		}
	}

	#event(): NewEvent {
		const event = purchase(this.#n++) as { data: object };
		const id = `evt_${randomBytes(12).toString("hex")}`;
		const { ballast = 0 } = this.#options;
		if (ballast === 0) return { id, ...event };
		return { id, ...event, data: { ...event.data, note: randomBytes(ballast / 2).toString("hex") } };
	}

	/** Tries node after node until one accepts them. */
	async #insist(projectId: string, events: readonly NewEvent[], first: number): Promise<void> {
		const offeredAt = performance.now();
		for (let turn = first; ; turn++) {
			const refusal = await this.#offer(projectId, events, turn, offeredAt);
			if (refusal === null) return;
			this.refusals.push(refusal);
			this.#signal.look();
			await new Promise((go) => setTimeout(go, AGAIN_MS));
		}
	}

	async #offer(
		projectId: string,
		events: readonly NewEvent[],
		turn: number,
		offeredAt: number,
	): Promise<Refusal | null> {
		const calledAt = performance.now();
		const node = this.#site.nodes[turn % this.#site.nodes.length]!;
		const answer = await node
			.call("POST", `/v1/projects/${projectId}/events`, { events }, this.#options.patienceMs ?? PATIENCE_MS)
			.catch((error: Error) => error);
		if (answer instanceof Error) return { status: null, detail: answer.message };
		const { status, body } = answer;
		if (status >= 500 || status === 429) return { status, detail: body.detail };
		if (status !== 202) throw new Error(`Publishing got ${status}: ${JSON.stringify(body)}`);
		for (const { id, seq } of body.events) this.acknowledged.get(projectId)!.set(id, seq);
		this.#total += events.length;
		this.#options.acknowledged?.({ node, calledAt, offeredAt, ids: events.map(({ id }) => id) });
		this.#signal.look();
		return null;
	}
}
