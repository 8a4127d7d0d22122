import type { LogEvent } from "../../storage/port.ts";
import type { ProjectWork } from "./project-work.ts";

/** Checks whether the log still holds an event under the number that it was appended with. One at a time. */
export class LogCheck {
	readonly #work: ProjectWork;
	#running = false;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	check(event: LogEvent): void {
		if (this.#running) return;
		this.#running = true;
		const { context, projectId, post } = this.#work;
		context.storage
			.readEvents(projectId, [event.seq])
			.then(([stored]) => {
				if (stored?.id !== event.id) post({ kind: "rewound" });
			})
			// A log that went back is also found when neighbours are read, and when something is settled.
			.catch(() => undefined)
			.finally(() => {
				this.#running = false;
			});
	}
}
