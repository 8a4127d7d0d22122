import type { LogEvent, NewEvent } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendEvents } from "../log/append.ts";

/** Appends a fact's events in the current transaction. */
export function appendOfFact(c: Connection, projectId: string, at: number, events: readonly NewEvent[]): LogEvent[] {
	const [result] = appendEvents(c, [{ projectId, publishedAt: at, events }]);
	if (result?.kind !== "appended") throw new Error(`The events of a fact could not be appended: ${result?.kind}.`);
	return events.map(({ id, type, body }, i) => {
		const { seq, createdAt } = result.events[i]!;
		return { seq, id, type, createdAt, publishedAt: at, body };
	});
}
