import { encodeEnvelope } from "@posthorn/protocol";
import { COMMITS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { GroupCommit } from "../../base/group-commit.ts";
import type { IdSource } from "../../base/ids.ts";
import type { AppendRequest, AppendResult, LogEvent, LogStorage, NewEvent } from "../../storage/port.ts";
import type { EventDraft, PublishResult } from "../engine.ts";
import { faultsOf } from "./check.ts";

/** Under load a commit gathers for as long as this: less than a publisher notices. */
const GATHER_MS = 5;
/** When to come again, seconds. */
const RETRY_AFTER_S = 1;
/** What a row costs besides its body, bytes: so that many tiny events weigh something, too. */
const ROW_BYTES = 200;

export interface PublisherOptions {
	readonly storage: Pick<LogStorage, "appendEvents">;
	readonly clock: Clock;
	readonly ids: IdSource;
	/** The largest `data`, bytes. */
	readonly maxEventBytes: number;
	/** Events were committed that were not there before. */
	readonly onAppended: (projectId: string, events: readonly LogEvent[]) => void;
}

interface Waiting {
	readonly request: AppendRequest;
	readonly bytes: number;
	readonly resolve: (result: AppendResult) => void;
	readonly reject: (error: unknown) => void;
}

/**
 * Publishing: checks events, fixes their exact bytes, and appends them to the log. Calls that arrive while a commit is
 * under way share the next one; each is answered after its commit. Rejects only when storage fails.
 */
export class Publisher {
	readonly #options: PublisherOptions;
	readonly #commits: GroupCommit<Waiting>;

	constructor(options: PublisherOptions) {
		this.#options = options;
		this.#commits = new GroupCommit({
			commit: (batch) => this.#commit(batch),
			weigh: (item) => item.bytes,
			maxWeight: COMMITS.publishBytes,
			gatherMaxMs: GATHER_MS,
		});
	}

	publish(projectId: string, drafts: readonly EventDraft[]): Promise<PublishResult> {
		const refused = this.#refusalOf(drafts);
		if (refused) return Promise.resolve(refused);
		const publishedAt = this.#options.clock.now();
		const events = drafts.map((draft) => this.#encode(projectId, draft, publishedAt));
		// From here on nothing holds the drafts: what waits for the disk is the events' bytes alone.
		return this.#append({ projectId, publishedAt, events }).then((result) => answerOf(projectId, events, result));
	}

	/** Resolves when everything that was accepted is committed. */
	drain(): Promise<void> {
		return this.#commits.drain();
	}

	#refusalOf(drafts: readonly EventDraft[]): PublishResult | null {
		const { maxEventBytes } = this.#options;
		for (const [index, draft] of drafts.entries()) {
			// A character takes three bytes of UTF-8 at most (a surrogate pair takes four for two).
			if (draft.data.length * 3 <= maxEventBytes) continue;
			const bytes = Buffer.byteLength(draft.data);
			if (bytes > maxEventBytes) return { kind: "too_large", index, bytes, limit: maxEventBytes };
		}
		const faults = faultsOf(drafts, this.#options.clock.now());
		if (faults.length > 0) return { kind: "invalid", faults };
		return this.#commits.waitingWeight > COMMITS.publishBytesWaiting
			? { kind: "busy", retryAfter: RETRY_AFTER_S }
			: null;
	}

	#encode(projectId: string, draft: EventDraft, now: number): NewEvent {
		const id = draft.id ?? this.#options.ids.next("event");
		const { type, data } = draft;
		const createdAt = draft.createdAt ?? now;
		const body = encodeEnvelope({ id, type, createdAt, projectId, data });
		return { id, type, createdAt, createdAtGiven: draft.createdAt !== undefined, body };
	}

	#append(request: AppendRequest): Promise<AppendResult> {
		const bytes = request.events.reduce((sum, event) => sum + event.body.length + ROW_BYTES, 0);
		return new Promise((resolve, reject) => this.#commits.add({ request, bytes, resolve, reject }));
	}

	async #commit(batch: readonly Waiting[]): Promise<void> {
		try {
			const results = await this.#options.storage.appendEvents(batch.map(({ request }) => request));
			this.#handOn(batch, results);
			for (const [i, { resolve }] of batch.entries()) resolve(results[i]!);
		} catch (error) {
			for (const { reject } of batch) reject(error);
		}
	}

	/** Gives what was committed to the lanes at once: an event that is sent from memory is not read again. */
	#handOn(batch: readonly Waiting[], results: readonly AppendResult[]): void {
		const byProject = new Map<string, LogEvent[]>();
		for (const [i, { request }] of batch.entries()) {
			const result = results[i]!;
			if (result.kind !== "appended") continue;
			const events = byProject.get(request.projectId) ?? [];
			byProject.set(request.projectId, events);
			for (const [at, { seq, createdAt, repeated }] of result.events.entries()) {
				const { id, type, body } = request.events[at]!;
				if (!repeated) events.push({ seq, id, type, createdAt, publishedAt: request.publishedAt, body });
			}
		}
		for (const [projectId, events] of byProject) if (events.length > 0) this.#options.onAppended(projectId, events);
	}
}

function answerOf(projectId: string, events: readonly NewEvent[], result: AppendResult): PublishResult {
	if (result.kind !== "appended") return result;
	return {
		kind: "published",
		events: result.events.map(({ seq, createdAt }, i) => {
			const { id, type } = events[i]!;
			return { id, seq, type, createdAt, projectId };
		}),
	};
}
