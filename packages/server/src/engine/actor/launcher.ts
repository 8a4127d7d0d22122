import type { LogEvent, Retry } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { ClosingReason } from "../send/outcome.ts";
import type { Slot } from "../send/slots.ts";
import type { Flight } from "./flight.ts";
import type { ProjectWork } from "./project-work.ts";

/** Starts attempts, and closes deliveries without one. Both end with a message to the actor. */
export class Launcher {
	readonly #work: ProjectWork;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	/** Sends an event to its webhook. @param retry null for a first attempt */
	send(lane: Lane, event: LogEvent, retry: Retry | null, slot: Slot): void {
		const flight = this.#flight(lane, event, retry, slot);
		const { context, mayLeave, open, post } = this.#work;
		const { id: eventId, type: eventType, body } = event;
		open.begin();
		const onWritten = (): void => {
			flight.writtenAt = context.clock.elapsed();
		};
		// Meanwhile the owner may have unsubscribed from the type, or resumed from now.
		const isWanted = (): boolean => mayLeave() && lane.wants(event, retry);
		context.sender.send({ eventId, eventType, body, target: lane.target, mayLeave: isWanted, onWritten }).then(
			(outcome) => post({ kind: "ended", flight, outcome }),
			(error) => {
				slot.release();
				post({ kind: "fault", error });
			},
		);
	}

	/** Ends a delivery without sending a request. */
	close(lane: Lane, event: LogEvent, retry: Retry | null, slot: Slot | null, reason: ClosingReason): void {
		const flight = this.#flight(lane, event, retry, slot);
		const { context, open, post } = this.#work;
		const now = context.clock.now();
		open.begin();
		post({ kind: "ended", flight, outcome: { kind: "not_sent", reason, startedAt: now, endedAt: now } });
	}

	#flight(lane: Lane, event: LogEvent, retry: Retry | null, slot: Slot | null): Flight {
		const flight: Flight = {
			lane,
			event,
			attemptId: this.#work.context.ids.next("attempt"),
			attempt: retry?.attempt ?? 1,
			replay: retry?.replay ?? 0,
			retry,
			slot,
			writtenAt: null,
			place: -1,
		};
		this.#work.flights.add(flight);
		return flight;
	}
}
