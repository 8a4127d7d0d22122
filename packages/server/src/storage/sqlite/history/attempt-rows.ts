import type { Attempt, AttemptSummary } from "../../port.ts";
import { statusOf, toAttemptId } from "../../shared/attempt-codes.ts";
import type { Connection } from "../connection/connection.ts";

/** An entry of the log by its row number, without its bodies. */
export function readSummary(c: Connection, no: number): AttemptSummary {
	const row = c
		.sql(`
			SELECT a.id, a.webhook_no, a.seq, a.type, a.attempt, a.replay, a.status, a.status_code, a.error_code, a.error,
				a.started_at, a.response_ms, a.next_retry_at, a.url, e.id AS event_id
			FROM attempts a JOIN events e ON e.project_no = a.project_no AND e.seq = a.seq WHERE a.no = ?`)
		.get(no);
	if (row === undefined) throw eventMissing(no);
	return toSummary(c, row);
}

/** An entry of the log by its row number, with the event that it delivered. */
export function readAttempt(c: Connection, no: number): Attempt {
	const row = c
		.sql(`
			SELECT a.*, e.id AS event_id, e.body AS request_body
			FROM attempts a JOIN events e ON e.project_no = a.project_no AND e.seq = a.seq WHERE a.no = ?`)
		.get(no);
	if (row === undefined) throw eventMissing(no);
	const signature = row.sent_signature as Uint8Array | null;
	return {
		...toSummary(c, row),
		responseBody: row.response_body as Uint8Array,
		responseTruncated: row.response_truncated === 1,
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

const toSummary = (c: Connection, row: Record<string, unknown>): AttemptSummary => ({
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
	nextRetryAt: row.next_retry_at as number | null,
	url: row.url as string,
});

const eventMissing = (no: number): Error => new Error(`The event of log entry ${no} doesn't exist.`);
