import type { Lane } from "../lanes/lane.ts";
import type { Slot } from "../send/slots.ts";
import type { ProjectWork } from "./project-work.ts";

/**
 * A project's share of the node's room: slots to send with, and space among the outcomes that wait for their commit.
 * Lanes that find none are fed in the order in which they asked, so that the lanes of a project share alike.
 */
export class Room {
	readonly #work: ProjectWork;
	readonly #starved = new Set<Lane>();
	/** Lanes that found none of the slots free that are set aside for what people asked for. */
	readonly #requesting = new Set<Lane>();
	/** The slots of lanes that read their next event with one in hand. */
	readonly #reserved = new Map<Lane, Slot>();
	#waiting = false;
	/** A slot that was kept for the next starved lane when it became free. */
	#granted: Slot | null = null;
	#over = false;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	/**
	 * A slot to send with; if there is none, the lane is fed as soon as there is.
	 *
	 * @param bytes the body, where that is known: otherwise the slot must be told later
	 */
	slotFor(lane: Lane, bytes?: number): Slot | null {
		const granted = this.#granted;
		if (granted) {
			this.#granted = null;
			if (bytes !== undefined) granted.holds(bytes);
			return granted;
		}
		const { settler, slots } = this.#work.context;
		const slot = settler.hasRoom(this.#work.projectId) ? slots.tryAcquire(this.#work.projectId, bytes) : null;
		if (!slot) this.wait(lane);
		return slot;
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
		const slot = this.#reserved.get(lane);
		if (!slot) return null;
		this.#reserved.delete(lane);
		slot.holds(bytes);
		return slot;
	}

	/** The lane does not read any more. */
	releaseReserved(lane: Lane): void {
		this.#reserved.get(lane)?.release();
		this.#reserved.delete(lane);
	}

	/** A slot set aside for what a person asked for; if there is none, the lane is looked at when one of the project's ends. */
	requestedSlotFor(lane: Lane): Slot | null {
		const { settler, slots } = this.#work.context;
		const slot = settler.hasRoom(this.#work.projectId) ? slots.tryAcquireRequested(this.#work.projectId) : null;
		if (!slot) this.#requesting.add(lane);
		return slot;
	}

	/** One of the slots that are set aside was released. @returns lanes that found none */
	requestedFreed(): readonly Lane[] {
		if (this.#requesting.size === 0) return [];
		const lanes = [...this.#requesting];
		this.#requesting.clear();
		return lanes;
	}

	/** The lane could go on, but not now. */
	wait(lane: Lane): void {
		this.#starved.add(lane);
		if (this.#waiting) return;
		this.#waiting = true;
		const { settler, slots } = this.#work.context;
		if (settler.hasRoom(this.#work.projectId)) slots.onFree(this.#work.projectId, this.#onFreed);
		else settler.onRoom(this.#work.projectId, this.#onFreed);
	}

	/** There is room again, perhaps with a slot kept for us: feeds starved lanes, each once. */
	freed(slot: Slot | null, feed: (lane: Lane) => void): void {
		this.#waiting = false;
		this.#granted = slot;
		for (let turns = this.#starved.size; turns > 0 && !this.#waiting; turns--) {
			const lane: Lane = this.#starved.values().next().value!;
			this.#starved.delete(lane);
			feed(lane);
		}
		this.#granted?.release();
		this.#granted = null;
	}

	forget(lane: Lane): void {
		this.#starved.delete(lane);
		this.#requesting.delete(lane);
		this.releaseReserved(lane);
	}

	end(): void {
		this.#over = true;
		this.#starved.clear();
		this.#requesting.clear();
		for (const lane of this.#reserved.keys()) this.releaseReserved(lane);
		this.#work.context.slots.forget(this.#onFreed);
	}

	readonly #onFreed = (): void => {
		if (this.#over) return;
		this.#work.post({ kind: "freed", slot: this.#work.context.slots.tryAcquire(this.#work.projectId) });
	};
}
