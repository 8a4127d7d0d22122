import type { Attempt, AttemptFilter, AttemptPage, Delivery } from "../port.ts";
import { STATUS_CODE, STATUSES, statusOf, toAttemptId, toStoredId } from "./attempt-codes.ts";
import type { Connection } from "./connection.ts";
import { findEventPlace, standingOf } from "./delivery.ts";
import { idRange } from "./id-range.ts";
import { mergedRanges } from "./merge.ts";

/** All attempts of a delivery that are shown. */
const MAX_DELIVERY_ATTEMPTS = 200;

export function listAttempts(
	c: Connection,
	projectId: string,
	filter: AttemptFilter,
	page: AttemptPage,
): { rows: Attempt[]; more: boolean } {
	const project = c.names.project(projectId);
	const places = project === null ? [] : findAttempts(c, project, filter, page);
	const rows: Attempt[] = [];
	let room = page.maxBytes;
	for (const no of places.slice(0, page.limit)) {
		const row = readAttempt(c, no);
		room -= row.requestBody.length + row.responseBody.length;
		if (room < 0 && rows.length > 0) break;
		rows.push(row);
	}
	return { rows, more: rows.length < places.length };
}

/** Row numbers, newest first, one more than the page holds. */
function findAttempts(c: Connection, project: number, filter: AttemptFilter, page: AttemptPage): number[] {
	const webhook = filter.webhookId === undefined ? undefined : c.names.webhook(project, filter.webhookId);
	const types = filter.type === undefined ? c.names.allTypes() : [c.names.type(filter.type)];
	if (webhook === null || types.length === 0 || types.includes(null)) return [];
	const statuses = (filter.status === undefined ? STATUSES : [filter.status]).map((status) => STATUS_CODE[status]);
	const { from, to } = idRange(filter);
	const before = page.before === undefined ? to : toStoredId(page.before);
	const bounds = [from, before < to ? before : to, page.limit + 1];
	const numbers = (rows: Record<string, unknown>[]) => rows.map((row) => row.no as number);

	if (filter.eventId !== undefined) {
		const event = findEventPlace(c, project, filter.eventId);
		if (event === null) return [];
		// A handful of rows, the attempts of one event: no other index comes into question.
		const text = `
			SELECT no FROM attempts INDEXED BY attempts_by_delivery
			WHERE project_no = ?1 AND seq = ?2 ${webhook === undefined ? "" : "AND webhook_no = ?3"} AND id >= ?4 AND id < ?5
				AND status IN (${statuses}) AND type IN (${types}) ORDER BY id DESC LIMIT ?6`;
		return numbers(c.sql(text).all(project, event.seq, webhook ?? null, ...bounds));
	}
	const [column, owner] = webhook === undefined ? ["project_no", project] : ["webhook_no", webhook];
	const ranges = statuses.flatMap((status) =>
		types.map(
			(type) => `
				SELECT no, id FROM attempts
				WHERE ${column} = ?1 AND status = ${status} AND type = ${type} AND id >= ?2 AND id < ?3`,
		),
	);
	return numbers(c.sql(mergedRanges(ranges, "id DESC")).all(owner, ...bounds));
}

export function getAttempt(c: Connection, projectId: string, attemptId: string): Attempt | null {
	const project = c.names.project(projectId);
	const types = c.names.allTypes();
	if (project === null || types.length === 0) return null;
	const found = c
		.sql(`
			SELECT no FROM attempts
			WHERE project_no = ? AND status IN (${Object.values(STATUS_CODE)}) AND type IN (${types}) AND id = ?`)
		.get(project, toStoredId(attemptId));
	return found === undefined ? null : readAttempt(c, found.no as number);
}

export function getDelivery(c: Connection, projectId: string, webhookId: string, eventId: string): Delivery | null {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	const event = project === null ? null : findEventPlace(c, project, eventId);
	if (project === null || webhook === null || event === null) return null;
	const standing = standingOf(c, project, webhook, event);
	if (standing === null) return null;
	const attempts = c
		.sql(`
			SELECT no FROM attempts WHERE project_no = ? AND seq = ? AND webhook_no = ?
			ORDER BY replay DESC, attempt DESC LIMIT ${MAX_DELIVERY_ATTEMPTS}`)
		.all(project, event.seq, webhook)
		.map((row) => readAttempt(c, row.no as number))
		.reverse();
	switch (standing.kind) {
		case "in_lane":
			return { state: "attempting", attempt: 1, replay: 0, nextRetryAt: null, attempts };
		case "queued": {
			const { attempt, replay, dueAt } = standing;
			return { state: "attempting", attempt, replay, nextRetryAt: dueAt, attempts };
		}
		case "over": {
			const { attempt, replay, status } = standing;
			const state = status === "delivered" ? "delivered" : "dead_lettered";
			return { state, attempt, replay, nextRetryAt: null, attempts };
		}
	}
}

function readAttempt(c: Connection, no: number): Attempt {
	const row = c
		.sql(`
			SELECT a.*, e.id AS event_id, e.body AS request_body
			FROM attempts a JOIN events e ON e.project_no = a.project_no AND e.seq = a.seq WHERE a.no = ?`)
		.get(no);
	if (row === undefined) throw new Error(`The event of log entry ${no} is not there.`);
	const signature = row.sent_signature as Uint8Array | null;
	return {
		id: toAttemptId(row.id),
		webhookId: c.names.webhookId(row.webhook_no as number),
		seq: row.seq as number,
		eventId: row.event_id as string,
		eventType: c.names.typeName(row.type as number),
		attempt: row.attempt as number,
		replay: row.replay as number,
		status: statusOf(row.status),
		statusCode: row.status_code as number | null,
		errorCode: row.error_code as string | null,
		error: row.error as string | null,
		startedAt: row.started_at as number,
		responseMs: row.response_ms as number,
		responseBody: row.response_body as Uint8Array,
		responseTruncated: row.response_truncated === 1,
		nextRetryAt: row.next_retry_at as number | null,
		url: row.url as string,
		sent:
			signature === null
				? null
				: {
						brand: row.sent_brand as string,
						timestamp: row.sent_timestamp as number,
						signature: Buffer.from(signature).toString("hex"),
					},
		requestBody: row.request_body as Uint8Array,
	};
}
