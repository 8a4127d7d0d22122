import type {
	CountedPage,
	MatchingReplays,
	Params,
	QueueName,
	ReplayedPage,
	ReplayResult,
	Result,
} from "../../../src/storage/port.ts";
import {
	countedPage,
	type IdRange,
	idRange,
	QUEUE_CODE,
	STATUS_CODE,
	toAttemptId,
	toStoredId,
} from "../../../src/storage/shared/deliveries.ts";
import { wakeForChange } from "./alarm.ts";
import { walkAttempts } from "./attempt-walk.ts";
import { endsDelivery, progressOf } from "./delivery.ts";
import type { MemoryNode } from "./node.ts";
import { findChangeable, isAllowed } from "./registry.ts";
import type { AttemptRow, LaneRow } from "./rows.ts";
import { eventKey } from "./tables.ts";

export function appendTestEvent(
	node: MemoryNode,
	{ projectId, webhookId, event, by }: Params<"appendTestEvent">,
): Result<"appendTestEvent"> {
	const { tables } = node;
	const found = findChangeable(node, projectId, webhookId, by);
	if (found === null) return "no_webhook";
	const { project, lane } = found;
	if (!lane.subscriptions.has(event.type)) return "not_subscribed";
	const log = tables.logs.get(project.no)!;
	const seq = log.lastTestSeq - 1;
	const now = node.clock.now();
	tables.logs.put({ ...log, lastTestSeq: seq });
	const { id, type, createdAt, body } = event;
	tables.events.put({
		...{ no: node.database.nextNo(), projectNo: project.no, seq, id, type, typeSeq: 0 },
		...{ createdAt, publishedAt: now, body },
	});
	beginSeries(node, lane, "requested", { seq, replay: 0, wasDead: false }, now);
	wakeForChange(node, project);
	return "queued";
}

export function replayDelivery(
	node: MemoryNode,
	{ projectId, webhookId, eventId, at, by }: Params<"replayDelivery">,
): ReplayResult {
	const found = findChangeable(node, projectId, webhookId, by);
	const event = found && node.tables.events.by.id.get(eventKey(found.project.no, eventId));
	if (!found || !event) return { kind: "no_delivery" };
	const state = progressOf(node, found.webhook.no, event);
	if (state === null) return { kind: "no_delivery" };
	if (state.state === "attempting") return { kind: "attempting" };
	const replay = state.replay + 1;
	const wasDead = event.seq > 0 && state.state === "dead_lettered" && !state.dismissed;
	beginSeries(node, found.lane, "requested", { seq: event.seq, replay, wasDead }, at);
	wakeForChange(node, found.project);
	return { kind: "queued", replay };
}

/** Scanned attempts that are the newest of an ended delivery of an existing webhook. */
export function replayMatching(node: MemoryNode, p: Params<"replayMatching">): ReplayedPage {
	const project = node.database.project(p.projectId);
	if (project !== undefined && !isAllowed(node, project, p.by)) return { count: 0, next: null };
	const { rows, next } = walkMatching(node, p);
	return { count: replayAll(node, p.projectId, rows, p.at), next };
}

export function countMatching(node: MemoryNode, p: MatchingReplays): CountedPage {
	const { rows, next } = walkMatching(node, p);
	const chosen = chosenOf(node, rows).map(({ entry: { webhookId, eventType, startedAt } }) => ({
		...{ webhookId, eventType, startedAt },
	}));
	return countedPage(chosen, next);
}

function walkMatching(
	node: MemoryNode,
	{ projectId, selection, at, limit, after }: MatchingReplays,
): { readonly rows: readonly AttemptRow[]; readonly next: string | null } {
	const project = node.database.project(projectId);
	if (project === undefined) return { rows: [], next: null };
	const times = { since: selection.since, until: Math.min(selection.until ?? at, at) };
	const range = behind(idRange(times), after);
	const { rows, end } = walkAttempts(node, project.no, selection, range, "ascending", limit);
	const last = rows.length < limit ? end : rows.at(-1)!.id;
	return { rows, next: last === null ? null : toAttemptId(last) };
}

function behind({ from, to }: IdRange, after: string | undefined): IdRange {
	// Sorts after this id and before every other.
	const next = after === undefined ? "" : `${toStoredId(after)} `;
	return { from: next > from ? next : from, to };
}

const chosenOf = (node: MemoryNode, rows: readonly AttemptRow[]): AttemptRow[] =>
	rows.filter((row) => row.seq > 0 && node.tables.lanes.get(row.webhookNo) !== undefined && endsDelivery(node, row));

/** Begins a new series for each delivery that ended with one of these attempts. Returns how many. */
function replayAll(node: MemoryNode, projectId: string, rows: readonly AttemptRow[], at: number): number {
	const chosen = chosenOf(node, rows);
	for (const { webhookNo, seq, replay, status } of chosen) {
		const lane = node.tables.lanes.get(webhookNo)!;
		beginSeries(node, lane, "replay", { seq, replay: replay + 1, wasDead: status === STATUS_CODE.failed }, at);
	}
	if (chosen.length > 0) wakeForChange(node, node.database.project(projectId)!);
	return chosen.length;
}

function beginSeries(
	{ tables, offset }: MemoryNode,
	lane: LaneRow,
	queue: QueueName,
	{ seq, replay, wasDead }: { readonly seq: number; readonly replay: number; readonly wasDead: boolean },
	at: number,
): void {
	const { webhookNo, projectNo, retriesWaiting, deadLetters } = lane;
	const dueAt = offset.toDatabase(at);
	tables.retries.put({ webhookNo, projectNo, seq, queue: QUEUE_CODE[queue], dueAt, replay, attempt: 1 });
	tables.lanes.put({
		...lane,
		retriesWaiting: retriesWaiting + 1,
		deadLetters: Math.max(0, deadLetters - (wasDead ? 1 : 0)),
	});
}
