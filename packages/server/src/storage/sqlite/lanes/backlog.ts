import type { Backlog, Gauges, Params } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { decodeOpen } from "./lanes.ts";

/**
 * A lane's backlog: its open events, and for each subscribed type the events after its position (and after the
 * subscription's start), counted as the difference of two numbers. Two index probes per type, for a backlog of any
 * size. Null if the lane doesn't exist.
 */
function readBacklog(c: Connection, projectNo: number, webhookNo: number): Backlog | null {
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

/** Gauges of some webhooks, so that other reads can run between calls. */
interface GaugeSlice {
	readonly gauges: Gauges;
	/** The webhook number to continue after, or null at the end. */
	readonly next: number | null;
}

const WEBHOOKS_A_SLICE = 200;

export function readGauges(c: Connection, after: number): GaugeSlice {
	const lanes = c
		.sql(`
			SELECT l.webhook_no, w.project_no, l.retries_waiting, l.dead_letters
			FROM lanes l JOIN webhooks w ON w.no = l.webhook_no
			WHERE l.webhook_no > ? ORDER BY l.webhook_no LIMIT ${WEBHOOKS_A_SLICE}`)
		.all(after);
	let backlog = 0;
	let oldestAt: number | null = null;
	let retriesWaiting = 0;
	let deadLetters = 0;
	for (const lane of lanes) {
		retriesWaiting += lane.retries_waiting as number;
		deadLetters += lane.dead_letters as number;
		const waiting = readBacklog(c, lane.project_no as number, lane.webhook_no as number);
		backlog += waiting?.events ?? 0;
		oldestAt = earlier(oldestAt, waiting?.oldestAt ?? null);
	}
	// The first slice counts the projects.
	const projects = after === 0 ? (c.sql("SELECT count(*) AS count FROM projects").get()!.count as number) : 0;
	return {
		gauges: { projects, webhooks: lanes.length, backlog, oldestAt, retriesWaiting, deadLetters },
		next: lanes.length < WEBHOOKS_A_SLICE ? null : (lanes.at(-1)!.webhook_no as number),
	};
}

export function addGauges(a: Gauges, b: Gauges): Gauges {
	return {
		projects: a.projects + b.projects,
		webhooks: a.webhooks + b.webhooks,
		backlog: a.backlog + b.backlog,
		oldestAt: earlier(a.oldestAt, b.oldestAt),
		retriesWaiting: a.retriesWaiting + b.retriesWaiting,
		deadLetters: a.deadLetters + b.deadLetters,
	};
}

function earlier(a: number | null, b: number | null): number | null {
	return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
