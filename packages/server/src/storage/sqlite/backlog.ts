import type { Backlog } from "../port.ts";
import type { Connection } from "./connection.ts";
import { decodeAhead } from "./lanes.ts";

/**
 * What waits for its first attempt in a lane: for each subscribed type the events behind the cursor (and behind the
 * subscription's start), counted as the difference of two numbers; less those beyond the cursor that are settled. Two
 * index probes a type, whatever waits. Null when there is no such lane.
 */
export function readBacklog(c: Connection, projectNo: number, webhookNo: number): Backlog | null {
	const lane = c.sql("SELECT cursor, ahead FROM lanes WHERE webhook_no = ?").get(webhookNo);
	if (lane === undefined) return null;
	const cursor = lane.cursor as number;
	const ahead = decodeAhead(lane.ahead);
	const subscriptions = c
		.sql("SELECT type, from_seq FROM subscriptions WHERE webhook_no = ?")
		.all(webhookNo)
		.map((row) => ({ type: row.type as number, after: Math.max(cursor, row.from_seq as number) }));

	let events = 0;
	let oldest = Number.POSITIVE_INFINITY;
	for (const { type, after } of subscriptions) {
		const first = c
			.sql("SELECT type_seq FROM events WHERE project_no = ? AND type = ? AND seq > ? ORDER BY seq LIMIT 1")
			.get(projectNo, type, after);
		if (first === undefined) continue;
		const last = c
			.sql("SELECT type_seq FROM events WHERE project_no = ? AND type = ? ORDER BY seq DESC LIMIT 1")
			.get(projectNo, type)!;
		events += (last.type_seq as number) - (first.type_seq as number) + 1;
		oldest = Math.min(oldest, firstOpen(c, projectNo, type, after, ahead));
	}
	const settled = ahead.filter((seq) => {
		const event = c.sql("SELECT type FROM events WHERE project_no = ? AND seq = ?").get(projectNo, seq);
		return subscriptions.some(({ type, after }) => type === event?.type && seq > after);
	});
	const oldestAt = oldest === Number.POSITIVE_INFINITY ? null : publishedAt(c, projectNo, oldest);
	return { events: events - settled.length, oldestAt };
}

/** The `seq` of the first event of this type that is not settled, or Infinity. */
function firstOpen(c: Connection, projectNo: number, type: number, after: number, ahead: readonly number[]): number {
	const rows = c
		.sql("SELECT seq FROM events WHERE project_no = ? AND type = ? AND seq > ? ORDER BY seq")
		.iterate(projectNo, type, after);
	// `ahead` is short, so this stops soon.
	for (const { seq } of rows) if (!ahead.includes(seq as number)) return seq as number;
	return Number.POSITIVE_INFINITY;
}

function publishedAt(c: Connection, projectNo: number, seq: number): number {
	return c.sql("SELECT published_at FROM events WHERE project_no = ? AND seq = ?").get(projectNo, seq)!
		.published_at as number;
}

export function readBacklogs(c: Connection, projectId: string, webhookIds: readonly string[]): Map<string, Backlog> {
	const found = new Map<string, Backlog>();
	const project = c.names.project(projectId);
	if (project === null) return found;
	for (const id of webhookIds) {
		const webhook = c.names.webhook(project, id);
		const backlog = webhook === null ? null : readBacklog(c, project, webhook);
		if (backlog !== null) found.set(id, backlog);
	}
	return found;
}
