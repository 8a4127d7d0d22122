/** Reads a project's lanes from storage for its actor: all of them, or only the one that changed. */
import type { LoadedLanes } from "../../storage/port.ts";
import type { ProjectWork } from "./project-work.ts";

/** A stored change of one webhook, and the project's revision before it. */
export interface LaneChange {
	readonly webhookId: string;
	readonly since: number;
}

export class LaneLoader {
	readonly #work: Pick<ProjectWork, "context" | "projectId" | "post">;
	readonly #revision: () => number | null;
	#reading: Promise<unknown> | null = null;
	#next: Promise<void> | null = null;
	/** Number of requested reads of all lanes that aren't applied yet. */
	#full = 0;

	/** @param revision what the actor applies; null until it has loaded */
	constructor(work: Pick<ProjectWork, "context" | "projectId" | "post">, revision: () => number | null) {
		this.#work = work;
		this.#revision = revision;
	}

	/** Resolves when the actor applies what is stored. Rejects if the read fails. */
	async load(change: LaneChange | null): Promise<void> {
		if (change && (await this.#loadOne(change))) return;
		this.#full += 1;
		try {
			await this.#loadAll();
		} finally {
			this.#full -= 1;
		}
	}

	/**
	 * Each change raises the revision, and this change was made after `since` was read. So if the revision has risen by
	 * one and the actor still applies `since`, only this webhook has changed. It doesn't do this while all lanes are
	 * being read: that read would then be older and be dropped, although it contains more than lanes.
	 */
	async #loadOne({ webhookId, since }: LaneChange): Promise<boolean> {
		if (this.#full > 0 || this.#revision() !== since) return false;
		const { context, projectId } = this.#work;
		const loaded = await context.storage.loadLanes(projectId, webhookId);
		if (loaded.seen.revision !== since + 1) return false;
		await this.#apply(loaded, webhookId);
		return true;
	}

	/** Calls made during a read share the next one, which starts after the changes that they need were stored. */
	#loadAll(): Promise<void> {
		this.#next ??= this.#readNext();
		return this.#next;
	}

	async #readNext(): Promise<void> {
		await this.#reading?.catch(() => undefined);
		this.#next = null;
		const { context, projectId } = this.#work;
		const reading = context.storage.loadLanes(projectId);
		this.#reading = reading;
		await this.#apply(await reading, null);
	}

	#apply(loaded: LoadedLanes, only: string | null): Promise<void> {
		return new Promise((done) => this.#work.post({ kind: "loaded", loaded, only, done }));
	}
}
