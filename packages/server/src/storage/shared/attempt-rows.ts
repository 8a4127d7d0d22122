import type { Attempt, AttemptSummary } from "../port.ts";
import { statusOf, toAttemptId } from "./attempt-codes.ts";

/** A row of the delivery log. Both engines name its columns alike. */
export type AttemptRow = Readonly<Record<string, unknown>>;

/** What each engine looks up in its own way. */
export interface AttemptNames {
	readonly webhookId: string;
	readonly eventType: string;
}

/** An entry of the log without its bodies. */
export function summaryOf(row: AttemptRow, { webhookId, eventType }: AttemptNames): AttemptSummary {
	return {
		id: toAttemptId(row.id),
		webhookId,
		seq: row.seq as number,
		eventId: row.event_id as string,
		eventType,
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
	};
}

/** An entry of the log with its bodies. */
export function attemptOf(row: AttemptRow, names: AttemptNames): Attempt {
	const signature = row.sent_signature as Uint8Array | null;
	const sent = signature && {
		brand: row.sent_brand as string,
		timestamp: row.sent_timestamp as number,
		signature: Buffer.from(signature).toString("hex"),
	};
	return {
		...summaryOf(row, names),
		responseBody: row.response_body as Uint8Array,
		responseTruncated: Boolean(row.response_truncated),
		sent,
		requestBody: row.request_body as Uint8Array,
	};
}
