import { encodeEnvelope } from "@posthorn/protocol";
import { Budget } from "../../base/budget.ts";
import { COMMITS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { GroupCommit } from "../../base/group-commit.ts";
import type { IdSource } from "../../base/ids.ts";
import { neverPause, runInSlices } from "../../base/turns.ts";
import type { AppendRequest, AppendResult, LogEvent, LogStorage } from "../../storage/port.ts";
import type { EventDraft, EventDrafts, EventFault, PublishOptions, PublishResult } from "../engine.ts";
import { faultsOf } from "./check.ts";
import { EncodedEvent } from "./encoded-event.ts";

/** Under load a commit gathers for as long as this: less than a publisher notices. */
const GATHER_MS = 5;
/** Publishers wait this long for a log that somebody else holds, milliseconds. */
const LOCK_PATIENCE_MS = 5_000;
/** What an event's row costs besides its envelope, bytes: so tiny events have a cost, too. */
const ROW_BYTES = 200;
/** What an envelope has around its data, bytes, and somewhat more. */
const ENVELOPE_BYTES = 200;
/** Faults that are told of at most: nobody reads more, and data may hold a hundred thousand. */
const MAX_FAULTS = 100;

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
	readonly request: Request;
	readonly bytes: number;
}

type Refused = Exclude<PublishResult, { kind: "published" }>;

interface Request extends AppendRequest {
	readonly events: readonly EncodedEvent[];
}

interface Waiting {
	request: Request;
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

	async publish(
		projectId: string,
		drafts: EventDrafts,
		{ pause = neverPause, onEncoded }: PublishOptions = {},
	): Promise<PublishResult> {
		// One event, or a few, are prepared before this returns.
		const underWay = runInSlices(this.#prepare(projectId, drafts), pause);
		const prepared = underWay instanceof Promise ? await underWay : underWay;
		onEncoded?.();
		return "kind" in prepared ? prepared : this.#append(prepared);
	}

	/** Resolves when everything that was accepted is committed. */
	drain(): Promise<void> {
		return this.#commits.drain();
	}

	/** Reads, checks and encodes events, and takes their room in the queue. Yields the bytes of what it has worked on. */
	*#prepare(projectId: string, drafts: EventDrafts): Generator<number, Prepared | Refused, void> {
		const about = bytesOf(drafts) + drafts.length * (ENVELOPE_BYTES + ROW_BYTES);
		const whose = this.budget.takeWhole(projectId, about);
		if (whose !== null) return { kind: "busy", whose };
		let held = about;
		try {
			const publishedAt = this.#options.clock.now();
			const encoded = yield* this.#encodeAll(projectId, drafts, publishedAt);
			if ("kind" in encoded) return encoded;
			const bytes = encoded.reduce((sum, { body }) => sum + body.length + ROW_BYTES, 0);
			this.budget.hold(projectId, bytes - about);
			held = 0;
			return { request: { projectId, publishedAt, events: encoded }, bytes };
		} finally {
			if (held > 0) this.budget.give(projectId, held);
		}
	}

	/** Nothing that was read is held while this waits, since very many batches may. */
	*#encodeAll(
		projectId: string,
		drafts: EventDrafts,
		now: number,
	): Generator<number, readonly EncodedEvent[] | Refused, void> {
		const events: EncodedEvent[] = [];
		const faults: EventFault[] = [];
		let tooLarge: Refused | null = null;
		let index = 0;
		/** @returns how many bytes it worked on, or null where there are no more */
		const encodeNext = (): number | null => {
			const group = "next" in drafts ? drafts.next() : index === 0 ? drafts : null;
			if (group === null) return null;
			let bytes = 0;
			for (const draft of group) {
				tooLarge ??= this.#tooLarge(draft, index);
				if (tooLarge === null) for (const fault of faultsOf(draft, now)) faults.push({ index, ...fault });
				if (tooLarge === null && faults.length === 0) events.push(this.#encode(projectId, draft, now));
				if (faults.length >= MAX_FAULTS) return null;
				bytes += draft.data.length + ENVELOPE_BYTES;
				index++;
			}
			return bytes;
		};
		for (let bytes = encodeNext(); bytes !== null; bytes = encodeNext()) if (index < drafts.length) yield bytes;
		if (tooLarge !== null) return tooLarge;
		return faults.length > 0 ? { kind: "invalid", faults: faults.slice(0, MAX_FAULTS) } : events;
	}

	#tooLarge({ data }: EventDraft, index: number): Refused | null {
		const limit = this.#options.maxEventBytes;
		return isLarger(data, limit) ? { kind: "too_large", index, bytes: Buffer.byteLength(data), limit } : null;
	}

	#encode(projectId: string, draft: EventDraft, now: number): EncodedEvent {
		const id = draft.id ?? this.#options.ids.next("event");
		const { type, data } = draft;
		const createdAt = draft.createdAt ?? now;
		const body = encodeEnvelope({ id, type, createdAt, projectId, data });
		return new EncodedEvent({ id, type, createdAt, createdAtGiven: draft.createdAt !== undefined, body }, now);
	}

	#append({ request, bytes }: Prepared): Promise<PublishResult> {
		const { projectId, events } = request;
		const { promise, resolve, reject } = Promise.withResolvers<AppendResult>();
		this.#commits.add({ request, bytes, resolve, reject });
		return promise.finally(() => this.budget.give(projectId, bytes)).then((result) => answerOf(events, result));
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
			for (const [at, event] of request.events.entries()) {
				const appended = result.events[at]!;
				event.appendedAs(appended);
				if (!appended.repeated) events.push(event);
			}
		}
		for (const [projectId, events] of byProject) if (events.length > 0) this.#options.onAppended(projectId, events);
	}
}

/** A character takes three bytes of UTF-8 at most (a surrogate pair takes four for two), so most need no counting. */
function isLarger(text: string, bytes: number): boolean {
	return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

function bytesOf(drafts: EventDrafts): number {
	return "next" in drafts ? drafts.bytes : drafts.reduce((sum, { data }) => sum + data.length, 0);
}

function answerOf(events: readonly EncodedEvent[], result: AppendResult): PublishResult {
	if (result.kind === "locked") return { kind: "locked" };
	return result.kind === "appended" ? { kind: "published", events } : result;
}
