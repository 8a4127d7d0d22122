import { SENDS } from "../../base/budgets.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Slot } from "../send/slot.ts";
import { isSmallBody } from "../send/slots.ts";
import type { ProjectWork } from "./context.ts";

/** Shared slots, or those reserved for what users requested. */
export type SlotKind = "shared" | "requested";

export type StartResult = "started" | "nothing" | "no_capacity";

/** A project's share of the node's capacity: slots to send with, and space among outcomes awaiting commit. */
export class Backpressure {
	readonly shared: SlotQueue;
	readonly requested: SlotQueue;

	constructor(work: ProjectWork) {
		this.shared = new SlotQueue(work, "shared");
		this.requested = new SlotQueue(work, "requested");
	}

	/**
	 * Makes the lane hold a slot before it reads its next event: memory had no room for the event while the lane waited
	 * for a slot, and might have none again.
	 *
	 * @returns whether the lane has a slot; if not, it is fed as soon as one is free
	 */
	claim(lane: Lane, bytes: number): boolean {
		lane.claimed ??= this.shared.slotFor(lane, bytes);
		return lane.claimed !== null;
	}

	takeClaimed(lane: Lane, bytes: number): Slot | null {
		const slot = lane.claimed;
		lane.claimed = null;
		slot?.holds(bytes);
		return slot;
	}

	/** Releases the claimed slot: the lane has stopped reading. */
	releaseClaimed(lane: Lane): void {
		lane.claimed?.release();
		lane.claimed = null;
	}

	forget(lane: Lane): void {
		this.shared.forget(lane);
		this.requested.forget(lane);
		this.releaseClaimed(lane);
	}

	end(): void {
		this.shared.end();
		this.requested.end();
	}
}

/**
 * Lanes of a project that found no capacity for slots of one kind. They are fed in the order in which they asked, so
 * that they share equally. A lane whose body is too large for the free slot waits for the next one.
 */
class SlotQueue {
	readonly #work: ProjectWork;
	readonly #kind: SlotKind;
	readonly #starved = new Set<Lane>();
	#waiting = false;
	/** Whether a lane with a small body is waiting. */
	#small = false;
	/** A slot reserved for the next starved lane. */
	#granted: Slot | null = null;
	#over = false;

	constructor(work: ProjectWork, kind: SlotKind) {
		this.#work = work;
		this.#kind = kind;
	}

	/** Takes a slot, or feeds the lane as soon as one is free. @param bytes the body's size; if unknown, set it later */
	slotFor(lane: Lane, bytes?: number): Slot | null {
		const slot = this.#takeGranted(bytes) ?? (this.#isSettlerOpen ? this.#acquire(bytes) : null);
		if (!slot) this.wait(lane, bytes);
		return slot;
	}

	/** Queues a lane that has more to do but no capacity to do it now. */
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

	/** Capacity is available again, perhaps with a slot reserved for this project: feeds each starved lane once. */
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

	/** The body size to ask for: small if a lane with a small body is waiting; otherwise unspecified. */
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
