import { encodeEnvelope } from "@posthorn/protocol";
import { Budget } from "../../base/budget.ts";
import { COMMITS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { GroupCommit } from "../../base/group-commit.ts";
import type { IdSource } from "../../base/ids.ts";
import { neverPause, runInSlices } from "../../base/turns.ts";
import type { AppendRequest, AppendResult, LogEvent, LogStorage, NewEvent } from "../../storage/port.ts";
import type { EventDraft, PublishOptions, PublishResult } from "../engine.ts";
import { faultsOf } from "./check.ts";

/** Under load a commit gathers for as long as this: less than a publisher notices. */
const GATHER_MS = 5;
/** Publishers wait this long for a log that somebody else holds, milliseconds. */
const LOCK_PATIENCE_MS = 5_000;
/** What an event's row costs besides its envelope, bytes: so tiny events have a cost, too. */
const ROW_BYTES = 200;
/** What an envelope has around its data, bytes, and somewhat more. */
const ENVELOPE_BYTES = 200;

/** What is on its way to the log, of each project and of the node. */
const queueBudget = () =>
	new Budget({
		name: "publish_queue_bytes",
		limit: COMMITS.publishBytesWaiting,
		perOwner: COMMITS.publishBytesWaitingPerProject,
		leavesRoom: true,
	});

export interface PublisherOptions {
	readonly storage: Pick<LogStorage, "appendEvents">;
	readonly clock: Clock;
	/** What waiting for the database goes by: the machine's time, unless given. */
	readonly disk: Clock;
	readonly ids: IdSource;
	/** The largest `data`, bytes. */
	readonly maxEventBytes: number;
	/** Events were committed that were not there before. */
	readonly onAppended: (projectId: string, events: readonly LogEvent[]) => void;
}

/** Events with their exact bytes, and what they take of the queue. */
interface Prepared {
	readonly request: AppendRequest;
	readonly bytes: number;
}

type Refused = Exclude<PublishResult, { kind: "published" }>;

interface Waiting {
	request: AppendRequest;
	readonly bytes: number;
	readonly resolve: (result: AppendResult) => void;
	readonly reject: (error: unknown) => void;
}

/**
 * Publishing: checks events, fixes their exact bytes, and appends them to the log. Calls that arrive during a commit
 * share the next one, in turn by project; each is answered after its commit. Rejects only when storage fails.
 */
export class Publisher {
	/** What waits for a commit or is in one; facts, which storage appends by other verbs, take their part of it, too. */
	readonly budget = queueBudget();
	readonly #options: PublisherOptions;
	readonly #commits: GroupCommit<Waiting>;

	constructor(options: PublisherOptions) {
		this.#options = options;
		this.#commits = new GroupCommit({
			clock: options.disk,
			ownerOf: ({ request }) => request.projectId,
			commit: (batch, apart) => this.#commit(batch, apart),
			weigh: (item) => item.bytes,
			maxWeight: COMMITS.publishBytes,
			gatherMaxMs: GATHER_MS,
			patienceMs: LOCK_PATIENCE_MS,
			giveUp: (items) => {
				for (const { resolve } of items) resolve({ kind: "locked" });
			},
		});
	}

	publish(
		projectId: string,
		drafts: readonly EventDraft[],
		{ pause = neverPause, onEncoded }: PublishOptions = {},
	): Promise<PublishResult> {
		const append = (prepared: Prepared | Refused): Promise<PublishResult> => {
			onEncoded?.();
			return "kind" in prepared ? Promise.resolve(prepared) : this.#append(prepared);
		};
		// One event, or a few, are prepared before this returns.
		const prepared = runInSlices(this.#prepare(projectId, drafts), pause);
		return prepared instanceof Promise ? prepared.then(append) : append(prepared);
	}

	/** Resolves when everything that was accepted is committed. */
	drain(): Promise<void> {
		return this.#commits.drain();
	}

	/** Checks and encodes events, and takes their room in the queue. Yields the bytes of each piece of work but the first. */
	*#prepare(projectId: string, drafts: readonly EventDraft[]): Generator<number, Prepared | Refused, void> {
		const large = this.#tooLarge(drafts);
		if (large !== null) return large;
		const faults = yield* faultsOf(drafts, this.#options.clock.now());
		if (faults.length > 0) return { kind: "invalid", faults };
		// Until they are encoded, a character counts as one byte.
		const about = drafts.reduce((sum, { data }) => sum + data.length + ENVELOPE_BYTES + ROW_BYTES, 0);
		const whose = this.budget.takeWhole(projectId, about);
		if (whose !== null) return { kind: "busy", whose };
		const publishedAt = this.#options.clock.now();
		const events: NewEvent[] = [];
		for (const draft of drafts) {
			if (events.length > 0) yield draft.data.length;
			events.push(this.#encode(projectId, draft, publishedAt));
		}
		const bytes = events.reduce((sum, { body }) => sum + body.length + ROW_BYTES, 0);
		this.budget.hold(projectId, bytes - about);
		return { request: { projectId, publishedAt, events }, bytes };
	}

	#tooLarge(drafts: readonly EventDraft[]): Refused | null {
		const { maxEventBytes } = this.#options;
		const index = drafts.findIndex(({ data }) => isLarger(data, maxEventBytes));
		if (index < 0) return null;
		return { kind: "too_large", index, bytes: Buffer.byteLength(drafts[index]!.data), limit: maxEventBytes };
	}

	#encode(projectId: string, draft: EventDraft, now: number): NewEvent {
		const id = draft.id ?? this.#options.ids.next("event");
		const { type, data } = draft;
		const createdAt = draft.createdAt ?? now;
		const body = encodeEnvelope({ id, type, createdAt, projectId, data });
		return { id, type, createdAt, createdAtGiven: draft.createdAt !== undefined, body };
	}

	#append({ request, bytes }: Prepared): Promise<PublishResult> {
		const { projectId, events } = request;
		const { promise, resolve, reject } = Promise.withResolvers<AppendResult>();
		this.#commits.add({ request, bytes, resolve, reject });
		return promise
			.finally(() => this.budget.give(projectId, bytes))
			.then((result) => answerOf(projectId, events, result));
	}

	async #commit(batch: readonly Waiting[], apart: boolean): Promise<Waiting[]> {
		const locked: Waiting[] = [];
		try {
			const results = await this.#options.storage.appendEvents(
				batch.map(({ request }) => request),
				{ waits: apart },
			);
			this.#handOn(batch, results);
			for (const [i, waiting] of batch.entries()) {
				const result = results[i]!;
				if (result.kind !== "locked") {
					waiting.resolve(result);
					continue;
				}
				if (result.maybeWritten) waiting.request = { ...waiting.request, maybeWritten: true };
				locked.push(waiting);
			}
		} catch (error) {
			for (const { reject } of batch) reject(error);
		}
		return locked;
	}

	/** Gives what was committed to the lanes at once: an event that is sent from memory is not read again. */
	#handOn(batch: readonly Waiting[], results: readonly AppendResult[]): void {
		const byProject = new Map<string, LogEvent[]>();
		for (const [i, { request }] of batch.entries()) {
			const result = results[i]!;
			if (result.kind !== "appended") continue;
			const events = byProject.get(request.projectId) ?? [];
			byProject.set(request.projectId, events);
			result.events.forEach(({ seq, createdAt, repeated }, at) => {
				const { id, type, body } = request.events[at]!;
				if (!repeated) events.push({ seq, id, type, createdAt, publishedAt: request.publishedAt, body });
			});
		}
		for (const [projectId, events] of byProject) if (events.length > 0) this.#options.onAppended(projectId, events);
	}
}

/** A character takes three bytes of UTF-8 at most (a surrogate pair takes four for two), so most need no counting. */
function isLarger(text: string, bytes: number): boolean {
	return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

function answerOf(projectId: string, events: readonly NewEvent[], result: AppendResult): PublishResult {
	if (result.kind === "locked") return { kind: "locked" };
	if (result.kind !== "appended") return result;
	return {
		kind: "published",
		events: result.events.map(({ seq, createdAt }, i) => {
			const { id, type } = events[i]!;
			return { id, seq, type, createdAt, projectId };
		}),
	};
}
