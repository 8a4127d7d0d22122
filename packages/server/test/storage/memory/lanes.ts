import type { LaneState, LoadedLanes, Params, Retry } from "../../../src/storage/port.ts";
import { BEYOND_ALL_IDS, closingLane, QUEUE_CODE } from "../../../src/storage/shared/deliveries.ts";
import { readHandedOver } from "./handover.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import { liveWebhooks } from "./registry.ts";
import { hasRetries, walkQueue } from "./retries.ts";
import type { WebhookRow } from "./rows.ts";

export function loadLanes(node: MemoryNode, { projectId, webhookId }: Params<"loadLanes">): LoadedLanes {
	const { database, tables } = node;
	const project = database.project(projectId);
	if (project === undefined) return { lanes: [], seen: { lastSeq: 0, revision: 0 }, handedOver: [] };
	const { lastSeq, revision } = tables.logs.get(project.no)!;
	node.ends.set(projectId, lastSeq);
	const one = webhookId === undefined ? undefined : database.webhook(project.no, webhookId);
	const all = webhookId === undefined ? [...liveWebhooks(node, project.no), ...closing(node, project.no)] : [];
	const lanes = (one === undefined ? all : [one]).flatMap((webhook) => toLane(node, webhook, lastSeq) ?? []);
	return { lanes, seen: { lastSeq, revision }, handedOver: readHandedOver(node, project.no) };
}

function closing({ tables }: MemoryNode, projectNo: number): WebhookRow[] {
	return [...tables.webhooks.by.closing.ascending({ projectNo, id: "" }, { projectNo, id: BEYOND_ALL_IDS })];
}

/** Null for a deleted webhook with nothing pending. */
function toLane({ tables }: MemoryNode, webhook: WebhookRow, lastSeq: number): LaneState | null {
	const { id, url, status, maxInFlight, sealedDigest, sealedStandardDigest: standard } = webhook;
	if (webhook.closing) return closingLane(id, url, lastSeq);
	const lane = tables.lanes.get(webhook.no);
	if (lane === undefined) return null;
	return {
		...{ webhookId: id, url, status, maxInFlight },
		sealedDigest: Buffer.from(sealedDigest),
		sealedStandardDigest: webhook.standardWebhooks && standard ? Buffer.from(standard) : null,
		subscriptions: new Map(lane.subscriptions),
		position: lane.position,
		open: [...lane.open],
		skipThrough: lane.skipThrough,
	};
}

export function endDeletion(node: MemoryNode, { projectId, webhookId }: Params<"endDeletion">): void {
	const project = node.database.project(projectId);
	const webhook = project && node.database.webhook(project.no, webhookId);
	if (webhook?.closing && !hasRetries(node, webhook.no)) node.tables.webhooks.put({ ...webhook, closing: false });
}

export function readRetries(
	node: MemoryNode,
	{ projectId, webhookId, queue, limit, after }: Params<"readRetries">,
): Retry[] {
	const project = node.database.project(projectId);
	const webhook = project && node.database.webhook(project.no, webhookId);
	if (webhook === undefined) return [];
	const { offset } = node;
	const behind = after && { dueAt: offset.toDatabase(after.dueAt), seq: after.seq + 1 };
	return take(walkQueue(node, webhook.no, QUEUE_CODE[queue], behind), limit).map(({ seq, replay, attempt, dueAt }) => {
		return { webhookId, seq, queue, replay, attempt, dueAt: offset.toNode(dueAt) };
	});
}
