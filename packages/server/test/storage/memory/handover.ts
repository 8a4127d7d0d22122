import type { HandedOver, Params } from "../../../src/storage/port.ts";
import { QUEUE_CODE, queueOf } from "../../../src/storage/shared/deliveries.ts";
import { wakeForChange } from "./alarm.ts";
import type { MemoryNode } from "./node.ts";
import type { LeaseRow } from "./rows.ts";
import { settleAttempts } from "./settle.ts";
import { deliveryKey } from "./tables.ts";

/** Records the attempts in flight with a lease that is being released. */
export function handOver(node: MemoryNode, { projectNo, generation }: LeaseRow, attempts: readonly HandedOver[]): void {
	const time = node.time();
	for (const { webhookId, seq, replay, queue, until } of attempts) {
		const webhookNo = node.database.webhook(projectNo, webhookId)?.no;
		if (webhookNo === undefined || node.tables.handedOver.get(deliveryKey(webhookNo, seq)) !== undefined) continue;
		node.tables.handedOver.put({
			...{ projectNo, webhookNo, seq, replay, generation },
			queue: queue === null ? null : QUEUE_CODE[queue],
			until: time.database + Math.ceil(until - time.node),
		});
	}
}

export function readHandedOver(node: MemoryNode, projectNo: number): HandedOver[] {
	const { tables } = node;
	const time = node.time();
	const begin = Number.NEGATIVE_INFINITY;
	const walk = tables.handedOver.by.project.ascending(
		{ projectNo, webhookNo: begin, seq: begin },
		{ projectNo: projectNo + 1, webhookNo: begin, seq: begin },
	);
	return [...walk].map(({ webhookNo, seq, replay, queue, until }) => ({
		webhookId: tables.webhooks.get(webhookNo)!.id,
		seq,
		replay,
		queue: queue === null ? null : queueOf(queue),
		until: time.node + until - time.database,
	}));
}

/** A repeated call whose first result was lost is settled: its attempt is logged under its id. */
export function settleHandedOver(
	node: MemoryNode,
	{ handedOver: { webhookId, seq, replay }, settlement }: Params<"settleHandedOver">,
): "settled" | "stale" {
	const { database, tables } = node;
	const project = database.project(settlement.projectId);
	const webhook = project && database.webhook(project.no, webhookId);
	if (project === undefined || webhook === undefined) return "stale";
	const { lastSeq } = tables.logs.get(project.no)!;
	if (settlement.lanes.some(({ position }) => position > lastSeq)) return "stale";
	const key = deliveryKey(webhook.no, seq);
	const row = tables.handedOver.get(key);
	const generation = node.storedGeneration(settlement.generation);
	const isHere = row?.replay === replay && row.generation === generation;
	const verdict = settleAttempts(node, project, settlement, isHere);
	if (isHere) tables.handedOver.delete(key);
	if (isHere && verdict === "settled") wakeForChange(node, project);
	return verdict;
}

/** Another session that holds the project may be settling one, so the next call drops it. */
export function forgetHandedOver({ database, tables }: MemoryNode, { projectId }: Params<"forgetHandedOver">): void {
	const project = database.project(projectId);
	if (project === undefined || database.locks.has(project.no)) return;
	const now = database.clock.now();
	for (const { projectNo, webhookNo, seq, until } of [...tables.handedOver.values()])
		if (projectNo === project.no && until <= now) tables.handedOver.delete(deliveryKey(webhookNo, seq));
}
