/** Loads the lanes from storage and tracks which revision of the project they apply. */

import { PROJECTS } from "../../base/budgets.ts";
import { restAfter, sleep, type Timer } from "../../base/clock.ts";
import type { AlarmMark, Claim, HandedOver, Lease, LoadedLanes } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Message, ProjectWork } from "./context.ts";
import { type LaneSet, SECRETS_MS } from "./lane-set.ts";

/** The minimum interval between checks of attempts in flight elsewhere. */
const RECHECK_MS = 250;

export class AppliedLanes {
	readonly #work: ProjectWork;
	readonly #lanes: LaneSet;
	readonly #drop: (lane: Lane) => void;
	/**
	 * Attempts in flight at the project's previous owners, as of when all lanes were last loaded. Their owners settle them,
	 * or lose them if they are too late.
	 */
	elsewhere: readonly HandedOver[] = [];
	#elsewhereTimer: Timer | null = null;
	#secretsTimer: Timer | null = null;
	/** The project's mark when the lanes were last read. */
	#seen: AlarmMark | null = null;
	#reading: Promise<unknown> | null = null;
	/** The read that has not begun. */
	#next: Promise<void> | null = null;
	/** When all lanes may be read again, monotonic milliseconds. */
	#restsUntil = Number.NEGATIVE_INFINITY;
	/** Number of requested reads of all lanes that aren't applied yet. */
	#full = 0;

	/** @param drop called for each lane that storage no longer has */
	constructor(work: ProjectWork, lanes: LaneSet, drop: (lane: Lane) => void) {
		this.#work = work;
		this.#lanes = lanes;
		this.#drop = drop;
	}

	/** The revision that the lanes apply, and the known end of the log; null until they are loaded. */
	get mark(): AlarmMark | null {
		return this.#seen && { lastSeq: this.#work.reader.lastSeq, revision: this.#seen.revision };
	}

	/** Reads all lanes, or one if `change` is all that has changed. Resolves once they apply; rejects if the read fails. */
	async load(change: LaneChange | null): Promise<void> {
		if (change && (await this.#loadOne(change))) return;
		this.#full += 1;
		try {
			this.#next ??= this.#readNext();
			await this.#next;
		} finally {
			this.#full -= 1;
		}
	}

	/**
	 * Each change raises the revision, and this change was made after `since` was read. So if the revision has risen by
	 * one and the actor still applies `since`, only this webhook has changed. It doesn't do this while all lanes are
	 * being read: that read would then be older and be dropped, although it contains more than lanes.
	 */
	async #loadOne({ webhookId, since }: LaneChange): Promise<boolean> {
		if (this.#full > 0 || this.#seen?.revision !== since) return false;
		const { context, projectId } = this.#work;
		const loaded = await context.storage.loadLanes({ projectId, webhookId });
		if (loaded.seen.revision !== since + 1) return false;
		await this.#post(loaded, webhookId);
		return true;
	}

	/** Calls made during a read share the next one, which starts after the changes that they need were stored. */
	async #readNext(): Promise<void> {
		await this.#reading?.catch(() => undefined);
		const { context, projectId } = this.#work;
		const restMs = this.#restsUntil - context.clock.elapsed();
		if (restMs > 0) await sleep(context.clock, restMs);
		this.#next = null;
		this.#reading = context.storage.loadLanes({ projectId }).then((loaded) => this.#post(loaded, null));
		await this.#reading;
	}

	async #post(loaded: LoadedLanes, only: string | null): Promise<void> {
		const opening = this.#lanes.openKeys(loaded.lanes);
		const keys = opening ? await opening : undefined;
		await new Promise<void>((done) => this.#work.post({ kind: "loaded", loaded, only, keys, done }));
	}

	/** Applies what was read, unless the lanes already apply something newer. */
	apply({ loaded: { lanes, seen, handedOver }, only, keys }: Extract<Message, { kind: "loaded" }>): void {
		if (this.#seen && seen.revision < this.#seen.revision) return;
		// All lanes were read in the meantime, including this one.
		if (only !== null && this.#seen?.revision === seen.revision) return;
		const { reader, context } = this.#work;
		const begun = context.clock.elapsed();
		const hasNewEvents = seen.lastSeq > reader.lastSeq;
		this.#seen = seen;
		reader.reaches(seen.lastSeq);
		for (const lane of this.#lanes.load(lanes, only, keys)) this.#drop(lane);
		this.#watchSecrets();
		if (only === null || hasNewEvents) this.#lanes.announceAll();
		else {
			const changed = this.#lanes.get(only);
			if (changed) this.#lanes.mark(changed);
		}
		if (only !== null) return;
		this.#setElsewhere(handedOver);
		const restMs = restAfter(context.clock, begun, PROJECTS.lanesRest, PROJECTS.lanesRestMs);
		this.#restsUntil = context.clock.elapsed() + restMs;
	}

	#setElsewhere(handedOver: readonly HandedOver[]): void {
		const byWebhook = Map.groupBy(handedOver, ({ webhookId }) => webhookId);
		for (const lane of this.#lanes) lane.inFlightElsewhere(byWebhook.get(lane.webhookId) ?? []);
		this.elsewhere = handedOver;
		this.#watchElsewhere();
	}

	/** Forgets attempts that aren't settled in time, so that they are repeated. */
	#watchElsewhere(): void {
		this.#elsewhereTimer?.cancel();
		if (this.elsewhere.length === 0) return;
		const { projectId, context } = this.#work;
		const { clock, storage } = context;
		const until = Math.min(...this.elsewhere.map((attempt) => attempt.until));
		this.#elsewhereTimer = clock.setTimeout(
			() => {
				const loading = storage.forgetHandedOver({ projectId }).then(() => this.load(null));
				this.#work.read(loading, () => this.#watchElsewhere());
			},
			Math.max(RECHECK_MS, until - clock.now()),
		);
	}

	/** Nothing notifies this node if another one, which has the missing seal key, seals a secret again. */
	#watchSecrets(): void {
		if (![...this.#lanes].some(({ lacksKey }) => lacksKey)) {
			this.#secretsTimer?.cancel();
			this.#secretsTimer = null;
			return;
		}
		// Reads of single webhooks don't delay it.
		this.#secretsTimer ??= this.#work.context.clock.setTimeout(() => {
			this.#secretsTimer = null;
			this.#work.read(this.load(null), () => this.#watchSecrets());
		}, SECRETS_MS);
	}

	end(): void {
		this.#elsewhereTimer?.cancel();
		this.#secretsTimer?.cancel();
	}

	/** See {@link Actor.claim}. @param attempt the last attempt whose commit was confirmed */
	claim(lease: Lease, attempt: Claim["attempt"]): Claim | null {
		if (this.#seen === null) return null;
		const { context, reader } = this.#work;
		const { lastSeq, lastKnown: event } = reader;
		for (const lane of this.#lanes) if (lane.position > Math.max(lane.state.position, event?.seq ?? 0)) return null;
		return { lease, holder: context.holder, revision: this.#seen.revision, lastSeq, event, attempt };
	}
}

/** A stored change of one webhook, and the project's revision before it. */
export interface LaneChange {
	readonly webhookId: string;
	readonly since: number;
}
