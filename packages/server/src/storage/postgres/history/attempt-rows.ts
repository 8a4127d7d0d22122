import type { Attempt, AttemptSummary } from "../../port.ts";
import { toAttemptId } from "../../shared/attempt-codes.ts";
import { type AttemptNames, attemptOf, summaryOf } from "../../shared/attempt-rows.ts";
import type { Row } from "../connection/session.ts";
import { AT_PLACE } from "./attempt-ranges.ts";

const SUMMARY_COLUMNS = `
	a.id, a.seq, a.attempt, a.replay, a.status, a.status_code, a.error_code, a.error, a.started_at, a.response_ms,
	a.next_retry_at, a.url, e.id AS event_id,
	(SELECT t.name FROM posthorn.event_types t WHERE t.code = a.type) AS event_type,
	(SELECT w.id FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.no = a.webhook_no) AS webhook_id`;

const ATTEMPT_COLUMNS = `${SUMMARY_COLUMNS},
	a.sent_brand, a.sent_timestamp, a.sent_signature, a.response_body, a.response_truncated, e.body AS request_body`;

/** The event of an attempt `a` in the project $1. */
const WITH_EVENT = `
	LEFT JOIN LATERAL (
		SELECT id, body FROM posthorn.events WHERE project_no = $1 AND seq = a.seq LIMIT 1
	) e ON true`;

/** The rows of `attempts` in the project $1 that rows (status, type, id) identify, as `a`; `place` is the row. */
const at = (places: string) => `
	FROM (${places}) place CROSS JOIN LATERAL (
		SELECT * ${AT_PLACE}
	) a ${WITH_EVENT}`;

/** A SELECT of the columns for {@link toSummary}, for each of these positions, and of further columns. */
export const summariesAt = (places: string, more = ""): string => `SELECT ${SUMMARY_COLUMNS}${more} ${at(places)}`;

/** A SELECT of the columns for {@link toAttempt}. Bodies that the outer query doesn't use aren't read. */
export const attemptsAt = (places: string): string => `SELECT ${ATTEMPT_COLUMNS} ${at(places)}`;

/** The same for rows of `attempts` in the project $1. */
export const attemptsFrom = (rows: string): string => `SELECT ${ATTEMPT_COLUMNS} FROM (${rows}) a ${WITH_EVENT}`;

/** An entry of the log without its bodies. */
export const toSummary = (row: Row): AttemptSummary => summaryOf(row, namesOf(row));

/** An entry of the log with the event that it delivered. */
export const toAttempt = (row: Row): Attempt => attemptOf(row, namesOf(row));

function namesOf(row: Row): AttemptNames {
	if (row.event_id === null) throw new Error(`The event of log entry ${toAttemptId(row.id)} doesn't exist.`);
	return { webhookId: row.webhook_id as string, eventType: row.event_type as string };
}
