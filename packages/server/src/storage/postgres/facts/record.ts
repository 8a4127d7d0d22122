import type { LogEvent, NewEvent } from "../../port.ts";
import { textArray, withoutNul } from "../connection/literals.ts";
import { typeCode } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { appendRows } from "../log/append-rows.ts";

/** The events that one fact creates, and when it is recorded. */
export interface Making {
	readonly at: number;
	readonly events: readonly NewEvent[];
}

/**
 * Appends the events of facts, in order, in the current transaction, which holds the project's log.
 *
 * @returns for each fact its events as the log has them
 */
export async function appendOfFacts(c: Session, projectNo: number, facts: readonly Making[]): Promise<LogEvent[][]> {
	const rows = facts.flatMap(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => {
			return { projectNo, id, type: typeCode(c.names, type), createdAt, publishedAt: at, body };
		}),
	);
	let seq = (await appendRows(c, rows, true)).ends.get(projectNo);
	if (seq === undefined) throw new Error("The events of a fact could not be appended: one has an id that is taken.");
	return facts.map(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => ({ seq: ++seq!, id, type, createdAt, publishedAt: at, body })),
	);
}

/** Converts one of the platform's ids for the database, and back. */
export const storedId = (id: string): string => withoutNul(id).toWellFormed();

/** One parameter for a column of byte strings: `$1::bytea[]`. */
export function bytesArray(values: readonly Uint8Array[]): string {
	return textArray(values.map((value) => `\\x${Buffer.from(value).toString("hex")}`));
}
