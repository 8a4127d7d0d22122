import type { LogEvent, Params } from "../../../src/storage/port.ts";
import type { MemoryNode } from "./node.ts";
import { merged } from "./ordered.ts";
import type { EventRow } from "./rows.ts";
import { eventKey } from "./tables.ts";

const END = Number.POSITIVE_INFINITY;

export function readLog(
	{ database, tables }: MemoryNode,
	{ projectId, after, window: { maxEvents, maxBytes }, types }: Params<"readLog">,
): LogEvent[] {
	const project = database.project(projectId);
	if (project === undefined || maxEvents <= 0) return [];
	const { seq: bySeq, type: byType } = tables.events.by;
	// Test events are numbered below 0 and aren't part of the log.
	const from = { projectNo: project.no, seq: Math.max(after, 0) + 1 };
	const to = { projectNo: project.no, seq: END };
	const walk =
		types === undefined
			? bySeq.ascending(from, to)
			: merged(
					[...new Set(types)].map((type) => byType.ascending({ ...from, type }, { ...to, type })),
					(a, b) => a.seq - b.seq,
				);
	const events: LogEvent[] = [];
	let room = maxBytes;
	for (const row of walk) {
		room -= row.body.length;
		if (room < 0 && events.length > 0) break;
		events.push(toEvent(row));
		if (events.length === maxEvents) break;
	}
	return events;
}

export function readEvents({ database, tables }: MemoryNode, { projectId, seqs }: Params<"readEvents">): LogEvent[] {
	const project = database.project(projectId);
	if (project === undefined) return [];
	return [...new Set(seqs)].flatMap((seq) => {
		const row = tables.events.by.seq.get({ projectNo: project.no, seq });
		return row === undefined ? [] : [toEvent(row)];
	});
}

export function findEvent(
	{ database, tables }: MemoryNode,
	{ projectId, eventId }: Params<"findEvent">,
): LogEvent | null {
	const project = database.project(projectId);
	const row = project === undefined ? undefined : tables.events.by.id.get(eventKey(project.no, eventId));
	return row === undefined ? null : toEvent(row);
}

/** With its own copy of the bytes, so that a reader can't change anything here. */
const toEvent = ({ seq, id, type, createdAt, publishedAt, body }: EventRow): LogEvent => {
	return { seq, id, type, createdAt, publishedAt, body: Buffer.from(body) };
};
