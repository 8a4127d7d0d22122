import type { LogEvent } from "../../storage/port.ts";
import type { ProjectWork } from "./context.ts";

/** Compares what an actor knows of its project's log with what is stored. */
export class LogCheck {
	readonly #work: ProjectWork;
	#running = false;
	#readingEnd = false;
	/** Another append failed since the read began. */
	#endMoved = false;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	/**
	 * Reads the end of the log after an append whose result is unknown. Retries until it succeeds. One read at a time, since
	 * every append fails during an outage.
	 */
	readEnd(): void {
		if (this.#readingEnd) {
			this.#endMoved = true;
			return;
		}
		this.#readingEnd = true;
		this.#endMoved = false;
		const { context, projectId, post, readFailed } = this.#work;
		const again = (): void => {
			this.#readingEnd = false;
			post({ kind: "recheck" });
		};
		context.storage.readLogEnd({ projectId }).then(
			(end) => {
				if (end !== null) post({ kind: "reaches", lastSeq: end.lastSeq });
				if (this.#endMoved) again();
				else this.#readingEnd = false;
			},
			(error: unknown) => readFailed(error, again),
		);
	}

	/** Checks that the log still holds this event under its sequence number. Runs one check at a time. */
	check(event: LogEvent): void {
		if (this.#running) return;
		this.#running = true;
		const { context, projectId, post } = this.#work;
		context.storage
			.readEvents({ projectId, seqs: [event.seq] })
			.then(([stored]) => {
				if (stored?.id !== event.id) post({ kind: "rewound" });
			})
			// A rewound log is also detected by the check for remote changes, and by settling.
			.catch(() => undefined)
			.finally(() => {
				this.#running = false;
			});
	}
}
