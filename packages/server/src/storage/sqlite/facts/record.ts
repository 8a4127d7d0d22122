import type { FactEvent, LogEvent, NewEvent, Recorded } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendEvents } from "../log/append.ts";

/** The original response to a fact that was recorded before, or a conflict if its content differs; null if it is new. */
export function earlier(row: Record<string, unknown> | undefined, digest: Uint8Array): Recorded | null {
	if (row === undefined) return null;
	if (Buffer.compare(row.digest as Uint8Array, digest) !== 0) return { kind: "conflict" };
	return { kind: "repeated", at: row.at as number, events: JSON.parse(row.events as string) };
}

export const recorded = (at: number, appended: readonly LogEvent[]): Recorded => {
	return { kind: "recorded", at, events: factEvents(appended), appended };
};

/** What is stored with a fact, as JSON. */
export const factEvents = (appended: readonly LogEvent[]): FactEvent[] =>
	appended.map(({ id, seq, type, createdAt }) => ({ id, seq, type, createdAt }));

/** Appends a fact's events in the current transaction. */
export function appendOfFact(c: Connection, projectId: string, at: number, events: readonly NewEvent[]): LogEvent[] {
	const [result] = appendEvents(c, [{ projectId, publishedAt: at, events }]);
	if (result?.kind !== "appended") throw new Error(`The events of a fact could not be appended: ${result?.kind}.`);
	return events.map(({ id, type, body }, i) => {
		const { seq, createdAt } = result.events[i]!;
		return { seq, id, type, createdAt, publishedAt: at, body };
	});
}
