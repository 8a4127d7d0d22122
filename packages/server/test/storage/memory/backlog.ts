import type { Backlog, Gauges, Params } from "../../../src/storage/port.ts";
import type { MemoryNode } from "./node.ts";
import type { LaneRow } from "./rows.ts";

/**
 * A lane's backlog: its open events, and for each subscribed type the events after its position (and after the
 * subscription's start), counted as the difference of two numbers.
 */
function readBacklog({ tables }: MemoryNode, lane: LaneRow): Backlog {
	const { projectNo, subscriptions, position, open } = lane;
	const { seq: bySeq, type: byType } = tables.events.by;
	let events = 0;
	let oldest = Number.POSITIVE_INFINITY;
	for (const seq of open) {
		const event = bySeq.get({ projectNo, seq });
		const from = event && subscriptions.get(event.type);
		if (from === undefined || seq <= from) continue;
		events += 1;
		oldest = Math.min(oldest, seq);
	}
	for (const [type, from] of subscriptions) {
		const begin = { projectNo, type, seq: Math.max(position, from) + 1 };
		const end = { projectNo, type, seq: Number.POSITIVE_INFINITY };
		const first = byType.first(begin, end);
		if (first === undefined) continue;
		events += byType.last(begin, end)!.typeSeq - first.typeSeq + 1;
		oldest = Math.min(oldest, first.seq);
	}
	if (events === 0) return { events, oldestSeq: null, oldestAt: null };
	return { events, oldestSeq: oldest, oldestAt: bySeq.get({ projectNo, seq: oldest })!.publishedAt };
}

export function readBacklogs(
	node: MemoryNode,
	{ projectId, webhookIds }: Params<"readBacklogs">,
): Map<string, Backlog> {
	const found = new Map<string, Backlog>();
	const project = node.database.project(projectId);
	for (const id of project ? webhookIds : []) {
		const webhook = node.database.webhook(project!.no, id);
		const lane = webhook && node.tables.lanes.get(webhook.no);
		if (lane !== undefined) found.set(id, readBacklog(node, lane));
	}
	return found;
}

export function readGauges(node: MemoryNode): Gauges {
	const { projects, lanes, webhooks } = node.tables;
	const sum = { backlog: 0, pausedBacklog: 0, retriesWaiting: 0, deadLetters: 0 };
	let oldestAt: number | null = null;
	for (const lane of lanes.values()) {
		const waiting = readBacklog(node, lane);
		sum.backlog += waiting.events;
		sum.retriesWaiting += lane.retriesWaiting;
		sum.deadLetters += lane.deadLetters;
		if (webhooks.get(lane.webhookNo)!.status === "paused") sum.pausedBacklog += waiting.events;
		else if (waiting.oldestAt !== null) oldestAt = Math.min(oldestAt ?? waiting.oldestAt, waiting.oldestAt);
	}
	return { projects: projects.size, webhooks: lanes.size, ...sum, oldestAt };
}
