import type { AppendRequest, AppendResult, LogEvent, NewAttempt, Settlement } from "../../port.ts";
import { STATUS_CODE, storedDetails, storedSignatures } from "../../shared/deliveries.ts";
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

/** Settlements in columns, followed by the attempts of all of them, so that few objects are copied between threads. */
type SettleBatch = readonly [
	settlements: readonly SettlementRow[],
	/** Distinct webhook ids, event types, URLs, brands and error codes. */
	names: readonly string[],
	ids: readonly string[],
	errors: readonly (string | null)[],
	/** As they are stored. */
	signatures: readonly (string | null)[],
	/** For the attempts that have any, by index. */
	details: readonly (readonly [index: number, stored: string])[],
	/** A row of {@link COLUMNS} for each attempt. */
	numbers: Float64Array<ArrayBuffer>,
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

/** The column of each number of an attempt. NaN is null; names are given by index. */
const COLUMN = {
	webhook: 0,
	type: 1,
	url: 2,
	brand: 3,
	errorCode: 4,
	seq: 5,
	attempt: 6,
	replay: 7,
	status: 8,
	statusCode: 9,
	startedAt: 10,
	responseMs: 11,
	truncated: 12,
	nextRetryAt: 13,
	timestamp: 14,
} as const;

const COLUMNS = Object.keys(COLUMN).length;

export function packSettlements(settlements: readonly Settlement[]): SettleBatch {
	const attempts =
		settlements.length === 1 ? settlements[0]!.attempts : settlements.flatMap((settlement) => settlement.attempts);
	const names = new NameTable();
	const numbers = new Float64Array(attempts.length * COLUMNS);
	for (let i = 0; i < attempts.length; i++) writeNumbers(numbers, i * COLUMNS, attempts[i]!, names);
	return [
		settlements.map(toRow),
		names.names,
		attempts.map((attempt) => attempt.id),
		attempts.map((attempt) => attempt.error),
		attempts.map(({ sent }) => sent && storedSignatures(sent)),
		detailsOf(attempts),
		numbers,
		pack(attempts.map((attempt) => attempt.responseBody)),
	];
}

function detailsOf(attempts: readonly NewAttempt[]): [number, string][] {
	const all: [number, string][] = [];
	for (let i = 0; i < attempts.length; i++) {
		const stored = storedDetails(attempts[i]!);
		if (stored !== null) all.push([i, stored]);
	}
	return all;
}

const toRow = ({ projectId, generation, attempts, schedule, unschedule, lanes }: Settlement): SettlementRow => [
	projectId,
	generation,
	attempts.length,
	schedule,
	unschedule,
	lanes.map(({ webhookId, position, open }) => [webhookId, position, open]),
];

function writeNumbers(numbers: Float64Array, at: number, attempt: NewAttempt, names: NameTable): void {
	numbers[at + COLUMN.webhook] = names.indexOf(attempt.webhookId);
	numbers[at + COLUMN.type] = names.indexOf(attempt.eventType);
	numbers[at + COLUMN.url] = names.indexOf(attempt.url);
	numbers[at + COLUMN.brand] = attempt.sent === null ? Number.NaN : names.indexOf(attempt.sent.brand);
	numbers[at + COLUMN.errorCode] = attempt.errorCode === null ? Number.NaN : names.indexOf(attempt.errorCode);
	numbers[at + COLUMN.seq] = attempt.seq;
	numbers[at + COLUMN.attempt] = attempt.attempt;
	numbers[at + COLUMN.replay] = attempt.replay;
	numbers[at + COLUMN.status] = STATUS_CODE[attempt.status];
	numbers[at + COLUMN.statusCode] = attempt.statusCode ?? Number.NaN;
	numbers[at + COLUMN.startedAt] = attempt.startedAt;
	numbers[at + COLUMN.responseMs] = attempt.responseMs;
	numbers[at + COLUMN.truncated] = attempt.responseTruncated ? 1 : 0;
	numbers[at + COLUMN.nextRetryAt] = attempt.nextRetryAt ?? Number.NaN;
	numbers[at + COLUMN.timestamp] = attempt.sent?.timestamp ?? Number.NaN;
}

class NameTable {
	readonly names: string[] = [];
	readonly #indexes = new Map<string, number>();

	indexOf(name: string): number {
		const known = this.#indexes.get(name);
		if (known !== undefined) return known;
		this.#indexes.set(name, this.names.length);
		return this.names.push(name) - 1;
	}
}

interface Columns {
	readonly names: readonly string[];
	readonly ids: readonly string[];
	readonly errors: readonly (string | null)[];
	readonly signatures: readonly (string | null)[];
	readonly details: ReadonlyMap<number, string>;
	readonly numbers: Float64Array;
	readonly responseBodies: Packed;
}

/** A settlement whose attempts are read from their columns. */
export type UnpackedSettlement = Omit<Settlement, "attempts"> & { readonly attempts: readonly AttemptRow[] };

export function unpackSettlements(batch: SettleBatch): UnpackedSettlement[] {
	const [settlements, names, ids, errors, signatures, details, numbers, responseBodies] = batch;
	const columns: Columns = { names, ids, errors, signatures, details: new Map(details), numbers, responseBodies };
	let next = 0;
	return settlements.map(([projectId, generation, count, schedule, unschedule, lanes]) => {
		const first = next;
		next += count;
		return {
			projectId,
			generation,
			attempts: Array.from({ length: count }, (_, nth) => new AttemptRow(columns, first + nth)),
			schedule,
			unschedule,
			lanes: lanes.map(([webhookId, position, open]) => ({ webhookId, position, open })),
		};
	});
}

/** An attempt, read from its columns. */
export class AttemptRow {
	readonly #columns: Columns;
	readonly #index: number;

	constructor(columns: Columns, index: number) {
		this.#columns = columns;
		this.#index = index;
	}

	get id(): string {
		return this.#columns.ids[this.#index]!;
	}

	get webhookId(): string {
		return this.name("webhook")!;
	}

	get error(): string | null {
		return this.#columns.errors[this.#index]!;
	}

	get signature(): string | null {
		return this.#columns.signatures[this.#index]!;
	}

	get details(): string | null {
		return this.#columns.details.get(this.#index) ?? null;
	}

	get responseBody(): Uint8Array {
		return unpack(this.#columns.responseBodies, this.#index);
	}

	number(column: keyof typeof COLUMN): number | null {
		const value = this.#columns.numbers[this.#index * COLUMNS + COLUMN[column]]!;
		return Number.isNaN(value) ? null : value;
	}

	/** The name in a column of names. */
	name(column: "webhook" | "type" | "url" | "brand" | "errorCode"): string | null {
		const index = this.number(column);
		return index === null ? null : this.#columns.names[index]!;
	}
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
	| readonly [kind: "replies", replies: readonly Reply[]];

/** Ends a worker, after all earlier calls. */
export const CLOSE = "close";
