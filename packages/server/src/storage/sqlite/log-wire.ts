import type { AppendRequest, LogEvent } from "../port.ts";
import { type Packed, pack, unpack } from "./packed.ts";

/** Append requests in columns, the events of all requests one after the other. */
export interface AppendBatch {
	readonly requests: readonly { readonly projectId: string; readonly publishedAt: number; readonly count: number }[];
	readonly ids: readonly string[];
	readonly types: readonly string[];
	readonly createdAt: readonly number[];
	/** 1 where the publisher named the time. */
	readonly given: Uint8Array;
	/** The bodies. */
	readonly packed: Packed;
}

export function packAppends(requests: readonly AppendRequest[]): AppendBatch {
	const events = requests.length === 1 ? requests[0]!.events : requests.flatMap((request) => request.events);
	return {
		requests: requests.map((r) => ({ projectId: r.projectId, publishedAt: r.publishedAt, count: r.events.length })),
		ids: events.map((event) => event.id),
		types: events.map((event) => event.type),
		createdAt: events.map((event) => event.createdAt),
		given: Uint8Array.from(events, (event) => (event.createdAtGiven ? 1 : 0)),
		packed: pack(events.map((event) => event.body)),
	};
}

/** Events in columns. */
export interface EventRows {
	readonly seqs: readonly number[];
	readonly ids: readonly string[];
	readonly types: readonly string[];
	readonly createdAt: readonly number[];
	readonly publishedAt: readonly number[];
	/** The bodies. */
	readonly packed: Packed;
}

export function unpackEvents(rows: EventRows): LogEvent[] {
	return rows.seqs.map((seq, i) => ({
		seq,
		id: rows.ids[i]!,
		type: rows.types[i]!,
		createdAt: rows.createdAt[i]!,
		publishedAt: rows.publishedAt[i]!,
		body: unpack(rows.packed, i),
	}));
}
