import type { LaneProgress, NewAttempt, Retry } from "../../port.ts";
import { QUEUE_CODE, STATUS_CODE, storedDetails, storedSignatures, toStoredId } from "../../shared/deliveries.ts";
import { MINUTE, NOT_COUNTED, responseClass } from "../../shared/stats.ts";
import {
	idArray,
	numberArray,
	numberColumns,
	pack,
	type Session,
	sql,
	textArray,
	typeCode,
	withoutNul,
} from "../connection/session.ts";
import { numbered } from "../log/log.ts";
import type { WebhookNumbers } from "./locks.ts";

/** An attempt with the numbers of what it refers to. */
export interface AttemptRow {
	readonly projectNo: number;
	readonly webhookNo: number;
	readonly attempt: NewAttempt;
}

/** The value of a column that may have been sent once for all rows: {@link column}. */
const of = (name: string, parameter: string): string => `coalesce(g.${name}, (${parameter})[1])`;

/** Columns that may be sent once have 0 for no value: it's neither one of their numbers nor an index of a text. */
const LOG = sql(`
	WITH logged AS (
		INSERT INTO posthorn.attempts (
			project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at, response_ms,
			response_truncated, next_retry_at, sent_timestamp, id, url, error_code, error, sent_brand, sent_signature,
			response_body, details)
		SELECT g.project_no, g.webhook_no, g.seq, ${of("replay", "$4::integer[]")}, ${of("attempt", "$5::integer[]")},
			${of("type", "$6::integer[]")}, g.status, nullif(${of("status_code", "$8::integer[]")}, 0), g.started_at,
			g.response_ms, ${of("response_truncated", "$11::boolean[]")},
			nullif(${of("next_retry_at", "$12::bigint[]")}, 0), nullif(${of("sent_timestamp", "$13::bigint[]")}, 0), g.id,
			($23::text[])[${of("url", "$15::integer[]")}], ($23::text[])[${of("error_code", "$16::integer[]")}],
			($23::text[])[${of("error", "$17::integer[]")}], ($23::text[])[${of("sent_brand", "$18::integer[]")}],
			substring($24::bytea FROM g.sent_start + 1 FOR ${of("sent_length", "$27::integer[]")}), substring($25::bytea FROM g.start + 1 FOR g.length),
			($23::text[])[${of("details", "$28::integer[]")}]
		FROM unnest(
			$1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::smallint[],
			$8::integer[], $9::bigint[], $10::integer[], $11::boolean[], $12::bigint[], $13::bigint[], $14::text[],
			$15::integer[], $16::integer[], $17::integer[], $18::integer[], $19::integer[], $20::integer[], $21::integer[],
			$27::integer[], $28::integer[]
		) AS g (
			project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at, response_ms,
			response_truncated, next_retry_at, sent_timestamp, id, url, error_code, error, sent_brand, sent_start, start,
			length, sent_length, details
		)
	)
	INSERT INTO posthorn.attempt_counts (project_no, webhook_no, minute, status, class)
	VALUES ($1::bigint[], $2::bigint[], $26::bigint[], $7::smallint[], $22::smallint[])`);

/** Adds attempts to the delivery log and to the counts. */
export async function logAttempts(c: Session, rows: readonly AttemptRow[]): Promise<void> {
	const texts = new TextTable();
	const attempts = rows.map((row) => row.attempt);
	const bodies = pack(attempts.map((attempt) => attempt.responseBody));
	const signatures = attempts.map(({ sent }) => (sent === null ? "" : storedSignatures(sent)));
	let signed = 0;
	const signedTo = signatures.map((signature) => (signed += signature.length / 2));
	const numbers = (each: (attempt: NewAttempt) => number | null) => numberArray(attempts.map(each));
	const mostlySame = (each: (attempt: NewAttempt) => number | null) => column(attempts.map((one) => each(one) ?? 0));
	// Before the texts are sent, which it adds to.
	const details = mostlySame((attempt) => texts.indexOf(storedDetails(attempt)));
	await c.run(
		LOG,
		numberArray(rows.map((row) => row.projectNo)),
		numberArray(rows.map((row) => row.webhookNo)),
		numbers(({ seq }) => seq),
		mostlySame(({ replay }) => replay),
		mostlySame(({ attempt }) => attempt),
		mostlySame(({ eventType }) => typeCode(c.names, eventType)),
		numbers(({ status }) => STATUS_CODE[status]),
		mostlySame(({ statusCode }) => statusCode),
		numbers(({ startedAt }) => startedAt),
		numbers(({ responseMs }) => responseMs),
		mostlySame(({ responseTruncated }) => Number(responseTruncated)),
		mostlySame(({ nextRetryAt }) => nextRetryAt),
		mostlySame((attempt) => attempt.sent?.timestamp ?? null),
		idArray(attempts.map(({ id }) => toStoredId(id))),
		mostlySame(({ url }) => texts.indexOf(url)),
		mostlySame(({ errorCode }) => texts.indexOf(errorCode)),
		mostlySame(({ error }) => texts.indexOf(error)),
		mostlySame((attempt) => texts.indexOf(attempt.sent?.brand ?? null)),
		numberArray(signatures.map(({ length }, i) => (length === 0 ? null : signedTo[i]! - length / 2))),
		numberArray(bodies.starts),
		numberArray(bodies.lengths),
		numbers(responseClass),
		textArray(texts.texts),
		Buffer.from(signatures.join(""), "hex"),
		bodies.bytes,
		numbers(({ seq, startedAt }) => (seq > 0 ? Math.floor(startedAt / MINUTE) : NOT_COUNTED)),
		column(signatures.map(({ length }) => length / 2)),
		details,
	);
}

/**
 * A column whose values are usually equal in all rows. If they are, the value is sent once, because the database reads
 * a batch's columns row by row, each at a cost.
 */
function column(values: readonly number[]): string {
	const same = values.every((value) => value === values[0]);
	return numberArray(same ? values.slice(0, 1) : values);
}

/** Distinct texts. */
class TextTable {
	readonly texts: string[] = [];
	readonly #indexes = new Map<string, number>();

	/** Counted from 1, as in PostgreSQL's arrays. */
	indexOf(text: string | null): number | null {
		if (text === null) return null;
		const known = this.#indexes.get(text);
		if (known !== undefined) return known;
		const index = this.texts.push(withoutNul(text));
		this.#indexes.set(text, index);
		return index;
	}
}

/** A settlement's changes apart from the log. Each delivery and lane occurs at most once. */
export interface Moves {
	readonly schedule: readonly (Omit<Retry, "webhookId"> & WebhookNumbers)[];
	readonly unschedule: readonly (WebhookNumbers & { readonly seq: number })[];
	readonly lanes: readonly (WebhookNumbers & Omit<LaneProgress, "webhookId">)[];
	/** An entry for each delivery that became a dead letter. */
	readonly deadLetters: readonly WebhookNumbers[];
}

/**
 * Queues, lanes and counters. A deleted webhook has no lane: its pending deliveries are to be closed. An event that a
 * lane has settled stays settled: the owner may have moved the lane forward meanwhile.
 */
const MOVE = sql(`
	WITH dropped AS (
		DELETE FROM posthorn.retries
		WHERE ctid = ANY (ARRAY(
			SELECT waiting.ctid
			FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS g (project_no, webhook_no, seq)
			CROSS JOIN LATERAL (
				-- As a range with its order, so that the primary key is taken without statistics, too.
				SELECT r.ctid FROM posthorn.retries r
				WHERE r.project_no = g.project_no AND (r.seq, r.webhook_no) BETWEEN (g.seq, g.webhook_no) AND (g.seq, g.webhook_no)
				ORDER BY r.seq, r.webhook_no LIMIT 1
			) waiting
		))
		RETURNING project_no, webhook_no
	), put AS (
		INSERT INTO posthorn.retries AS r (project_no, webhook_no, seq, queue, replay, attempt, due_at)
		SELECT g.* FROM unnest(
			$4::bigint[], $5::bigint[], $6::bigint[], $7::smallint[], $8::integer[], $9::integer[], $10::bigint[]
		) AS g (project_no, webhook_no, seq, queue, replay, attempt, due_at)
		ON CONFLICT (project_no, seq, webhook_no) DO UPDATE
		SET queue = excluded.queue, replay = excluded.replay, attempt = excluded.attempt, due_at = excluded.due_at
		RETURNING r.project_no, r.webhook_no, xmax = 0 AS added
	), closing AS (
		-- Deleted in the meantime.
		UPDATE posthorn.webhooks SET closing = true
		WHERE ctid = ANY (ARRAY(
			SELECT deleted.ctid FROM put CROSS JOIN LATERAL (
				SELECT w.ctid FROM posthorn.webhooks w
				WHERE w.project_no = put.project_no AND w.no = put.webhook_no AND w.deleted_at IS NOT NULL AND NOT w.closing
				LIMIT 1
			) deleted
			WHERE put.added
		))
	), change AS (
		SELECT project_no, webhook_no, coalesce(max(position), 0) AS position,
			coalesce(max(open), '{}')::bigint[] AS open,
			sum(retries)::bigint AS retries, sum(dead)::bigint AS dead
		FROM (
			SELECT project_no, webhook_no, NULL::bigint AS position, NULL::text AS open, -1 AS retries, 0 AS dead FROM dropped
			UNION ALL SELECT project_no, webhook_no, NULL, NULL, 1, 0 FROM put WHERE added
			UNION ALL SELECT project_no, webhook_no, NULL, NULL, 0, 1
			FROM unnest($11::bigint[], $12::bigint[]) AS g (project_no, webhook_no)
			UNION ALL SELECT project_no, webhook_no, position, open, 0, 0
			FROM unnest($13::bigint[], $14::bigint[], $15::bigint[], $16::text[]) AS g (project_no, webhook_no, position, open)
		) each
		GROUP BY project_no, webhook_no
	)
	UPDATE posthorn.lanes l SET
		position = greatest(l.position, g.position),
		open = ARRAY(
			SELECT seq FROM unnest(l.open) AS seq WHERE seq > g.position OR seq = ANY (g.open)
			UNION ALL SELECT seq FROM unnest(g.open) AS seq WHERE seq > l.position
			ORDER BY seq
		),
		retries_waiting = greatest(0, l.retries_waiting + g.retries),
		dead_letters = greatest(0, l.dead_letters + g.dead)
	FROM change g WHERE l.project_no = g.project_no AND l.webhook_no = g.webhook_no`);

export async function moveDeliveries(c: Session, moves: Moves): Promise<void> {
	const { schedule, unschedule, lanes, deadLetters } = moves;
	await c.run(
		MOVE,
		...numberColumns(unschedule, "projectNo", "webhookNo", "seq"),
		...numberColumns(schedule, "projectNo", "webhookNo", "seq"),
		numberArray(schedule.map(({ queue }) => QUEUE_CODE[queue])),
		...numberColumns(schedule, "replay", "attempt"),
		numberArray(schedule.map(({ dueAt }) => c.offset.toDatabase(dueAt))),
		...numberColumns(deadLetters, "projectNo", "webhookNo"),
		...numberColumns(lanes, "projectNo", "webhookNo", "position"),
		textArray(lanes.map(({ open }) => numberArray(open))),
	);
}

/**
 * Attempts are searched on the days since their events were published, and one more in case clocks differ.
 */
const CLOCKS_DIFFER_MS = 86_400_000;

/**
 * Whether attempts are already in the delivery log, by their ids. For most, their lanes show it at no cost: events that
 * a lane hasn't passed haven't been attempted. The log is searched only for the others: retries, replays and test events,
 * and events that a lane has passed because the owner moved it or because the settlement is a repetition. The oldest
 * event of each project determines how far back to search.
 */
const FIND_LOGGED = sql(`
	SELECT g.nth, logged.id
	FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::integer[])
		AS g (nth, project_no, webhook_no, seq, replay, attempt)
	CROSS JOIN LATERAL (
		SELECT a.id FROM posthorn.attempts a
		WHERE a.project_no = g.project_no AND a.seq = g.seq AND a.webhook_no = g.webhook_no AND a.replay = g.replay
			AND a.attempt = g.attempt
			AND a.id >= (
				SELECT posthorn.id_at(coalesce(min(e.published_at), 0) - ${CLOCKS_DIFFER_MS})
				FROM unnest($7::bigint[], $8::bigint[]) AS oldest (project_no, seq) CROSS JOIN LATERAL (
					SELECT published_at FROM posthorn.events ${numbered("oldest.project_no", "oldest.seq")}
				) e
			)
		-- The order of the primary key.
		ORDER BY a.id LIMIT 1
	) logged`);

/** An attempt and its index in the settlement. */
interface IndexedAttempt extends AttemptRow {
	readonly nth: number;
}

/** @returns by the attempt's index, the stored id under which it is logged */
export async function findLogged(c: Session, rows: readonly AttemptRow[]): Promise<Map<number, string>> {
	const indexed = rows.map((row, nth): IndexedAttempt => ({ ...row, nth }));
	const { first = [], later = [] } = Object.groupBy(indexed, (row) => (isFirst(row) ? "first" : "later"));
	const [passed, found] = await Promise.all([passedByLanes(c, first), inLog(c, later)]);
	for (const [nth, id] of await inLog(c, passed)) found.set(nth, id);
	return found;
}

const isFirst = ({ attempt: { seq, attempt, replay } }: AttemptRow): boolean =>
	seq > 0 && attempt === 1 && replay === 0;

const LANES = sql(`
	SELECT lane.*
	FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, webhook_no) CROSS JOIN LATERAL (
		SELECT project_no, webhook_no, position, open FROM posthorn.lanes
		WHERE project_no = g.project_no AND webhook_no = g.webhook_no LIMIT 1
	) lane`);

/** Events that their lanes have passed, or whose webhook no longer has a lane. */
async function passedByLanes(c: Session, rows: readonly IndexedAttempt[]): Promise<IndexedAttempt[]> {
	if (rows.length === 0) return [];
	const byLane = new Map(rows.map((row) => [laneOf(row.projectNo, row.webhookNo), row]));
	const lanes = await c.rows<{ project_no: number; webhook_no: number; position: number; open: readonly number[] }>(
		LANES,
		...numberColumns([...byLane.values()], "projectNo", "webhookNo"),
	);
	const known = new Map(lanes.map((lane) => [laneOf(lane.project_no, lane.webhook_no), lane]));
	return rows.filter(({ projectNo, webhookNo, attempt: { seq } }) => {
		const lane = known.get(laneOf(projectNo, webhookNo));
		return lane === undefined || (seq <= lane.position && !lane.open.includes(seq));
	});
}

const laneOf = (projectNo: number, webhookNo: number): string => `${projectNo}/${webhookNo}`;

async function inLog(c: Session, rows: readonly IndexedAttempt[]): Promise<Map<number, string>> {
	if (rows.length === 0) return new Map();
	const oldest = oldestEvents(rows);
	const found = await c.rows<{ nth: number; id: string }>(
		FIND_LOGGED,
		...numberColumns(rows, "nth", "projectNo", "webhookNo"),
		...numberColumns(
			rows.map(({ attempt }) => attempt),
			...(["seq", "replay", "attempt"] as const),
		),
		...numberColumns(oldest, "projectNo", "seq"),
	);
	return new Map(found.map(({ nth, id }) => [nth, id]));
}

/** For each project, the first event of the log and the first test event, which are numbered downward. */
function oldestEvents(rows: readonly AttemptRow[]): { projectNo: number; seq: number }[] {
	const oldest = new Map<string, { projectNo: number; seq: number }>();
	for (const { projectNo, attempt } of rows) {
		const key = `${projectNo}/${attempt.seq > 0}`;
		const known = oldest.get(key);
		if (known === undefined || Math.abs(attempt.seq) < Math.abs(known.seq))
			oldest.set(key, { projectNo, seq: attempt.seq });
	}
	return [...oldest.values()];
}
