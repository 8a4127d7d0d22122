import type { AttemptSummary, LatestAttempt, Params } from "../../../src/storage/port.ts";
import { toSummary } from "./attempt-rows.ts";
import { newestAttempt } from "./delivery.ts";
import type { MemoryNode } from "./node.ts";
import { deliveryKey } from "./tables.ts";

function newestOf({ eventId: _, eventType: __, ...newest }: AttemptSummary): LatestAttempt["newest"] {
	return newest;
}

export function readLatest(node: MemoryNode, { projectId, deliveries }: Params<"readLatest">): LatestAttempt[] {
	const project = node.database.project(projectId);
	return deliveries.map(({ webhookId, seq }) => {
		const webhook = project === undefined ? undefined : node.database.webhook(project.no, webhookId);
		if (project === undefined || webhook === undefined) return { newest: null, next: null };
		const newest = newestAttempt(node, webhook.no, { projectNo: project.no, seq });
		const next = node.tables.retries.get(deliveryKey(webhook.no, seq));
		return {
			newest: newest === undefined ? null : newestOf(toSummary(node, newest)),
			next:
				next === undefined
					? null
					: { attempt: next.attempt, replay: next.replay, dueAt: node.offset.toNode(next.dueAt) },
		};
	});
}
