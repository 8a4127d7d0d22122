import type { Attempt, AttemptSummary } from "../../port.ts";
import { type AttemptNames, type AttemptRow, attemptOf, summaryOf } from "../../shared/attempt-rows.ts";
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
	return summaryOf(row, namesOf(c, row));
}

/** An entry of the log by its row number, with the event that it delivered. */
export function readAttempt(c: Connection, no: number): Attempt {
	const row = c
		.sql(`
			SELECT a.*, e.id AS event_id, e.body AS request_body
			FROM attempts a JOIN events e ON e.project_no = a.project_no AND e.seq = a.seq WHERE a.no = ?`)
		.get(no);
	if (row === undefined) throw eventMissing(no);
	return attemptOf(row, namesOf(c, row));
}

const namesOf = (c: Connection, row: AttemptRow): AttemptNames => {
	return { webhookId: c.names.webhookId(row.webhook_no as number), eventType: c.names.typeName(row.type as number) };
};

const eventMissing = (no: number): Error => new Error(`The event of log entry ${no} doesn't exist.`);
