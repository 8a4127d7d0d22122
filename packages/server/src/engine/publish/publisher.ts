import { encodeEnvelope } from "@posthorn/protocol";
import { Budget } from "../../base/budget.ts";
import { COMMITS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { GroupCommit } from "../../base/group-commit.ts";
import type { IdSource } from "../../base/ids.ts";
import { neverPause, runInSlices } from "../../base/turns.ts";
import type { AppendedEvent, AppendRequest, AppendResult, LogEvent, LogStorage, NewEvent } from "../../storage/port.ts";
import type { Directory } from "../cluster/directory.ts";
import type { EventDraft, EventDrafts, EventFault, PublishOptions, PublishResult } from "../engine.ts";
import { runByHalves } from "../halves.ts";
import { faultsOf } from "./check.ts";

/** Maximum time to batch events under load, milliseconds: less than a publisher notices. */
const GATHER_MS = 5;
/** How long publishers wait for a log locked by another session, milliseconds. */
const LOCK_PATIENCE_MS = 5_000;
/** Size of an event's row apart from its envelope, bytes, so that tiny events have a cost too. */
const ROW_BYTES = 200;
/** Size of an envelope around its data, bytes, rounded up. */
const ENVELOPE_BYTES = 200;
/** Maximum number of faults reported. No one reads more, and data may contain a hundred thousand. */
const MAX_FAULTS = 100;

export interface PublisherOptions {
	readonly storage: Pick<LogStorage, "appendEvents">;
	readonly clock: Clock;
	/** Real time, for waits on the database. */
	readonly disk: Clock;
	readonly ids: IdSource;
	/** The maximum size of `data`, bytes. */
	readonly maxEventBytes: number;
	readonly lanes: Pick<Directory, "appended" | "recheck">;
}

type Refused = Exclude<PublishResult, { kind: "published" }>;

interface Request extends AppendRequest {
	readonly events: readonly EncodedEvent[];
}

/** Events with their exact bytes, and the queue space that they take. */
interface Prepared {
	request: Request;
	readonly bytes: number;
}

interface Waiting extends Prepared {
	readonly resolve: (result: AppendResult) => void;
	readonly reject: (error: unknown) => void;
}

/**
 * Publishing: checks events, fixes their exact bytes, and appends them to the log. Calls that arrive during a commit
 * share the next one, in turn by project; each resolves after its commit. Rejects only if storage fails.
 */
export class Publisher {
	/** Bytes that wait for or are in a commit. Facts, which storage appends by other verbs, count here too. */
	readonly budget = new Budget({
		name: "publish_queue_bytes",
		limit: COMMITS.publishBytesWaiting,
		perOwner: COMMITS.publishBytesWaitingPerProject,
		leavesRoom: true,
	});
	readonly #options: PublisherOptions;
	readonly #commits: GroupCommit<Waiting>;
	#batches = 0;

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
		// One event, or a few, are encoded before this returns.
		const preparing = runInSlices(this.#prepare(projectId, drafts), pause);
		const prepared = preparing instanceof Promise ? await preparing : preparing;
		onEncoded?.();
		return "kind" in prepared ? prepared : this.#append(prepared);
	}

	drain(): Promise<void> {
		return this.#commits.drain();
	}

	/** Checks and encodes events, and takes their queue space. Yields the bytes of each piece that it worked on. */
	*#prepare(projectId: string, drafts: EventDrafts): Generator<number, Prepared | Refused, void> {
		const about = bytesOf(drafts) + drafts.length * (ENVELOPE_BYTES + ROW_BYTES);
		const whose = this.budget.takeWhole(projectId, about);
		if (whose !== null) return { kind: "busy", whose };
		let bytes = 0;
		try {
			const publishedAt = this.#options.clock.now();
			const events = yield* this.#encodeAll(projectId, drafts, publishedAt);
			if ("kind" in events) return events;
			bytes = events.reduce((sum, { body }) => sum + body.length + ROW_BYTES, 0);
			return { request: { projectId, publishedAt, events }, bytes };
		} finally {
			// Of the estimate, their exact size stays held, which may be more; nothing if they were refused.
			this.budget.give(projectId, about - bytes);
		}
	}

	*#encodeAll(
		projectId: string,
		drafts: EventDrafts,
		now: number,
	): Generator<number, readonly EncodedEvent[] | Refused, void> {
		const events: EncodedEvent[] = [];
		const faults: EventFault[] = [];
		let tooLarge: Refused | null = null;
		let index = 0;
		/**
		 * Encodes the next drafts. Only this function holds them: very many generators may be waiting, without parsed text.
		 *
		 * @returns how many bytes it worked on; null at the end
		 */
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
		return promise
			.finally(() => this.budget.give(projectId, bytes))
			.then((result) => (result.kind === "appended" ? { kind: "published", events } : result));
	}

	async #commit(batch: readonly Waiting[], apart: boolean): Promise<Waiting[]> {
		const append = async (part: readonly Waiting[]) => {
			const requests = part.map(({ request }) => request);
			const results = await this.#options.storage.appendEvents({ requests, waits: apart });
			this.#handOn(part, results);
			return results;
		};
		const ran = await runByHalves(batch, {
			run: append,
			ownerOf: ({ request }) => request.projectId,
			number: this.#batches++,
		});
		const locked: Waiting[] = [];
		const failed = new Set<string>();
		for (const [waiting, appended] of ran) {
			if ("error" in appended) {
				failed.add(waiting.request.projectId);
				waiting.reject(appended.error);
			} else if (appended.result.kind === "locked") {
				if (appended.result.maybeWritten) waiting.request = { ...waiting.request, maybeWritten: true };
				locked.push(waiting);
			} else waiting.resolve(appended.result);
		}
		for (const projectId of failed) this.#options.lanes.recheck(projectId);
		return locked;
	}

	/** Passes committed events to the lanes, so that they are sent from memory instead of being read again. */
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
		for (const [projectId, events] of byProject) if (events.length > 0) this.#options.lanes.appended(projectId, events);
	}
}

/** Most text needs no counting, because a UTF-16 unit takes at most three bytes of UTF-8. */
function isLarger(text: string, bytes: number): boolean {
	return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}

function bytesOf(drafts: EventDrafts): number {
	return "next" in drafts ? drafts.bytes : drafts.reduce((sum, { data }) => sum + data.length, 0);
}

/** An event from encoding until it is sent: a single object, because very many exist at once. */
class EncodedEvent implements NewEvent, LogEvent {
	readonly id: string;
	readonly type: string;
	createdAt: number;
	readonly createdAtGiven: boolean;
	readonly body: Uint8Array;
	readonly publishedAt: number;
	/** 0 until it is appended. */
	seq = 0;

	constructor({ id, type, createdAt, createdAtGiven, body }: NewEvent, publishedAt: number) {
		this.id = id;
		this.type = type;
		this.createdAt = createdAt;
		this.createdAtGiven = createdAtGiven;
		this.body = body;
		this.publishedAt = publishedAt;
	}

	/** Records its position in the log, and its stored time, which for a repeated event is that of the first. */
	appendedAs({ seq, createdAt }: AppendedEvent): void {
		this.seq = seq;
		this.createdAt = createdAt;
	}
}
