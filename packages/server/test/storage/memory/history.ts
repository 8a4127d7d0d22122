import type {
	Attempt,
	AttemptFilter,
	AttemptPage,
	AttemptRows,
	AttemptSummary,
	Delivery,
	FollowedAttempt,
	Params,
} from "../../../src/storage/port.ts";
import { orderIdIn } from "../../../src/storage/shared/bodies.ts";
import {
	idRange,
	MAX_DELIVERY_ATTEMPTS,
	STATUS_CODE,
	toAttemptId,
	toStoredId,
} from "../../../src/storage/shared/deliveries.ts";
import { toAttempt, toSummary } from "./attempt-rows.ts";
import { ALL_STATUSES, type Walk, walkAttempts } from "./attempt-walk.ts";
import { attemptsOf, newestAttempt, progressOf } from "./delivery.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import type { AttemptRow } from "./rows.ts";
import { deliveryKey, eventKey } from "./tables.ts";

export function listAttempts(
	node: MemoryNode,
	{ projectId, filter, page }: Params<"listAttempts">,
): AttemptRows<Attempt> {
	const found = findPage(node, projectId, filter, page);
	const rows: Attempt[] = [];
	let room = page.maxBytes;
	for (const each of found.rows.slice(0, page.limit)) {
		const row = toAttempt(node, each);
		room -= row.requestBody.length + row.responseBody.length;
		if (room < 0 && rows.length > 0) break;
		rows.push(row);
	}
	return pageOf(rows, found);
}

export function listAttemptSummaries(
	node: MemoryNode,
	{ projectId, filter, page }: Params<"listAttemptSummaries">,
): AttemptRows<AttemptSummary> {
	const found = findPage(node, projectId, filter, page);
	return pageOf(
		found.rows.slice(0, page.limit).map((row) => toSummary(node, row)),
		found,
	);
}

export function listFollowedAttempts(
	node: MemoryNode,
	{ projectId, filter, page }: Params<"listFollowedAttempts">,
): AttemptRows<FollowedAttempt> {
	const found = findPage(node, projectId, filter, page);
	const rows = found.rows.slice(0, page.limit).map((row): FollowedAttempt => {
		const { projectNo, webhookNo, seq, dismissedAt } = row;
		const isOver = row.status === STATUS_CODE.delivered;
		const next = isOver ? undefined : node.tables.retries.get(deliveryKey(webhookNo, seq));
		return {
			...toSummary(node, row),
			...(page.orderIdBytes !== undefined && { orderId: orderIdOf(node, row, page.orderIdBytes) }),
			isFollowed: !isOver && newestAttempt(node, webhookNo, { projectNo, seq })?.id !== row.id,
			dismissed: dismissedAt !== null,
			webhookDeleted: !isOver && node.tables.lanes.get(webhookNo) === undefined,
			next: next === undefined ? null : { replay: next.replay, dueAt: node.offset.toNode(next.dueAt) },
		};
	});
	return pageOf(rows, found);
}

function orderIdOf(node: MemoryNode, { projectNo, seq }: AttemptRow, maxBytes: number): string | null {
	const { body } = node.tables.events.by.seq.get({ projectNo, seq })!;
	return seq > 0 && body.length <= maxBytes ? orderIdIn(Buffer.from(body).toString()) : null;
}

/** A page, newest first, plus one extra row. */
function findPage(
	node: MemoryNode,
	projectId: string,
	filter: AttemptFilter,
	{ before, limit }: Omit<AttemptPage, "maxBytes">,
): Walk {
	const project = node.database.project(projectId);
	if (project === undefined) return { rows: [], end: null };
	const { from, to } = idRange(filter);
	const end = before === undefined ? to : toStoredId(before);
	const range = { from, to: end < to ? end : to };
	return walkAttempts(node, project.no, filter, range, "descending", limit + 1);
}

function pageOf<Row extends { readonly id: string }>(rows: Row[], found: Walk): AttemptRows<Row> {
	if (rows.length < found.rows.length) return { rows, next: rows.at(-1)!.id };
	return { rows, next: found.end === null ? null : toAttemptId(found.end) };
}

export function countAttempts(
	node: MemoryNode,
	{ projectId, filter, max }: Params<"countAttempts">,
): { count: number; capped: boolean } {
	const project = node.database.project(projectId);
	if (project === undefined) return { count: 0, capped: false };
	const { rows, end } = walkAttempts(node, project.no, filter, idRange(filter), "descending", max + 1);
	return { count: Math.min(rows.length, max), capped: rows.length > max || end !== null };
}

export function getAttempt(node: MemoryNode, { projectId, attemptId }: Params<"getAttempt">): Attempt | null {
	const projectNo = node.database.project(projectId)?.no;
	if (projectNo === undefined) return null;
	const id = toStoredId(attemptId);
	for (const status of ALL_STATUSES) {
		const row = node.tables.attempts.by.project.get({ projectNo, status, id });
		if (row !== undefined) return toAttempt(node, row);
	}
	return null;
}

export function getDelivery(
	node: MemoryNode,
	{ projectId, webhookId, eventId }: Params<"getDelivery">,
): Delivery | null {
	const { database, tables } = node;
	const project = database.project(projectId);
	const webhook = project && database.webhook(project.no, webhookId);
	const event = project && tables.events.by.id.get(eventKey(project.no, eventId));
	if (!webhook || !event) return null;
	const state = progressOf(node, webhook.no, event);
	if (state === null) return null;
	const attempts = take(attemptsOf(node, webhook.no, event), MAX_DELIVERY_ATTEMPTS)
		.map((row) => toAttempt(node, row))
		.reverse();
	return { ...state, attempts };
}
