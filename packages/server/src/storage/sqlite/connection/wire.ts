import type { ThreadWarning } from "../../../base/logger.ts";
import type { AppendRequest, AppendResult, LogEvent, NewAttempt, Settlement } from "../../port.ts";
import { STATUS_CODE, storedDetails, storedSignatures, toStoredId } from "../../shared/deliveries.ts";
import type { ErrorNote } from "./errors.ts";

/** Many byte strings in one piece of memory, with the end of each. */
type Packed = readonly [bytes: Uint8Array<ArrayBuffer>, ends: readonly number[]];

/** Memory from this size, in bytes, is transferred between threads; copying less is faster. */
const HANDED_OVER_FROM = 16_384;

export function pack(parts: readonly Uint8Array[]): Packed {
	let length = 0;
	const ends = parts.map((part) => (length += part.length));
	// Not from the pool, because it's transferred; not cleared, because all of it is written.
	const bytes = Buffer.allocUnsafeSlow(length);
	for (let i = 0; i < parts.length; i++) bytes.set(parts[i]!, i === 0 ? 0 : ends[i - 1]!);
	return [bytes, ends];
}

/** A view of one of them, not a copy. */
export function unpack([bytes, ends]: Packed, index: number): Uint8Array {
	return bytes.subarray(index === 0 ? 0 : ends[index - 1]!, ends[index]!);
}

/** A batch's memory: by convention, its last member is packed. Null if there is none. */
export function memoryOf(batch: unknown): Uint8Array<ArrayBuffer> | null {
	const packed: unknown = Array.isArray(batch) ? batch.at(-1) : null;
	const bytes: unknown = Array.isArray(packed) ? packed[0] : null;
	return bytes instanceof Uint8Array ? (bytes as Uint8Array<ArrayBuffer>) : null;
}

/** The memory in these values to transfer with a message instead of copying it. */
export function transferOf(values: readonly unknown[]): ArrayBuffer[] {
	const memories = values.map(memoryOf).filter((bytes) => bytes !== null && bytes.length >= HANDED_OVER_FROM);
	return memories.map((bytes) => bytes!.buffer);
}

/** Append requests in columns, followed by the events of all requests. */
type AppendBatch = readonly [
	requests: readonly (readonly [projectId: string, publishedAt: number, events: number])[],
	ids: readonly string[],
	types: readonly string[],
	createdAt: readonly number[],
	/** Whether the publisher set the time. */
	given: readonly boolean[],
	bodies: Packed,
];

export function packAppends(requests: readonly AppendRequest[]): AppendBatch {
	const events = requests.length === 1 ? requests[0]!.events : requests.flatMap((request) => request.events);
	return [
		requests.map((request) => [request.projectId, request.publishedAt, request.events.length]),
		events.map((event) => event.id),
		events.map((event) => event.type),
		events.map((event) => event.createdAt),
		events.map((event) => event.createdAtGiven),
		pack(events.map((event) => event.body)),
	];
}

export function unpackAppends([requests, ids, types, createdAt, given, bodies]: AppendBatch): AppendRequest[] {
	let next = 0;
	return requests.map(([projectId, publishedAt, count]) => {
		const first = next;
		next += count;
		const events = Array.from({ length: count }, (_, nth) => {
			const i = first + nth;
			const [id, type] = [ids[i]!, types[i]!];
			return { id, type, createdAt: createdAt[i]!, createdAtGiven: given[i]!, body: unpack(bodies, i) };
		});
		return { projectId, publishedAt, events };
	});
}

/** The result of each request: the columns of its events, or the indexes of those in conflict. */
type AppendAnswer = readonly (
	| readonly [kind: "appended", seqs: readonly number[], createdAt: readonly number[], repeated: readonly boolean[]]
	| readonly [kind: "conflict", indexes: readonly number[]]
	| readonly [kind: "no_project"]
)[];

export function packResults(results: readonly AppendResult[]): AppendAnswer {
	return results.map((result) => {
		if (result.kind === "conflict") return [result.kind, result.indexes];
		if (result.kind === "no_project") return [result.kind];
		if (result.kind === "locked") throw new Error("Rows of a SQLite database are never locked.");
		const { events } = result;
		return [
			result.kind,
			events.map(({ seq }) => seq),
			events.map(({ createdAt }) => createdAt),
			events.map(({ repeated }) => repeated),
		];
	});
}

export function unpackResults(answer: AppendAnswer): AppendResult[] {
	return answer.map(([kind, ...columns]) => {
		if (kind === "no_project") return { kind };
		if (kind === "conflict") return { kind, indexes: columns[0]! };
		const [seqs, createdAt, repeated] = columns;
		return { kind, events: seqs!.map((seq, i) => ({ seq, createdAt: createdAt![i]!, repeated: repeated![i]! })) };
	});
}

/** Events in columns. */
export type EventRows = readonly [
	seqs: readonly number[],
	ids: readonly string[],
	types: readonly string[],
	createdAt: readonly number[],
	publishedAt: readonly number[],
	bodies: Packed,
];

export function unpackEvents([seqs, ids, types, createdAt, publishedAt, bodies]: EventRows): LogEvent[] {
	return seqs.map((seq, i) => ({
		seq,
		id: ids[i]!,
		type: types[i]!,
		createdAt: createdAt[i]!,
		publishedAt: publishedAt[i]!,
		body: unpack(bodies, i),
	}));
}

/** Settlements, followed by the attempts of all of them. */
type SettleBatch = readonly [
	settlements: readonly SettlementRow[],
	attempts: readonly SentAttempt[],
	responseBodies: Packed,
];

type SettlementRow = readonly [
	projectId: string,
	generation: number,
	attempts: number,
	schedule: Settlement["schedule"],
	unschedule: Settlement["unschedule"],
	lanes: readonly (readonly [webhookId: string, position: number, open: readonly number[]])[],
];

type SentAttempt = readonly [webhookId: string, type: string, ...stored: StoredValues];

/** The columns of `attempts` that are sent as they are stored, except the signature, which is in hexadecimal. */
export const STORED_COLUMNS = `
	seq, status, id, replay, attempt, status_code, error_code, error, started_at, response_ms, response_truncated,
	next_retry_at, url, sent_brand, sent_timestamp, details, sent_signature`;

/** Their values. */
type StoredValues = readonly [seq: number, status: number, ...others: readonly (string | number | null)[]];

const toSent = (attempt: NewAttempt): SentAttempt => [
	attempt.webhookId,
	attempt.eventType,
	attempt.seq,
	STATUS_CODE[attempt.status],
	toStoredId(attempt.id),
	attempt.replay,
	attempt.attempt,
	attempt.statusCode,
	attempt.errorCode,
	attempt.error,
	attempt.startedAt,
	attempt.responseMs,
	Number(attempt.responseTruncated),
	attempt.nextRetryAt,
	attempt.url,
	attempt.sent?.brand ?? null,
	attempt.sent?.timestamp ?? null,
	storedDetails(attempt),
	attempt.sent && storedSignatures(attempt.sent),
];

export function packSettlements(settlements: readonly Settlement[]): SettleBatch {
	const attempts =
		settlements.length === 1 ? settlements[0]!.attempts : settlements.flatMap((settlement) => settlement.attempts);
	return [settlements.map(toRow), attempts.map(toSent), pack(attempts.map((attempt) => attempt.responseBody))];
}

const toRow = ({ projectId, generation, attempts, schedule, unschedule, lanes }: Settlement): SettlementRow => [
	projectId,
	generation,
	attempts.length,
	schedule,
	unschedule,
	lanes.map(({ webhookId, position, open }) => [webhookId, position, open]),
];

export interface AttemptRow {
	readonly webhookId: string;
	readonly type: string;
	readonly stored: StoredValues;
	readonly responseBody: Uint8Array;
}

export type UnpackedSettlement = Omit<Settlement, "attempts"> & { readonly attempts: readonly AttemptRow[] };

export function unpackSettlements([settlements, attempts, responseBodies]: SettleBatch): UnpackedSettlement[] {
	const rows = attempts.map(([webhookId, type, ...stored], i): AttemptRow => {
		return { webhookId, type, stored, responseBody: unpack(responseBodies, i) };
	});
	return settlements.map(([projectId, generation, count, schedule, unschedule, lanes]) => ({
		projectId,
		generation,
		attempts: rows.splice(0, count),
		schedule,
		unschedule,
		lanes: lanes.map(([webhookId, position, open]) => ({ webhookId, position, open })),
	}));
}

/**
 * Messages between threads. They are arrays: copying an object also copies its members' names, which took longer than
 * copying the values.
 */

/** What a worker is started with. */
export interface WorkerSetup {
	readonly path: string;
	readonly leaseTermMs: number;
	readonly role: "writer" | "reader" | "checkpointer";
}

/** A call to a worker. `now` is the node's time. */
export type Request = readonly [id: number, operation: string, p: unknown, now: number];

export type Reply =
	| readonly [id: number, ok: true, value: unknown]
	| readonly [id: number, ok: false, error: ErrorNote];

/** Results come in batches. The first message says whether the database could be opened. */
export type FromWorker =
	| readonly [kind: "opened"]
	| readonly [kind: "not_opened", error: ErrorNote]
	/** Its files were moved, replaced or deleted. It sends nothing more. */
	| readonly [kind: "lost", error: ErrorNote]
	| readonly [kind: "warning", warning: ThreadWarning]
	| readonly [kind: "replies", replies: readonly Reply[]];

/** Ends a worker, after all earlier calls. */
export const CLOSE = "close";
