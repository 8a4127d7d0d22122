import type { Attempt, AttemptSummary } from "../../../src/storage/port.ts";
import type { MemoryNode } from "./node.ts";
import type { AttemptRow, EventRow } from "./rows.ts";

/** An entry of the log without its bodies. */
export function toSummary(node: MemoryNode, row: AttemptRow): AttemptSummary {
	const { responseBody: _, responseTruncated: __, details: ___, sent: ____, ...entry } = row.entry;
	return { ...entry, eventId: eventOf(node, row).id };
}

/** A log entry with the event that it delivered and its own copy of the bytes. */
export function toAttempt(node: MemoryNode, row: AttemptRow): Attempt {
	const { entry } = row;
	const { id, body } = eventOf(node, row);
	return {
		...entry,
		sent: entry.sent && { ...entry.sent },
		responseBody: Buffer.from(entry.responseBody),
		eventId: id,
		requestBody: Buffer.from(body),
	};
}

function eventOf({ tables }: MemoryNode, { id, projectNo, seq }: AttemptRow): EventRow {
	const event = tables.events.by.seq.get({ projectNo, seq });
	if (event === undefined) throw new Error(`The event of log entry ${id} doesn't exist.`);
	return event;
}
