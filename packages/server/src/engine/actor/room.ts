import { SENDS } from "../../base/budgets.ts";
import type { Lane } from "../lanes/lane.ts";
import { isSmallBody, type Slot } from "../send/slots.ts";
import type { ProjectWork } from "./project-work.ts";

/** Which slots: those that all share, or those set aside for what people asked for. */
export type SlotKind = "shared" | "requested";

/** What came of trying to start something. */
export type StartResult = "started" | "nothing" | "no_room";

/** A project's share of the node's room: slots to send with, and space among the outcomes that wait for their commit. */
export class Room {
	readonly #lines: Readonly<Record<SlotKind, Line>>;
	/** The slots of lanes that read their next event with one in hand. */
	readonly #reserved = new Map<Lane, Slot>();

	constructor(work: ProjectWork) {
		this.#lines = { shared: new Line(work, "shared"), requested: new Line(work, "requested") };
	}

	/**
	 * A slot to send with; if there is none, the lane is fed as soon as there is.
	 *
	 * @param bytes the body, where that is known: otherwise the slot must be told later
	 */
	slotFor(lane: Lane, bytes?: number): Slot | null {
		return this.#lines.shared.slotFor(lane, bytes);
	}

	/** A slot set aside for what a person asked for; if there is none, the lane is fed as soon as there is. */
	requestedSlotFor(lane: Lane, bytes?: number): Slot | null {
		return this.#lines.requested.slotFor(lane, bytes);
	}

	/**
	 * Has the lane read its next event with a slot in hand: memory had no room for the event while it waited for a slot, and
	 * might have none again.
	 *
	 * @returns whether there is one; if not, the lane is fed as soon as there is
	 */
	reserve(lane: Lane, bytes: number): boolean {
		if (this.#reserved.has(lane)) return true;
		const slot = this.slotFor(lane, bytes);
		if (slot) this.#reserved.set(lane, slot);
		return slot !== null;
	}

	/** The slot that was reserved, for the event that was read. */
	takeReserved(lane: Lane, bytes: number): Slot | null {
		if (this.#reserved.size === 0) return null;
		const slot = this.#reserved.get(lane);
		if (!slot) return null;
		this.#reserved.delete(lane);
		slot.holds(bytes);
		return slot;
	}

	/** The lane does not read any more. */
	releaseReserved(lane: Lane): void {
		if (this.#reserved.size === 0) return;
		this.#reserved.get(lane)?.release();
		this.#reserved.delete(lane);
	}

	/** The lane could go on, but not now. */
	wait(lane: Lane): void {
		this.#lines.shared.wait(lane);
	}

	/** There is room again, perhaps with a slot kept for us: feeds starved lanes, each once. */
	freed(kind: SlotKind, slot: Slot | null, feed: (lane: Lane) => void): void {
		this.#lines[kind].freed(slot, feed);
	}

	forget(lane: Lane): void {
		for (const line of Object.values(this.#lines)) line.forget(lane);
		this.releaseReserved(lane);
	}

	end(): void {
		for (const line of Object.values(this.#lines)) line.end();
		for (const lane of this.#reserved.keys()) this.releaseReserved(lane);
	}
}

/**
 * Lanes of a project that found no room for slots of one kind. They are fed in the order in which they asked, so that the
 * lanes of a project share alike; one whose body is too large for the slot that there is waits for the next.
 */
class Line {
	readonly #work: ProjectWork;
	readonly #kind: SlotKind;
	readonly #starved = new Set<Lane>();
	#waiting = false;
	/** Whether one of them waits with a small body. */
	#small = false;
	/** A slot that was kept for the next starved lane when it became free. */
	#granted: Slot | null = null;
	#over = false;

	constructor(work: ProjectWork, kind: SlotKind) {
		this.#work = work;
		this.#kind = kind;
	}

	slotFor(lane: Lane, bytes: number | undefined): Slot | null {
		const slot = this.#takeGranted(bytes) ?? (this.#isSettlerOpen ? this.#acquire(bytes) : null);
		if (!slot) this.wait(lane, bytes);
		return slot;
	}

	wait(lane: Lane, bytes?: number): void {
		const { context, projectId } = this.#work;
		const { settler, slots } = context;
		const isSmall = bytes !== undefined && isSmallBody(bytes);
		this.#starved.add(lane);
		if (this.#waiting && (this.#small || !isSmall)) return;
		this.#waiting = true;
		this.#small ||= isSmall;
		if (!this.#isSettlerOpen) settler.onRoom(projectId, this.#onFreed);
		else if (this.#kind === "shared") slots.onFree(projectId, this.#onFreed, this.#bytes);
		else slots.onRequestedFree(projectId, this.#onFreed, this.#bytes);
	}

	freed(slot: Slot | null, feed: (lane: Lane) => void): void {
		this.#waiting = false;
		this.#small = false;
		this.#granted = slot;
		try {
			for (let turns = this.#starved.size; turns > 0 && (!this.#waiting || this.#granted); turns--) {
				const lane: Lane = this.#starved.values().next().value!;
				this.#starved.delete(lane);
				feed(lane);
			}
		} finally {
			(this.#granted as Slot | null)?.release();
			this.#granted = null;
		}
	}

	forget(lane: Lane): void {
		this.#starved.delete(lane);
	}

	end(): void {
		const { context, projectId } = this.#work;
		this.#over = true;
		this.#starved.clear();
		context.slots.forget(projectId, this.#onFreed);
	}

	get #isSettlerOpen(): boolean {
		return this.#work.context.settler.hasRoom(this.#work.projectId);
	}

	/** The body to ask for: the smallest that waits, as far as that matters. */
	get #bytes(): number | undefined {
		return this.#small ? SENDS.smallBodyBytes : undefined;
	}

	#acquire(bytes: number | undefined): Slot | null {
		const { context, projectId } = this.#work;
		return this.#kind === "shared"
			? context.slots.tryAcquire(projectId, bytes)
			: context.slots.tryAcquireRequested(projectId, bytes);
	}

	#takeGranted(bytes: number | undefined): Slot | null {
		const granted = this.#granted;
		if (!granted?.tryHold(bytes)) return null;
		this.#granted = null;
		return granted;
	}

	readonly #onFreed = (): void => {
		if (this.#over) return;
		this.#work.post({ kind: "freed", slots: this.#kind, slot: this.#acquire(this.#bytes) });
	};
}
