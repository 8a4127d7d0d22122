import { sameContent } from "@posthorn/protocol";
import type { AppendedEvent, AppendRequest, AppendResult, LogEvent, NewEvent } from "../../port.ts";
import type { FactEvents } from "../../verbs/verb.ts";
import type { Connection } from "../connection/connection.ts";

/** The end of a project's log while requests are appended to it. */
interface Tail {
	readonly no: number;
	lastSeq: number;
	/** The last number of each type that was looked up. */
	readonly typeSeqs: Map<number, number>;
	/** Whether appending has to set the alarm: no node holds the lease, and the project isn't due yet. */
	readonly silent: boolean;
	grew: boolean;
}

/** Appends requests in order, each atomically. */
export function appendEvents(c: Connection, requests: readonly AppendRequest[]): AppendResult[] {
	const tails = new Map<string, Tail | null>();
	const results = requests.map(({ projectId, publishedAt, events }): AppendResult => {
		let tail = tails.get(projectId);
		if (tail === undefined) {
			tail = readTail(c, projectId);
			tails.set(projectId, tail);
		}
		return tail === null ? { kind: "no_project" } : appendRequest(c, tail, events, publishedAt);
	});
	for (const tail of tails.values()) {
		if (tail?.grew !== true) continue;
		const alarm = tail.silent ? ", wake_at = 0" : "";
		c.run(`UPDATE projects SET last_seq = ?${alarm} WHERE no = ?`, tail.lastSeq, tail.no);
	}
	return results;
}

interface ProjectRow {
	readonly no: number;
	readonly last_seq: number;
	readonly wake_at: number | null;
	readonly lease_until: number | null;
}

function readTail(c: Connection, projectId: string): Tail | null {
	const row = c.row<ProjectRow>("SELECT no, last_seq, wake_at, lease_until FROM projects WHERE id = ?", projectId);
	if (row === undefined) return null;
	return {
		no: row.no,
		lastSeq: row.last_seq,
		typeSeqs: new Map(),
		silent: row.lease_until === null && row.wake_at !== 0,
		grew: false,
	};
}

/** Only an existing id can conflict; it inserts no row. */
const INSERT = `
	INSERT INTO events (project_no, seq, id, type, type_seq, created_at, published_at, body)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_no, id) DO NOTHING`;
const FIND = "SELECT seq, created_at, body FROM events WHERE project_no = ? AND id = ?";
type EventRow = { readonly seq: number; readonly created_at: number; readonly body: Uint8Array };

function appendRequest(c: Connection, tail: Tail, given: readonly NewEvent[], publishedAt: number): AppendResult {
	const before = tail.lastSeq;
	const events: AppendedEvent[] = [];
	const conflicts: number[] = [];
	for (const [index, { id, type: typeName, createdAt, createdAtGiven, body }] of given.entries()) {
		const type = c.names.internType(typeName);
		const seq = tail.lastSeq + 1;
		const typeSeq = lastTypeSeq(c, tail, type) + 1;
		if (c.run(INSERT, tail.no, seq, id, type, typeSeq, createdAt, publishedAt, body) === 1) {
			tail.lastSeq = seq;
			tail.typeSeqs.set(type, typeSeq);
			events.push({ seq, createdAt, repeated: false });
			continue;
		}
		const there = c.row<EventRow>(FIND, tail.no, id)!;
		if (sameContent(id, typeName, there.body, body, createdAtGiven))
			events.push({ seq: there.seq, createdAt: there.created_at, repeated: true });
		else conflicts.push(index);
	}
	if (conflicts.length === 0) {
		tail.grew ||= tail.lastSeq > before;
		return { kind: "appended", events };
	}
	c.run("DELETE FROM events WHERE project_no = ? AND seq > ?", tail.no, before);
	tail.lastSeq = before;
	tail.typeSeqs.clear();
	return { kind: "conflict", indexes: conflicts };
}

function lastTypeSeq(c: Connection, tail: Tail, type: number): number {
	const known = tail.typeSeqs.get(type);
	if (known !== undefined) return known;
	const last = c.row<{ type_seq: number }>(LAST_OF_TYPE, tail.no, type)?.type_seq ?? 0;
	tail.typeSeqs.set(type, last);
	return last;
}

const LAST_OF_TYPE =
	"SELECT type_seq FROM events WHERE project_no = ? AND type = ? AND seq > 0 ORDER BY seq DESC LIMIT 1";

/** Appends the events of facts, in the current transaction. */
export function appendFacts(c: Connection, projectId: string, facts: readonly FactEvents[]): LogEvent[][] {
	const results = appendEvents(
		c,
		facts.map(({ at, events }) => ({ projectId, publishedAt: at, events })),
	);
	return facts.map(({ at, events }, nth) => {
		const result = results[nth]!;
		if (result.kind !== "appended") throw new Error(`The events of a fact could not be appended: ${result.kind}.`);
		return events.map(({ id, type, body }, i) => {
			const { seq, createdAt } = result.events[i]!;
			return { seq, id, type, createdAt, publishedAt: at, body };
		});
	});
}
