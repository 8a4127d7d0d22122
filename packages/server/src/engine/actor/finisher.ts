import type { LogEvent } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Outcome } from "../send/outcome.ts";
import { consequenceOf, type Flight, NO_BYTES } from "./flight.ts";
import type { Message } from "./messages.ts";
import type { ProjectWork } from "./project-work.ts";

/** What waits for its commit holds no body. */
function withoutBody({ seq, id, type, createdAt, publishedAt }: LogEvent): LogEvent {
	return { seq, id, type, createdAt, publishedAt, body: NO_BYTES };
}

/** Takes attempts from their outcome through the commit. */
export class Finisher {
	readonly #work: ProjectWork;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	/** An attempt is over: the lane moves on, and what follows is on its way to be committed. */
	ended(flight: Flight, outcome: Outcome): void {
		const { lane, retry, slot } = flight;
		const { context, lease, post } = this.#work;
		slot?.release();
		// A webhook that is gone gets no next attempt.
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

	/** Nothing was sent, and it was no attempt: it waits in its place again, as if it had not begun. */
	withheld(flight: Flight): void {
		flight.slot?.release();
		this.putBack(flight);
	}

	/** The attempt waits again, as if it had not begun. */
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

	/** Its outcome is committed: only now is the next attempt put into its queue. */
	committed({ flight, consequence, position }: Extract<Message, { kind: "committed" }>): void {
		const { lane, retry, event } = flight;
		if (retry) {
			lane.queuedCommitted(retry);
			lane.queue(retry.queue).forget(retry);
		} else {
			lane.committed(position);
		}
		const { schedule } = consequence;
		// One that was read before this answer came may be under way already.
		if (schedule && !lane.isUnderWay(schedule)) lane.queue("retry").add(schedule);
		this.#work.context.onAttempt(this.#work.projectId, event.id, consequence.attempt);
	}

	/** Commits the position of a lane that only passed over events. */
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

	/** Nothing is pending any more for a deleted webhook. If storage fails to note it, whoever loads the lanes next does. */
	endDeletion({ webhookId }: Lane): void {
		const { context, open, post, projectId } = this.#work;
		open.begin();
		context.storage
			.endDeletion(projectId, webhookId)
			.catch((error) => context.logger.warn({ err: error, webhookId }, "ending a webhook's deletion failed"))
			.then(() => post({ kind: "deletion_ended" }));
	}
}
