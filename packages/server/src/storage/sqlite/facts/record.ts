import type { FactEvent, NewEvent } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendEvents } from "../log/append.ts";

/** What the writing thread answers: the caller has the events' bytes. */
export type FactReply =
	| { readonly kind: "recorded"; readonly at: number; readonly events: readonly FactEvent[] }
	| { readonly kind: "repeated"; readonly at: number; readonly events: readonly FactEvent[] }
	| { readonly kind: "conflict" }
	| { readonly kind: "no_project" };

/** What was told of a fact when it was recorded, or that other content has its id; null when it is new. */
export function earlier(row: Record<string, unknown> | undefined, digest: Uint8Array): FactReply | null {
	if (row === undefined) return null;
	if (Buffer.compare(row.digest as Uint8Array, digest) !== 0) return { kind: "conflict" };
	return { kind: "repeated", at: row.at as number, events: JSON.parse(row.events as string) };
}

/** Appends what a fact made, in the transaction that is under way. */
export function appendOfFact(c: Connection, projectId: string, at: number, events: readonly NewEvent[]): FactEvent[] {
	const [result] = appendEvents(c, [{ projectId, publishedAt: at, events }]);
	if (result?.kind !== "appended") throw new Error(`The events of a fact could not be appended: ${result?.kind}.`);
	return events.map(({ id, type }, i) => ({
		id,
		type,
		seq: result.events[i]!.seq,
		createdAt: result.events[i]!.createdAt,
	}));
}
