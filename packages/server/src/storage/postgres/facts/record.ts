import type { FactEvent, LogEvent, NewEvent, Recorded } from "../../port.ts";
import { textArray, withoutNul } from "../connection/literals.ts";
import type { Session } from "../connection/session.ts";
import { typeCode } from "../connection/types.ts";
import { appendRows } from "../log/append-rows.ts";

/** What is kept of every fact. */
export type Told = { digest: Buffer; at: number; events: readonly FactEvent[] };

/** What was told of a fact when it was recorded, or that other content has its id; null when it is new. */
export function earlier(row: Told | undefined, digest: Uint8Array): Recorded | null {
	if (row === undefined) return null;
	if (!row.digest.equals(digest)) return { kind: "conflict" };
	return { kind: "repeated", at: row.at, events: row.events };
}

export function recorded(at: number, appended: readonly LogEvent[]): Recorded {
	return { kind: "recorded", at, events: eventsOf(appended), appended };
}

/** The events of a fact as its row keeps them. */
export const eventsJson = (appended: readonly LogEvent[]): string => JSON.stringify(eventsOf(appended));

export function eventsOf(appended: readonly LogEvent[]): FactEvent[] {
	return appended.map(({ id, seq, type, createdAt }) => ({ id, seq, type, createdAt }));
}

/** The events that one fact makes, and when it is recorded. */
export interface Making {
	readonly at: number;
	readonly events: readonly NewEvent[];
}

/**
 * Appends what facts make, in their order, in the transaction that is under way and holds the project's log.
 *
 * @returns for each fact its events as the log holds them
 */
export async function appendOfFacts(c: Session, projectNo: number, facts: readonly Making[]): Promise<LogEvent[][]> {
	const rows = facts.flatMap(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => {
			return { projectNo, id, type: typeCode(c.names, type), createdAt, publishedAt: at, body };
		}),
	);
	let seq = (await appendRows(c, rows, true)).ends.get(projectNo);
	if (seq === undefined) throw new Error("The events of a fact could not be appended: the id of one is taken.");
	return facts.map(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => ({ seq: ++seq!, id, type, createdAt, publishedAt: at, body })),
	);
}

/** The same for one fact that makes one event. */
export async function appendOfFact(c: Session, projectNo: number, at: number, event: NewEvent): Promise<LogEvent[]> {
	const [appended] = await appendOfFacts(c, projectNo, [{ at, events: [event] }]);
	return appended!;
}

/** An id of the platform as the database holds it, and gives it back. */
export const storedId = (id: string): string => withoutNul(id).toWellFormed();

/** One parameter for a column of byte strings: `$1::bytea[]`. */
export function bytesArray(values: readonly Uint8Array[]): string {
	return textArray(values.map((value) => `\\x${Buffer.from(value).toString("hex")}`));
}
