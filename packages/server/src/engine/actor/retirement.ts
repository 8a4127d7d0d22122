/** How a project leaves this node: it waits for attempts in flight, then hands over those that are left. */
import type { HandedOver } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Outcome, Sent } from "../send/outcome.ts";
import type { Finisher } from "./finisher.ts";
import type { Flight } from "./flight.ts";
import { Handover } from "./handover.ts";
import type { ProjectWork } from "./project-work.ts";

/** A project that changes nodes waits this long for its attempts in flight; those that take longer are handed over. */
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

	/** Nothing more is started. */
	get begun(): boolean {
		return this.#begun;
	}

	/** The attempts being handed over; null until then, and if there are none. From then on nothing may be written. */
	get handover(): Handover | null {
		return this.#handover;
	}

	/** The attempts that are handed over. */
	get attempts(): readonly HandedOver[] {
		return this.#handover?.attempts ?? [];
	}

	/**
	 * Starts nothing more, waits until what is in flight is committed, or is to be handed over, and commits where the lanes
	 * stand.
	 *
	 * @param quiet resolves when nothing is in flight, and when the actor is over
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

	/** Puts back attempts whose request wasn't written. The others are settled once the lease is released. */
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

	/** @returns whether this attempt was handed over: it is settled as soon as the lease is released */
	ended(flight: Flight, outcome: Outcome | Sent): boolean {
		return this.#handover?.ended(flight, outcome) ?? false;
	}
}
