import type { LaneProgress, NewAttempt, Params, Settlement, Verdict } from "../../../src/storage/port.ts";
import { QUEUE_CODE, STATUS_CODE, toStoredId } from "../../../src/storage/shared/deliveries.ts";
import type { MemoryNode } from "./node.ts";
import type { AttemptRow, LaneRow, ProjectRow, WebhookRow } from "./rows.ts";
import { countAttempt } from "./stats-counts.ts";
import { deliveryKey } from "./tables.ts";

/** Settles each project separately: a stale settlement doesn't affect the others. */
export function settle(node: MemoryNode, { settlements }: Params<"settle">): Verdict[] {
	return settlements.map((settlement) => settleProject(node, settlement));
}

function settleProject(node: MemoryNode, settlement: Settlement): Verdict {
	const { database, tables } = node;
	const project = database.project(settlement.projectId);
	if (project === undefined) return "stale";
	if (database.locks.has(project.no)) return "locked";
	const { until, generation } = tables.leases.get(project.no)!;
	if (until === null || generation !== node.storedGeneration(settlement.generation)) return "stale";
	const { lastSeq } = tables.logs.get(project.no)!;
	if (settlement.lanes.some(({ position }) => position > lastSeq)) return "stale";
	return settleAttempts(node, project, settlement, true);
}

/**
 * Refused if one of the attempts is already logged. If all are, under their own ids, this repeats a call whose result
 * was lost: it counts as settled, and nothing is done.
 *
 * @param mayWrite whether the caller may do more than detect a repetition
 */
export function settleAttempts(
	node: MemoryNode,
	project: ProjectRow,
	given: Settlement,
	mayWrite: boolean,
): "settled" | "stale" {
	const { attempts } = node.tables;
	const settlement = withoutSwept(node, project, given);
	const rows = settlement.attempts.map((attempt) => toRow(node, project, attempt));
	const logged = rows.map((row) => attempts.by.delivery.get(row));
	if (rows.length > 0 && logged.every((row, i) => row?.id === rows[i]!.id)) return "settled";
	if (!mayWrite || logged.some((row) => row !== undefined) || repeatsItself(rows)) return "stale";
	for (const row of rows) {
		attempts.put(row);
		if (row.seq > 0) countAttempt(node, row);
	}
	moveDeliveries(node, project, settlement, rows);
	return "settled";
}

/** Leaves out what has lost its event: retention may delete the events of a deleted webhook's attempts in flight. */
function withoutSwept({ database, tables }: MemoryNode, project: ProjectRow, settlement: Settlement): Settlement {
	const isKept = ({ webhookId, seq }: { readonly webhookId: string; readonly seq: number }): boolean => {
		const webhook = database.webhook(project.no, webhookId);
		if (webhook !== undefined && tables.lanes.get(webhook.no) !== undefined) return true;
		return webhook !== undefined && tables.events.by.seq.get({ projectNo: project.no, seq }) !== undefined;
	};
	return {
		...settlement,
		attempts: settlement.attempts.filter(isKept),
		schedule: settlement.schedule.filter(isKept),
	};
}

function toRow(node: MemoryNode, project: ProjectRow, entry: NewAttempt): AttemptRow {
	const { seq, replay, attempt, sent } = entry;
	return {
		no: node.database.nextNo(),
		id: toStoredId(entry.id),
		projectNo: project.no,
		webhookNo: webhookOf(node, project, entry.webhookId).no,
		seq,
		replay,
		attempt,
		status: STATUS_CODE[entry.status],
		dismissedAt: null,
		entry: sent === null ? { ...entry } : { ...entry, sent: { ...sent } },
	};
}

function webhookOf({ database }: MemoryNode, project: ProjectRow, webhookId: string): WebhookRow {
	const webhook = database.webhook(project.no, webhookId);
	if (webhook === undefined)
		throw new Error(`Webhook ${webhookId} of project ${project.id} is being settled, but doesn't exist.`);
	return webhook;
}

/** Whether a settlement holds the same attempt of a delivery twice. */
function repeatsItself(rows: readonly AttemptRow[]): boolean {
	if (rows.length < 2) return false;
	const keys = rows.map(({ webhookNo, seq, replay, attempt }) => `${webhookNo}/${seq}/${replay}/${attempt}`);
	return new Set(keys).size < keys.length;
}

type Draft = { -readonly [K in keyof LaneRow]: LaneRow[K] };

/** Updates queues, lanes and counters. A deleted webhook has no lane: its pending deliveries are to be closed. */
function moveDeliveries(
	node: MemoryNode,
	project: ProjectRow,
	{ schedule, unschedule, lanes }: Settlement,
	rows: readonly AttemptRow[],
): void {
	const { tables } = node;
	const drafts = new Map<number, Draft | null>();
	const draftOf = (webhookNo: number): Draft | null => {
		const known = drafts.get(webhookNo);
		if (known !== undefined) return known;
		const lane = tables.lanes.get(webhookNo);
		const draft = lane === undefined ? null : { ...lane };
		drafts.set(webhookNo, draft);
		return draft;
	};
	for (const { webhookNo, seq, status } of rows) {
		const lane = status === STATUS_CODE.failed && seq > 0 ? draftOf(webhookNo) : null;
		if (lane !== null) lane.deadLetters += 1;
	}
	for (const { webhookId, seq } of unschedule) {
		const { no } = webhookOf(node, project, webhookId);
		const lane = draftOf(no);
		if (tables.retries.delete(deliveryKey(no, seq)) && lane !== null) lane.retriesWaiting -= 1;
	}
	for (const { webhookId, seq, queue, replay, attempt, dueAt: at } of schedule) {
		const webhook = webhookOf(node, project, webhookId);
		const { no } = webhook;
		const lane = draftOf(no);
		const isWaiting = tables.retries.get(deliveryKey(no, seq)) !== undefined;
		if (lane !== null && !isWaiting) lane.retriesWaiting += 1;
		if (lane === null && !webhook.closing) tables.webhooks.put({ ...webhook, closing: true });
		const dueAt = node.offset.toDatabase(at);
		tables.retries.put({
			...{ webhookNo: no, projectNo: project.no, seq, queue: QUEUE_CODE[queue], dueAt, replay, attempt },
		});
	}
	for (const progress of lanes) {
		const lane = draftOf(webhookOf(node, project, progress.webhookId).no);
		if (lane !== null) moveLane(lane, progress);
	}
	for (const lane of drafts.values()) if (lane !== null) tables.lanes.put(lane);
}

/** Settled events stay settled: the owner may have moved the lane forward, or this may be a repetition. */
function moveLane(lane: Draft, { position, open }: LaneProgress): void {
	const stillOpen = lane.open.filter((seq) => seq > position || open.includes(seq));
	const added = open.filter((seq) => seq > lane.position);
	lane.open = [...stillOpen, ...added].sort((a, b) => a - b);
	lane.position = Math.max(lane.position, position);
}
