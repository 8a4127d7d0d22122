/** Loads the lanes from storage and tracks which revision of the project they apply. */
import type { Claim } from "../../storage/port/neighbours.ts";
import type { AlarmMark, HandedOver, Lease } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { Elsewhere } from "./elsewhere.ts";
import { type LaneChange, LaneLoader } from "./lane-loader.ts";
import type { LaneSet } from "./lane-set.ts";
import type { Message } from "./messages.ts";
import type { ProjectWork } from "./project-work.ts";

export class AppliedLanes {
	readonly #work: ProjectWork;
	readonly #lanes: LaneSet;
	readonly #drop: (lane: Lane) => void;
	readonly #loader: LaneLoader;
	readonly #elsewhere: Elsewhere;
	/** The project's mark when the lanes were last read. */
	#seen: AlarmMark | null = null;

	/** @param drop called for each lane that storage no longer has */
	constructor(work: ProjectWork, lanes: LaneSet, drop: (lane: Lane) => void) {
		this.#work = work;
		this.#lanes = lanes;
		this.#drop = drop;
		this.#loader = new LaneLoader(work, () => this.#seen?.revision ?? null);
		this.#elsewhere = new Elsewhere(work, () => this.load(null));
	}

	/** The revision that the lanes apply, and the known end of the log; null until they are loaded. */
	get mark(): AlarmMark | null {
		return this.#seen && { lastSeq: this.#work.reader.lastSeq, revision: this.#seen.revision };
	}

	/** Attempts in flight at previous owners of the project. */
	get inFlightElsewhere(): readonly HandedOver[] {
		return this.#elsewhere.attempts;
	}

	/** Reads the lanes: only one, if `change` is all that has changed. Resolves when they are applied. */
	load(change: LaneChange | null): Promise<void> {
		return this.#loader.load(change);
	}

	/** Checks again whether attempts in flight elsewhere have ended. */
	watchElsewhere(): void {
		this.#elsewhere.watch();
	}

	/** Applies what was read, unless the lanes already apply something newer. */
	apply({ loaded: { lanes, seen, handedOver }, only }: Extract<Message, { kind: "loaded" }>): void {
		if (this.#seen && seen.revision < this.#seen.revision) return;
		// All lanes were read in the meantime, including this one.
		if (only !== null && this.#seen?.revision === seen.revision) return;
		const { reader } = this.#work;
		const hasNewEvents = seen.lastSeq > reader.lastSeq;
		this.#seen = seen;
		reader.reaches(seen.lastSeq);
		for (const lane of this.#lanes.load(lanes, only)) this.#drop(lane);
		if (only !== null) {
			const lane = this.#lanes.get(only);
			if (hasNewEvents) this.#lanes.mark(null);
			else if (lane) this.#lanes.mark(lane);
			return;
		}
		this.#lanes.mark(null);
		for (const lane of this.#lanes)
			lane.inFlightElsewhere(handedOver.filter(({ webhookId }) => webhookId === lane.webhookId));
		this.#elsewhere.loaded(handedOver);
	}

	/**
	 * What this actor knows, for a database that may have lost some of it; null if the two can't be compared.
	 *
	 * @param attempt the last attempt whose commit was confirmed
	 */
	claim(lease: Lease, holder: string, attempt: Claim["attempt"]): Claim | null {
		if (this.#seen === null) return null;
		const { lastSeq, lastKnown: event } = this.#work.reader;
		for (const lane of this.#lanes) if (lane.position > Math.max(lane.state.position, event?.seq ?? 0)) return null;
		return { lease, holder, revision: this.#seen.revision, lastSeq, event, attempt };
	}

	end(): void {
		this.#elsewhere.end();
	}
}
