/** How a project leaves this node: wait for attempts in flight, then hand over the remaining ones. */
import type { HandedOver } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Outcome, Sent } from "../send/outcome.ts";
import type { Finisher } from "./finisher.ts";
import type { Flight } from "./flight.ts";
import { Handover } from "./handover.ts";
import type { ProjectWork } from "./project-work.ts";

/** How long a project that changes nodes waits for its attempts in flight. Those that take longer are handed over. */
const HANDOVER_WAIT_MS = 500;

export class Retirement {
	readonly #work: ProjectWork;
	readonly #finisher: Finisher;
	#begun = false;
	#handover: Handover | null = null;

	constructor(work: ProjectWork, finisher: Finisher) {
		this.#work = work;
		this.#finisher = finisher;
	}

	/** Whether retirement has begun, so that nothing more is started. */
	get begun(): boolean {
		return this.#begun;
	}

	/** The attempts being handed over; null before that, or if there are none. From then on nothing may be written. */
	get handover(): Handover | null {
		return this.#handover;
	}

	get attempts(): readonly HandedOver[] {
		return this.#handover?.attempts ?? [];
	}

	/**
	 * Starts nothing more, waits until everything in flight is committed or handed over, and commits the lanes'
	 * positions.
	 *
	 * @param quiet resolves when nothing is in flight, or when the actor has ended
	 */
	async run(lanes: Iterable<Lane>, quiet: () => Promise<void>): Promise<void> {
		this.#begun = true;
		const { context, post } = this.#work;
		const timer = context.clock.setTimeout(() => post({ kind: "hand_over" }), HANDOVER_WAIT_MS);
		await quiet();
		timer.cancel();
		for (const lane of lanes) if (lane.lag > 0) this.#finisher.commitPosition(lane);
		await quiet();
	}

	/**
	 * Puts attempts whose request wasn't written back into their queues. The others are settled once the lease is
	 * released.
	 */
	handOver(): void {
		const { context, flights, lease, open } = this.#work;
		if (flights.size === 0) return;
		const all = flights.takeAll();
		for (const flight of all) {
			if (flight.writtenAt !== null) open.end();
			else this.#finisher.putBack(flight);
		}
		const written = all.filter(({ writtenAt }) => writtenAt !== null);
		this.#handover = new Handover(context, lease, written);
	}

	/** @returns whether this attempt was handed over: it is settled once the lease is released */
	ended(flight: Flight, outcome: Outcome | Sent): boolean {
		return this.#handover?.ended(flight, outcome) ?? false;
	}
}
