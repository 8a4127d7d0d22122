/**
 * Where nodes share a database, tells those who wait at this node (callers that wait for events, open pages of the
 * dashboard) what other nodes do. Attempts of other nodes raise no mark, so the newest attempt of each project with an
 * open page is read along with its marks.
 */
import type { Marks, MarkWatcher } from "../../engine/index.ts";
import type { AlarmMark, Storage } from "../../storage/port.ts";
import type { Changes } from "./changes.ts";
import type { Arrivals } from "./long-poll.ts";

export interface RemoteChangesOptions {
	readonly storage: Pick<Storage, "listAttempts">;
	readonly arrivals: Arrivals;
	readonly changes: Changes;
}

/** A project when it was last read. */
interface Seen {
	mark: AlarmMark;
	newestAttempt: string | undefined;
}

export class RemoteChanges implements MarkWatcher {
	readonly #options: RemoteChangesOptions;
	readonly #seen = new Map<string, Seen>();
	#isReadingAttempts = false;

	constructor(options: RemoteChangesOptions) {
		this.#options = options;
	}

	get projectIds(): Iterable<string> {
		const { arrivals, changes } = this.#options;
		return new Set([...arrivals.projects, ...changes.projects]);
	}

	watches(projectId: string): boolean {
		const { arrivals, changes } = this.#options;
		return arrivals.isWaitedFor(projectId) || changes.isListenedTo(projectId);
	}

	beforeRead(projectIds: readonly string[]): (marks: Marks) => Promise<void> {
		for (const projectId of this.#seen.keys()) if (!this.watches(projectId)) this.#seen.delete(projectId);
		const watched = projectIds.filter((projectId) => this.watches(projectId));
		return async (marks) => {
			for (const projectId of watched) {
				const mark = marks.get(projectId);
				if (mark) this.#compare(projectId, mark);
			}
			await this.#compareAttempts(watched);
		};
	}

	/** A project that wasn't watched before may have changed since its first waiter read it. */
	#compare(projectId: string, mark: AlarmMark): void {
		const { arrivals, changes } = this.#options;
		const seen = this.#seen.get(projectId);
		const hasGrown = seen?.mark.lastSeq !== mark.lastSeq;
		if (hasGrown) arrivals.noteElsewhere(projectId);
		if (hasGrown || seen.mark.revision !== mark.revision) changes.note(projectId, "webhooks");
		if (seen) seen.mark = mark;
		else this.#seen.set(projectId, { mark, newestAttempt: undefined });
	}

	/** Skips this if the last time is still in progress: the next poll comes soon. */
	async #compareAttempts(projectIds: readonly string[]): Promise<void> {
		const { changes } = this.#options;
		if (this.#isReadingAttempts) return;
		this.#isReadingAttempts = true;
		try {
			for (const projectId of projectIds) {
				const seen = this.#seen.get(projectId);
				if (!seen || !changes.isListenedTo(projectId)) continue;
				const newestAttempt = await this.#newestAttempt(projectId);
				if (seen.newestAttempt !== newestAttempt) changes.note(projectId, "attempts");
				seen.newestAttempt = newestAttempt;
			}
		} finally {
			this.#isReadingAttempts = false;
		}
	}

	async #newestAttempt(projectId: string): Promise<string | undefined> {
		const page = { limit: 1, maxBytes: 1 };
		const { rows } = await this.#options.storage.listAttempts({ projectId, filter: {}, page });
		return rows[0]?.id;
	}
}
