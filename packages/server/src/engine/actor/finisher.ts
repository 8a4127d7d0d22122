import type { Claim } from "../../storage/port/neighbours.ts";
import type { LogEvent } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Deferred, Outcome, Withheld } from "../send/outcome.ts";
import { consequenceOf, type Flight, NO_BYTES } from "./flight.ts";
import type { Message } from "./messages.ts";
import type { ProjectWork } from "./project-work.ts";

/** Drops the body of an event whose outcome awaits its commit. */
function withoutBody({ seq, id, type, createdAt, publishedAt }: LogEvent): LogEvent {
	return { seq, id, type, createdAt, publishedAt, body: NO_BYTES };
}

/** Takes attempts from their outcome to the commit. */
export class Finisher {
	readonly #work: ProjectWork;
	#lastCommitted: Claim["attempt"] = null;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	/** The last attempt whose commit was confirmed. */
	get lastCommitted(): Claim["attempt"] {
		return this.#lastCommitted;
	}

	/**
	 * An attempt has ended, or wasn't made after all. Its lane moves on.
	 *
	 * @returns false if the attempt is no longer among those in flight: nothing was done
	 */
	ended(flight: Flight, outcome: Outcome | Withheld | Deferred): boolean {
		if (!this.#work.flights.delete(flight)) return false;
		flight.slot?.release();
		if (outcome.kind === "withheld" || outcome.kind === "deferred") this.putBack(flight);
		else this.#settle(flight, outcome);
		return true;
	}

	#settle(flight: Flight, outcome: Outcome): void {
		const { lane, retry } = flight;
		const { context, lease, post } = this.#work;
		// A deleted webhook gets no next attempt.
		const consequence = consequenceOf(flight, outcome, lane.gone || lane.deleted ? [] : context.retryDelaysMs);
		if (retry) lane.queuedEnded(retry);
		else lane.firstEnded(flight.event.seq);
		const { webhookId, progress } = lane;
		flight.event = withoutBody(flight.event);
		context.unsettled.begin();
		context.settler.add({
			lease,
			attempt: consequence.attempt,
			schedule: consequence.schedule,
			unschedule: retry && !consequence.schedule ? { webhookId, seq: retry.seq } : null,
			lane: retry ? null : progress,
			done: (result) => {
				context.unsettled.end(result);
				post({ kind: "committed", flight, consequence, position: progress.position, result });
			},
		});
	}

	/** Puts the attempt back into its queue, as if it had never begun. */
	putBack({ lane, retry, event }: Flight): void {
		this.#work.open.end();
		if (retry) {
			lane.queuedEnded(retry);
			lane.queuedCommitted(retry);
			lane.queue(retry.queue).add(retry);
		} else {
			lane.putBack(event.seq);
		}
	}

	/** The attempt's outcome is committed. Only now is the next attempt queued. */
	committed({ flight, consequence, position }: Extract<Message, { kind: "committed" }>): void {
		const { lane, retry, event } = flight;
		if (retry) {
			lane.queuedCommitted(retry);
			lane.queue(retry.queue).forget(retry);
		} else {
			lane.committed(position);
		}
		const { attempt, schedule } = consequence;
		this.#lastCommitted = attempt;
		// A read that finished before this response arrived may already have started it.
		if (schedule && !lane.isUnderWay(schedule)) lane.queue("retry").add(schedule);
		this.#work.context.onAttempt(this.#work.projectId, event.id, attempt);
	}

	/** Commits the position of a lane that only skipped events. */
	commitPosition(lane: Lane): void {
		const { context, lease, open, post } = this.#work;
		const { progress } = lane;
		open.begin();
		lane.committed(progress.position);
		context.settler.add({
			lease,
			attempt: null,
			schedule: null,
			unschedule: null,
			lane: progress,
			done: (result) => post({ kind: "position_committed", result }),
		});
	}

	/** A deleted webhook has nothing pending now. If storing that fails, the next load of the lanes does it. */
	endDeletion({ webhookId }: Lane): void {
		const { context, open, post, projectId } = this.#work;
		open.begin();
		context.storage
			.endDeletion(projectId, webhookId)
			.catch((error) => context.logger.warn({ err: error, webhookId }, "ending a webhook's deletion failed"))
			.then(() => post({ kind: "deletion_ended" }));
	}
}
