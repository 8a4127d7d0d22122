import type { Backlog, Params } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { decodeOpen } from "./settle.ts";

/**
 * A lane's backlog: its open events, and for each subscribed type the events after its position (and after the
 * subscription's start), counted as the difference of two numbers. Two index probes per type, for a backlog of any
 * size. Null if the lane doesn't exist.
 */
export function readBacklog(c: Connection, projectNo: number, webhookNo: number): Backlog | null {
	const lane = c.sql("SELECT position, open FROM lanes WHERE webhook_no = ?").get(webhookNo);
	if (lane === undefined) return null;
	const subscriptions = new Map(
		c
			.sql("SELECT type, from_seq FROM subscriptions WHERE webhook_no = ?")
			.all(webhookNo)
			.map((row) => [row.type as number, row.from_seq as number]),
	);
	let events = 0;
	let oldest = Number.POSITIVE_INFINITY;
	for (const seq of decodeOpen(lane.open)) {
		const event = c.sql("SELECT type FROM events WHERE project_no = ? AND seq = ?").get(projectNo, seq);
		const from = event && subscriptions.get(event.type as number);
		if (from === undefined || seq <= from) continue;
		events += 1;
		oldest = Math.min(oldest, seq);
	}
	for (const [type, from] of subscriptions) {
		const first = c
			.sql("SELECT seq, type_seq FROM events WHERE project_no = ? AND type = ? AND seq > ? ORDER BY seq LIMIT 1")
			.get(projectNo, type, Math.max(lane.position as number, from));
		if (first === undefined) continue;
		const last = c
			.sql("SELECT type_seq FROM events WHERE project_no = ? AND type = ? ORDER BY seq DESC LIMIT 1")
			.get(projectNo, type)!;
		events += (last.type_seq as number) - (first.type_seq as number) + 1;
		oldest = Math.min(oldest, first.seq as number);
	}
	return { events, oldestAt: events === 0 ? null : publishedAt(c, projectNo, oldest) };
}

function publishedAt(c: Connection, projectNo: number, seq: number): number {
	return c.sql("SELECT published_at FROM events WHERE project_no = ? AND seq = ?").get(projectNo, seq)!
		.published_at as number;
}

export function readBacklogs(c: Connection, { projectId, webhookIds }: Params<"readBacklogs">): Map<string, Backlog> {
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
