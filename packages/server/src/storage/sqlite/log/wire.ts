import type { AppendRequest, AppendResult, LogEvent } from "../../port.ts";
import { type Packed, pack, unpack } from "../connection/packed.ts";

/** Append requests in columns, the events of all requests one after the other. */
export type AppendBatch = readonly [
	requests: readonly (readonly [projectId: string, publishedAt: number, events: number])[],
	ids: readonly string[],
	types: readonly string[],
	createdAt: readonly number[],
	/** Whether the publisher named the time. */
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
		const events = Array.from({ length: count }, (_, place) => {
			const i = first + place;
			const [id, type] = [ids[i]!, types[i]!];
			return { id, type, createdAt: createdAt[i]!, createdAtGiven: given[i]!, body: unpack(bodies, i) };
		});
		return { projectId, publishedAt, events };
	});
}

/** What became of each request: the columns of its events, or the indexes of those in conflict. */
export type AppendAnswer = readonly (
	| readonly [kind: "appended", seqs: readonly number[], createdAt: readonly number[], repeated: readonly boolean[]]
	| readonly [kind: "conflict", indexes: readonly number[]]
	| readonly [kind: "no_project"]
)[];

export function packResults(results: readonly AppendResult[]): AppendAnswer {
	return results.map((result) => {
		if (result.kind === "conflict") return [result.kind, result.indexes];
		if (result.kind === "no_project") return [result.kind];
		if (result.kind === "locked") throw new Error("Nobody else can hold rows of a SQLite database.");
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
