import { sameContent } from "@posthorn/protocol";
import type { AppendedEvent, AppendRequest, AppendResult, NewEvent, Params } from "../../../src/storage/port.ts";
import { ring } from "./alarm.ts";
import type { MemoryNode } from "./node.ts";
import type { EventRow, ProjectRow } from "./rows.ts";
import { eventKey } from "./tables.ts";

/** Appends requests in order, each atomically. */
export function appendEvents(node: MemoryNode, { requests }: Params<"appendEvents">): AppendResult[] {
	const { database, tables } = node;
	/** Where each log ended before this call. */
	const ends = new Map<number, number>();
	return requests.map((request): AppendResult => {
		const project = database.project(request.projectId);
		if (project === undefined) return { kind: "no_project" };
		if (database.locks.has(project.no)) return lockedResult(request);
		const end = ends.get(project.no) ?? tables.logs.get(project.no)!.lastSeq;
		ends.set(project.no, end);
		return appendRequest(node, project, request, end);
	});
}

export const lockedResult = ({ maybeWritten }: AppendRequest): AppendResult =>
	maybeWritten ? { kind: "locked", maybeWritten: true } : { kind: "locked" };

function appendRequest(
	node: MemoryNode,
	project: ProjectRow,
	{ events: given, publishedAt, maybeWritten = false }: AppendRequest,
	end: number,
): AppendResult {
	const byId = node.tables.events.by.id;
	const conflicts: number[] = [];
	/** New events of this request, by id. */
	const fresh = new Map<string, NewEvent>();
	for (const [index, event] of given.entries()) {
		const there = byId.get(eventKey(project.no, event.id)) ?? fresh.get(event.id);
		if (there === undefined) fresh.set(event.id, event);
		else if (!sameContent(event.id, event.type, there.body, event.body, event.createdAtGiven)) conflicts.push(index);
	}
	if (conflicts.length > 0) return { kind: "conflict", indexes: conflicts };
	const events = given.map((event): AppendedEvent => {
		const there = byId.get(eventKey(project.no, event.id));
		if (there === undefined) {
			const { seq, createdAt } = addEvent(node, project, event, publishedAt);
			return { seq, createdAt, repeated: false };
		}
		const { seq, createdAt } = there;
		// An event that an earlier call may have written is the caller's own if it is exactly what this call would write.
		const isOwn = seq <= end && createdAt === event.createdAt && there.publishedAt === publishedAt;
		return { seq, createdAt, repeated: !(maybeWritten && isOwn) };
	});
	if (fresh.size > 0) ring(node, project);
	node.ends.set(project.id, node.tables.logs.get(project.no)!.lastSeq);
	return { kind: "appended", events };
}

/** Adds an event at the end of the log. */
export function addEvent(node: MemoryNode, project: ProjectRow, event: NewEvent, publishedAt: number): EventRow {
	const { logs, events } = node.tables;
	const log = logs.get(project.no)!;
	const seq = log.lastSeq + 1;
	const { id, type, createdAt, body } = event;
	const projectNo = project.no;
	const typeSeq = (events.by.type.last({ projectNo, type, seq: 0 }, { projectNo, type, seq })?.typeSeq ?? 0) + 1;
	const row = { no: node.database.nextNo(), projectNo, seq, id, type, typeSeq, createdAt, publishedAt, body };
	events.put(row);
	logs.put({ ...log, lastSeq: seq });
	return row;
}
