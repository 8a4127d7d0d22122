import type { AttemptSummary, LatestAttempt, Params } from "../../../src/storage/port.ts";
import { STATUS_CODE } from "../../../src/storage/shared/deliveries.ts";
import type { Dismissal } from "../../../src/storage/verbs/deliveries.ts";
import { toSummary } from "./attempt-rows.ts";
import { newestAttempt } from "./delivery.ts";
import type { MemoryNode } from "./node.ts";
import { isAllowed } from "./registry.ts";
import { deliveryKey, eventKey } from "./tables.ts";

function newestOf({ eventId: _, eventType: __, ...newest }: AttemptSummary): LatestAttempt["newest"] {
	return newest;
}

export function readLatest(node: MemoryNode, { projectId, deliveries }: Params<"readLatest">): LatestAttempt[] {
	const project = node.database.project(projectId);
	return deliveries.map(({ webhookId, seq }) => {
		const webhook = project === undefined ? undefined : node.database.webhook(project.no, webhookId);
		if (project === undefined || webhook === undefined) return { newest: null, dismissed: false, next: null };
		const newest = newestAttempt(node, webhook.no, { projectNo: project.no, seq });
		const next = node.tables.retries.get(deliveryKey(webhook.no, seq));
		return {
			newest: newest === undefined ? null : newestOf(toSummary(node, newest)),
			dismissed: newest !== undefined && newest.dismissedAt !== null,
			next:
				next === undefined
					? null
					: { attempt: next.attempt, replay: next.replay, dueAt: node.offset.toNode(next.dueAt) },
		};
	});
}

export function dismissDeliveries(
	node: MemoryNode,
	{ projectId, deliveries, at, by }: Params<"dismissDeliveries">,
): Dismissal[] {
	const project = node.database.project(projectId);
	if (project !== undefined && !isAllowed(node, project, by)) return deliveries.map(() => null);
	const dismissed = new Set<string>();
	return deliveries.map(({ webhookId, eventId }) => {
		const { tables } = node;
		const webhook = project === undefined ? undefined : node.database.webhook(project.no, webhookId);
		const event = project === undefined ? undefined : tables.events.by.id.get(eventKey(project.no, eventId));
		if (project === undefined || webhook === undefined || event === undefined) return null;
		const { seq } = event;
		const newest = newestAttempt(node, webhook.no, { projectNo: project.no, seq });
		if (newest === undefined || newest.status !== STATUS_CODE.failed) return null;
		const key = deliveryKey(webhook.no, seq);
		if (tables.retries.get(key) !== undefined) return null;
		// One that is named twice is dismissed once.
		if (newest.dismissedAt !== null) return dismissed.has(key) ? "dismissed" : "already_dismissed";
		dismissed.add(key);
		tables.attempts.put({ ...newest, dismissedAt: at });
		const lane = tables.lanes.get(webhook.no);
		if (lane !== undefined && seq > 0) tables.lanes.put({ ...lane, deadLetters: Math.max(0, lane.deadLetters - 1) });
		return "dismissed";
	});
}
