import type { LaneProgress, NewAttempt, Retry } from "../../port.ts";
import { QUEUE_CODE, STATUS_CODE, storedDetails, storedSignatures, toStoredId } from "../../shared/deliveries.ts";
import { MINUTE, NOT_COUNTED, responseClass } from "../../shared/stats.ts";
import { newestLane, stretchOf } from "../connection/hot-rows.ts";
import { typeCode } from "../connection/names.ts";
import { idArray, numberArray, numberColumns, pack, type Session, sql, textArray } from "../connection/session.ts";
import { numbered } from "../log/log.ts";
import { pendingRetry } from "./lanes.ts";
import type { WebhookNumbers } from "./locks.ts";

/** One event for one webhook. */
export interface DeliveryNumbers extends WebhookNumbers {
	readonly seq: number;
}

/** An attempt with the numbers of what it refers to. */
export interface AttemptRow extends WebhookNumbers {
	readonly attempt: NewAttempt;
}

/** The columns sent for each attempt: every one is a parameter, an array of this type. */
const COLUMNS = `project_no bigint, webhook_no bigint, seq bigint, replay integer, attempt integer, type integer,
	status smallint, status_code integer, started_at bigint, response_ms integer, response_truncated boolean,
	next_retry_at bigint, sent_timestamp bigint, id text, url integer, error_code integer, error integer,
	sent_brand integer, sent_start integer, start integer, length integer, sent_length integer, details integer`;
const TYPES = new Map(COLUMNS.split(/,\s+/).map((column) => column.split(" ") as [name: string, type: string]));
const arrayOf = (column: string): string => `$${column}::${TYPES.get(column)}[]`;

/** The value of a column that may have been {@link sentOnce}. */
const sentValue = (column: string): string => `coalesce(g.${column}, (${arrayOf(column)})[1])`;
/** 0 stands for no value: it's neither a number of these columns nor the index of a text. */
const sentOrNull = (column: string): string => `nullif(${sentValue(column)}, 0)`;
const sentText = (column: string): string => `($texts::text[])[${sentValue(column)}]`;

const LOG = sql(`
	WITH logged AS (
		INSERT INTO posthorn.attempts (
			project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at, response_ms,
			response_truncated, next_retry_at, sent_timestamp, id, url, error_code, error, sent_brand, sent_signature,
			response_body, details)
		SELECT g.project_no, g.webhook_no, g.seq, ${sentValue("replay")}, ${sentValue("attempt")}, ${sentValue("type")}, g.status,
			${sentOrNull("status_code")}, g.started_at, g.response_ms, ${sentValue("response_truncated")},
			${sentOrNull("next_retry_at")}, ${sentOrNull("sent_timestamp")}, g.id, ${sentText("url")},
			${sentText("error_code")}, ${sentText("error")}, ${sentText("sent_brand")},
			substring($signatures::bytea FROM g.sent_start + 1 FOR ${sentValue("sent_length")}),
			substring($bodies::bytea FROM g.start + 1 FOR g.length), ${sentText("details")}
		FROM unnest(${[...TYPES.keys()].map(arrayOf).join(", ")}) AS g (${[...TYPES.keys()].join(", ")})
	)
	INSERT INTO posthorn.attempt_counts (project_no, webhook_no, minute, status, class)
	VALUES (
		${arrayOf("project_no")}, ${arrayOf("webhook_no")}, $minute::bigint[], ${arrayOf("status")}, $class::smallint[])`);

/** Adds attempts to the delivery log and to the counts. */
export async function logAttempts(c: Session, rows: readonly AttemptRow[]): Promise<void> {
	const attempts = rows.map((row) => row.attempt);
	const signatures = packSignatures(attempts);
	const bodies = pack(attempts.map((attempt) => attempt.responseBody));
	const texts = new TextTable();
	const numbers = (each: (attempt: NewAttempt) => number | null) => numberArray(attempts.map(each));
	const mostlySame = (each: (attempt: NewAttempt) => number | null) => sentOnce(attempts.map((one) => each(one) ?? 0));
	await c.run(LOG, {
		project_no: numberArray(rows.map((row) => row.projectNo)),
		webhook_no: numberArray(rows.map((row) => row.webhookNo)),
		seq: numbers(({ seq }) => seq),
		replay: mostlySame(({ replay }) => replay),
		attempt: mostlySame(({ attempt }) => attempt),
		type: mostlySame(({ eventType }) => typeCode(c.names, eventType)),
		status: numbers(({ status }) => STATUS_CODE[status]),
		status_code: mostlySame(({ statusCode }) => statusCode),
		started_at: numbers(({ startedAt }) => startedAt),
		response_ms: numbers(({ responseMs }) => responseMs),
		response_truncated: mostlySame(({ responseTruncated }) => Number(responseTruncated)),
		next_retry_at: mostlySame(({ nextRetryAt }) => nextRetryAt),
		sent_timestamp: mostlySame((attempt) => attempt.sent?.timestamp ?? null),
		id: idArray(attempts.map(({ id }) => toStoredId(id))),
		url: mostlySame(({ url }) => texts.indexOf(url)),
		error_code: mostlySame(({ errorCode }) => texts.indexOf(errorCode)),
		error: mostlySame(({ error }) => texts.indexOf(error)),
		sent_brand: mostlySame((attempt) => texts.indexOf(attempt.sent?.brand ?? null)),
		details: mostlySame((attempt) => texts.indexOf(storedDetails(attempt))),
		sent_start: numberArray(signatures.starts),
		sent_length: sentOnce(signatures.lengths),
		start: numberArray(bodies.starts),
		length: numberArray(bodies.lengths),
		minute: numbers(({ seq, startedAt }) => (seq > 0 ? Math.floor(startedAt / MINUTE) : NOT_COUNTED)),
		class: numbers(responseClass),
		signatures: signatures.bytes,
		bodies: bodies.bytes,
		// Last: the columns above add to them.
		texts: textArray(texts.texts),
	});
}

/** The attempts' signatures in one piece, with the start and length of each in bytes. One that wasn't sent has no start. */
function packSignatures(attempts: readonly NewAttempt[]) {
	const all = attempts.map(({ sent }) => (sent === null ? "" : storedSignatures(sent)));
	const lengths = all.map((hex) => hex.length / 2);
	let end = 0;
	const starts = lengths.map((length) => {
		end += length;
		return length === 0 ? null : end - length;
	});
	return { bytes: Buffer.from(all.join(""), "hex"), starts, lengths };
}

/**
 * A column whose values are usually equal in all rows. If they are, the value is sent once, because the database reads
 * a batch's columns row by row, each at a cost.
 */
function sentOnce(values: readonly number[]): string {
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
		const index = this.texts.push(text);
		this.#indexes.set(text, index);
		return index;
	}
}

/** A settlement's changes apart from the log. Each delivery and lane occurs at most once. */
export interface Moves {
	readonly schedule: readonly (Omit<Retry, "webhookId"> & WebhookNumbers)[];
	readonly unschedule: readonly DeliveryNumbers[];
	readonly lanes: readonly (WebhookNumbers & Omit<LaneProgress, "webhookId">)[];
	/** An entry for each delivery that became a dead letter. */
	readonly deadLetters: readonly WebhookNumbers[];
}

/**
 * Updates queues, lanes and counters. A deleted webhook has no lane: its pending deliveries will be closed. An event that
 * a lane has settled stays settled: the owner may have moved the lane forward in the meantime.
 */
const MOVE = sql(`
	WITH dropped AS (
		DELETE FROM posthorn.retries
		WHERE ctid = ANY (ARRAY(
			SELECT pending.ctid
			FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS g (project_no, webhook_no, seq)
			CROSS JOIN LATERAL (
				SELECT ctid FROM posthorn.retries ${pendingRetry("g.project_no", "g.seq", "g.webhook_no")}
			) pending
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
		-- Webhooks deleted in the meantime.
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
		stretch = ${stretchOf("greatest(l.position, g.position)")},
		open = ARRAY(
			SELECT seq FROM unnest(l.open) AS seq WHERE seq > g.position OR seq = ANY (g.open)
			UNION ALL SELECT seq FROM unnest(g.open) AS seq WHERE seq > l.position
			ORDER BY seq
		),
		retries_waiting = greatest(0, l.retries_waiting + g.retries),
		dead_letters = greatest(0, l.dead_letters + g.dead)
	FROM change g CROSS JOIN LATERAL (SELECT ctid ${newestLane("g.project_no", "g.webhook_no")}) held
	WHERE l.ctid = held.ctid`);

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

/** Attempts are searched on the days since their events were published, and one more in case clocks differ. */
const CLOCKS_DIFFER_MS = 86_400_000;

/**
 * Finds attempts that are already in the delivery log. Most needn't be searched for: an event that its lane hasn't passed
 * has no attempts. The others are retries, replays, test events, and events that a lane has passed because the owner moved
 * it or because the settlement is a repetition. The oldest event of each project determines how far back to search.
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

/** @returns the stored ids of the attempts that are already logged */
export async function findLogged(
	c: Session,
	rows: readonly AttemptRow[],
	lanes: Promise<Lanes>,
): Promise<Map<AttemptRow, string>> {
	const { first = [], later = [] } = Object.groupBy(rows, (row) => (isFirst(row) ? "first" : "later"));
	const [known, found] = await Promise.all([lanes, inLog(c, later)]);
	for (const [row, id] of await inLog(c, passedBy(known, first))) found.set(row, id);
	return found;
}

const isFirst = ({ attempt: { seq, attempt, replay } }: AttemptRow): boolean =>
	seq > 0 && attempt === 1 && replay === 0;

const LANES = sql(`
	SELECT lane.*
	FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, webhook_no) CROSS JOIN LATERAL (
		SELECT project_no, webhook_no, position, open ${newestLane("g.project_no", "g.webhook_no")}
	) lane`);

type LaneRow = { project_no: number; webhook_no: number; position: number; open: readonly number[] };
/** Lanes by {@link laneOf}. A deleted webhook has none. */
export type Lanes = ReadonlyMap<string, LaneRow>;

export async function readLanes(c: Session, webhooks: readonly WebhookNumbers[]): Promise<Lanes> {
	if (webhooks.length === 0) return new Map();
	const byLane = new Map(webhooks.map((webhook) => [laneOf(webhook), webhook]));
	const lanes = await c.rows<LaneRow>(LANES, ...numberColumns([...byLane.values()], "projectNo", "webhookNo"));
	return new Map(lanes.map((lane) => [laneOf({ projectNo: lane.project_no, webhookNo: lane.webhook_no }), lane]));
}

/** Events that their lanes have passed, or whose webhook no longer has a lane. */
const passedBy = (lanes: Lanes, rows: readonly AttemptRow[]): AttemptRow[] =>
	rows.filter((row) => {
		const lane = lanes.get(laneOf(row));
		return lane === undefined || (row.attempt.seq <= lane.position && !lane.open.includes(row.attempt.seq));
	});

export const laneOf = ({ projectNo, webhookNo }: WebhookNumbers): string => `${projectNo}/${webhookNo}`;

async function inLog(c: Session, rows: readonly AttemptRow[]): Promise<Map<AttemptRow, string>> {
	if (rows.length === 0) return new Map();
	const oldest = oldestEvents(rows);
	const found = await c.rows<{ nth: number; id: string }>(
		FIND_LOGGED,
		numberArray([...rows.keys()]),
		...numberColumns(rows, "projectNo", "webhookNo"),
		...numberColumns(
			rows.map(({ attempt }) => attempt),
			...(["seq", "replay", "attempt"] as const),
		),
		...numberColumns(oldest, "projectNo", "seq"),
	);
	return new Map(found.map(({ nth, id }) => [rows[nth]!, id]));
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
