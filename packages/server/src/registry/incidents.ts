/**
 * Incidents: an outage of a receiver as one thing, from its first failed attempt to its last. Pure; derived from the
 * counts by minute that charts use, so nothing is stored for it and it goes with them.
 */
import { HEALTH } from "./health.ts";

/** Attempts of one webhook in a minute, or in a longer time in which none failed. */
export interface StepCounts {
	/** Its beginning, milliseconds since the Unix epoch. */
	readonly at: number;
	readonly delivered: number;
	/** Without deliveries that were closed without a request. */
	readonly failed: number;
}

export interface Span {
	/** The beginning of the first minute in which more attempts failed than were delivered … */
	readonly from: number;
	/** … and the end of the last one. */
	readonly until: number;
	/** Whether nothing has been delivered since. */
	readonly isOngoing: boolean;
	readonly failed: number;
	readonly delivered: number;
}

const MINUTE_MS = 60_000;

export const INCIDENT = {
	/** With fewer failed attempts it isn't an incident. */
	failedAttempts: HEALTH.failingAttempts,
	/** If most attempts since fail again within this time, it's the same incident. */
	againWithinMinutes: 5,
	/** How far back incidents are shown: counts by minute are kept a little longer. */
	hours: 48,
} as const;

/** @param steps oldest first; those without attempts may be left out */
export function incidentsOf(steps: readonly StepCounts[]): Span[] {
	const all: Incident[] = [];
	let open: Incident | null = null;
	for (const step of steps) {
		const isBad = step.failed > step.delivered;
		if (!isBad) open?.pass(step);
		else if (open?.continuesWith(step)) open.extend(step);
		else {
			open = new Incident(step);
			all.push(open);
		}
	}
	return all.map((incident) => incident.span).filter(({ failed }) => failed >= INCIDENT.failedAttempts);
}

class Incident {
	readonly #from: number;
	#until = 0;
	#failed = 0;
	#delivered = 0;
	/** Attempts after the last bad minute. They belong to it if it fails again soon. */
	#since = { failed: 0, delivered: 0 };

	constructor(first: StepCounts) {
		this.#from = first.at;
		this.extend(first);
	}

	get span(): Span {
		const isOngoing = this.#since.delivered === 0;
		return { from: this.#from, until: this.#until, isOngoing, failed: this.#failed, delivered: this.#delivered };
	}

	/** A receiver that only fails now and then has no outage: most attempts since must have failed, too. */
	continuesWith({ at, failed, delivered }: StepCounts): boolean {
		if (this.#since.delivered === 0) return true;
		const isSoon = at - this.#until <= INCIDENT.againWithinMinutes * MINUTE_MS;
		return isSoon && this.#since.failed + failed > this.#since.delivered + delivered;
	}

	extend({ at, failed, delivered }: StepCounts): void {
		this.#until = at + MINUTE_MS;
		this.#failed += this.#since.failed + failed;
		this.#delivered += this.#since.delivered + delivered;
		this.#since = { failed: 0, delivered: 0 };
	}

	pass({ failed, delivered }: StepCounts): void {
		this.#since.failed += failed;
		this.#since.delivered += delivered;
	}
}
