/** The lanes of one project, and which of them need attention. Only the actor's loop changes them. */
import { PROJECTS } from "../../base/budgets.ts";
import type { LaneState, LogEvent } from "../../storage/port.ts";
import { Lane, type LaneKeys } from "../lanes/lane.ts";
import type { Chunk, Log } from "../lanes/log-reader.ts";
import type { ActorContext } from "./context.ts";

/** How often the lanes are read while an active one has no key, milliseconds. */
export const SECRETS_MS = 60_000;

/** Keys by the state that they were opened for. */
export type OpenedKeys = ReadonlyMap<LaneState, LaneKeys>;

export class LaneSet {
	readonly #projectId: string;
	readonly #context: ActorContext;
	readonly #reader: Log;
	readonly #lanes = new Map<string, Lane>();
	/** The lanes that want each type; null until it is needed. */
	#byType: Map<string, Lane[]> | null = null;
	#marked: Lane[] = [];

	constructor(projectId: string, context: ActorContext, reader: Log) {
		this.#projectId = projectId;
		this.#context = context;
		this.#reader = reader;
	}

	[Symbol.iterator](): IterableIterator<Lane> {
		return this.#lanes.values();
	}

	/** Opens changed secrets, a few per turn of the event loop. Null if they are few: then {@link load} opens them. */
	openKeys(states: readonly LaneState[]): Promise<OpenedKeys> | null {
		const changed = states.filter(({ webhookId, status, sealedDigest }) => {
			return status !== "deleted" && !isEqual(this.#lanes.get(webhookId)?.state.sealedDigest, sealedDigest);
		});
		return changed.length > PROJECTS.secretsPerTurn ? this.#openInTurns(changed) : null;
	}

	/** Updates all lanes, or `only` one, from storage. @returns lanes that storage no longer has, to be dropped */
	load(states: readonly LaneState[], only: string | null, keys?: OpenedKeys): Iterable<Lane> {
		for (const state of states) {
			const known = this.#lanes.get(state.webhookId);
			const opened = keys?.get(state) ?? this.#keysOf(state, known);
			known?.unfollow(this.#reader);
			known?.reload(state, opened);
			this.#reader.enter(known ?? this.#add(state, opened));
		}
		this.#byType = null;
		if (only === null) return this.#lanes.size > states.length ? this.#missing(states) : [];
		const lane = this.#lanes.get(only);
		return lane && states.length === 0 ? [lane] : [];
	}

	#add(state: LaneState, keys: LaneKeys): Lane {
		const lane = new Lane(this.#projectId, state, keys);
		this.#lanes.set(state.webhookId, lane);
		this.#context.budget.countLanes(1);
		return lane;
	}

	get(webhookId: string): Lane | null {
		return this.#lanes.get(webhookId) ?? null;
	}

	drop(lane: Lane): void {
		lane.end();
		this.#reader.leave(lane);
		this.#lanes.delete(lane.webhookId);
		this.#byType = null;
		this.#context.budget.countLanes(-1);
	}

	clear(): void {
		for (const lane of this) lane.end();
		this.#context.budget.countLanes(-this.#lanes.size);
		this.#lanes.clear();
		this.#byType = null;
	}

	/** Marks this lane for a visit once the current messages are handled. */
	mark(lane: Lane): void {
		if (lane.marked) return;
		lane.marked = true;
		this.#marked.push(lane);
	}

	markAll(): void {
		for (const lane of this) this.mark(lane);
	}

	/**
	 * Events were appended right after {@link LogReader.announced}: marks the lanes that follow the log and want one of
	 * them. Others that want it are behind, and get there.
	 */
	announce(events: readonly LogEvent[]): void {
		for (const { type, seq } of firstOfTypes(events))
			for (const lane of this.#wanting(type)) {
				if (!lane.following) continue;
				lane.unfollow(this.#reader, seq - 1);
				this.mark(lane);
			}
		this.#reader.announced = this.#reader.lastSeq;
	}

	/** The log has events that lanes may not know of: marks all of them. */
	announceAll(): void {
		for (const lane of this) lane.unfollow(this.#reader);
		this.#reader.announced = this.#reader.lastSeq;
		this.markAll();
	}

	get hasMarked(): boolean {
		return this.#marked.length > 0;
	}

	/** Calls `look` for at most `most` marked lanes, in the order in which they were marked. They may mark others. */
	lookAtMarked(look: (lane: Lane) => void, most: number): void {
		let looked = 0;
		for (; looked < this.#marked.length && looked < most; looked++) look(this.#marked[looked]!);
		for (let i = 0; i < looked; i++) this.#marked[i]!.marked = false;
		if (looked === this.#marked.length) this.#marked.length = 0;
		else this.#marked.splice(0, looked);
	}

	/** A window of the log was read; null if that failed. */
	windowRead(key: string, chunk: Chunk | null): void {
		for (const lane of this) if (lane.windowRead(key, chunk)) this.mark(lane);
	}

	/** Another component stored retries of this webhook (of all webhooks, if null). */
	invalidateRetries(webhookId: string | null): void {
		for (const lane of webhookId === null ? this : [this.#lanes.get(webhookId)]) {
			if (!lane) continue;
			lane.invalidateRetries();
			// Paused lanes close cancelled tests.
			lane.sweepingQueues = true;
			this.mark(lane);
		}
	}

	/** Makes paused lanes check for events and queued attempts past their retention. */
	sweep(): void {
		for (const lane of this) {
			lane.sweeping = true;
			lane.sweepingQueues = true;
		}
		this.markAll();
	}

	/** The furthest position of any active lane that wants one of these events; minus infinity if there is none. */
	foremostFor(events: readonly LogEvent[]): number {
		let foremost = Number.NEGATIVE_INFINITY;
		for (const { type } of firstOfTypes(events))
			for (const lane of this.#wanting(type)) {
				if (lane.following) return this.#reader.announced;
				if (lane.active && lane.position > foremost) foremost = lane.position;
			}
		return foremost;
	}

	/** When a lane next has work: now, at a time, or null for never. */
	wakeAt(): number | null {
		let wakeAt: number | null = null;
		const now = this.#context.clock.now();
		for (const lane of this) {
			if (!lane.active && !lane.deleted && !lane.lacksKey) continue;
			const isDue = lane.deleted || lane.isBehind(this.#reader);
			// The next owner may have the key.
			const due = lane.lacksKey ? now + SECRETS_MS : isDue ? now : lane.nextDueAt;
			if (due !== null) wakeAt = Math.max(0, Math.min(wakeAt ?? due, due));
		}
		return wakeAt;
	}

	isIdle(): boolean {
		for (const lane of this) {
			if (lane.awaits !== null || lane.sweeping || (lane.sweepingQueues && !lane.active)) return false;
			if (lane.active && lane.isBehind(this.#reader)) return false;
		}
		return true;
	}

	#wanting(type: string): readonly Lane[] {
		this.#byType ??= groupByType(this.#lanes.values());
		return this.#byType.get(type) ?? [];
	}

	#missing(states: readonly LaneState[]): Lane[] {
		const stored = new Set(states.map(({ webhookId }) => webhookId));
		return [...this].filter(({ webhookId }) => !stored.has(webhookId));
	}

	async #openInTurns(states: readonly LaneState[]): Promise<OpenedKeys> {
		const { clock } = this.#context;
		const opened = new Map<LaneState, LaneKeys>();
		for (const [index, state] of states.entries()) {
			if (index % PROJECTS.secretsPerTurn === PROJECTS.secretsPerTurn - 1)
				await new Promise<void>((resolve) => clock.setImmediate(resolve));
			opened.set(state, this.#keysOf(state, this.#lanes.get(state.webhookId)));
		}
		return opened;
	}

	/** The webhook's keys, unsealed again only if they changed. */
	#keysOf(state: LaneState, lane: Lane | undefined): LaneKeys {
		const hasSecret = lane !== undefined && isEqual(lane.state.sealedDigest, state.sealedDigest);
		const { keys } = this.#context;
		return {
			key: hasSecret ? lane.key : state.status === "deleted" ? null : keys.open(state),
			standardKey:
				hasSecret && isEqual(lane.state.sealedStandardDigest, state.sealedStandardDigest)
					? lane.target.standardKey
					: keys.openStandard(state),
		};
	}
}

function isEqual(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined): boolean {
	return a === b || (!!a && !!b && Buffer.compare(a, b) === 0);
}

/** The first event of each type, in order: a batch has many events, but there are few types. */
function firstOfTypes(events: readonly LogEvent[]): readonly LogEvent[] {
	if (events.length <= 1) return events;
	const types = new Set<string>();
	return events.filter(({ type }) => !types.has(type) && types.add(type));
}

function groupByType(lanes: Iterable<Lane>): Map<string, Lane[]> {
	const groups = new Map<string, Lane[]>();
	for (const lane of lanes)
		for (const type of lane.state.subscriptions.keys()) {
			const group = groups.get(type);
			if (group) group.push(lane);
			else groups.set(type, [lane]);
		}
	return groups;
}
