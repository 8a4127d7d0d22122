/** What has become of deliveries, and the marks of dismissed ones. */
import type { By } from "../port/accounts.ts";
import type { DeliveryKey, Retry } from "../port/delivery.ts";
import type { Delivery, LatestAttempt } from "../port/history.ts";
import type { LogEvent } from "../port/log.ts";
import type { ProjectRef } from "../port/registry.ts";
import {
	type AttemptRow,
	attempting,
	attemptOf,
	type DeliveryProgress,
	ended,
	MAX_DELIVERY_ATTEMPTS,
	STATUS_CODE,
	statusOf,
	summaryOf,
} from "../shared/deliveries.ts";
import { mayStill } from "./members.ts";
import { Fragment, greatest, joinByKey, ofProject, type Query, rowsOf, sql } from "./sql.ts";
import { findWebhook, holdProject, type Part, row, rows, type Steps, together, toNodeTime } from "./verb.ts";

type Next = Pick<Retry, "attempt" | "replay" | "dueAt">;

/** As a range with its order, so that PostgreSQL takes the primary key without statistics, too. */
export const nextOf = (project: number, webhook: number, seq: number): Query<Next> => sql`
	SELECT attempt, replay, due_at AS "dueAt" FROM posthorn.retries
	WHERE project_no = ${project} AND (seq, webhook_no) >= (${seq}, ${webhook})
		AND (seq, webhook_no) <= (${seq}, ${webhook})
	ORDER BY seq, webhook_no LIMIT 1`;

/** Deliveries as rows `g`: the project's number, the webhook's, the event's, and that of a replay. */
export const given = rowsOf("no", "webhook", "seq", "replay");

/** Joins the newest attempt `a` and the pending one `r` of each, or nulls: a step in an index for each. */
const THEIR_LATEST = new Fragment({
	postgres: `
		LEFT JOIN LATERAL (
			SELECT * FROM posthorn.attempts WHERE project_no = g.no AND seq = g.seq AND webhook_no = g.webhook
			ORDER BY replay DESC, attempt DESC LIMIT 1
		) a ON true
		LEFT JOIN LATERAL (
			SELECT attempt, replay, due_at FROM posthorn.retries
			WHERE project_no = g.no AND (seq, webhook_no) BETWEEN (g.seq, g.webhook) AND (g.seq, g.webhook)
			ORDER BY seq, webhook_no LIMIT 1
		) r ON true`,
	sqlite: `
		LEFT JOIN attempts a ON a.no = (
			SELECT no FROM attempts WHERE project_no = g.no AND seq = g.seq AND webhook_no = g.webhook
			ORDER BY replay DESC, attempt DESC LIMIT 1
		)
		LEFT JOIN retries r ON r.project_no = g.no AND r.seq = g.seq AND r.webhook_no = g.webhook`,
});

interface Latest extends AttemptRow {
	readonly given_seq: number;
	readonly given_webhook: number;
	readonly dismissed_at: number | null;
	/** Null if none is pending. */
	readonly next_attempt: number | null;
	readonly next_replay: number;
	readonly next_due_at: number;
}

export const latestOf = (deliveries: readonly object[]): Query<Latest> => sql`
	SELECT g.seq AS given_seq, g.webhook AS given_webhook, a.id, a.seq, a.attempt, a.replay, a.status, a.status_code,
		a.error_code, a.error, a.started_at, a.response_ms, a.next_retry_at, a.url, a.dismissed_at,
		r.attempt AS next_attempt, r.replay AS next_replay, r.due_at AS next_due_at
	FROM ${given(deliveries)} ${THEIR_LATEST}`;

function newestAttemptOf(row: AttemptRow, webhookId: string): LatestAttempt["newest"] {
	const { eventId: _, eventType: __, ...newest } = summaryOf(row, { webhookId, eventType: "" });
	return newest;
}

/** The result for a delivery that doesn't exist. */
export const NO_ATTEMPT: LatestAttempt = { newest: null, dismissed: false, next: null };

interface DeliveryRef {
	readonly webhookId: string;
	readonly seq: number;
}

/** For each of these deliveries, in the same order. */
export function* readLatest(
	project: number,
	{ deliveries }: { readonly deliveries: readonly DeliveryRef[] },
): Steps<LatestAttempt[]> {
	const numbers = new Map<string, number | null>();
	for (const { webhookId } of deliveries)
		if (!numbers.has(webhookId)) numbers.set(webhookId, yield* findWebhook(project, webhookId));
	const asked = deliveries.map(({ webhookId, seq }) => ({ no: project, webhook: numbers.get(webhookId) ?? null, seq }));
	const known = asked.filter(({ webhook }) => webhook !== null);
	const found = known.length === 0 ? [] : yield* rows(latestOf(known));
	const byDelivery = new Map(found.map((row) => [`${row.given_webhook} ${row.given_seq}`, row]));
	const latest: LatestAttempt[] = [];
	for (const [i, { webhook, seq }] of asked.entries()) {
		const row = byDelivery.get(`${webhook} ${seq}`);
		if (row === undefined) {
			latest.push(NO_ATTEMPT);
			continue;
		}
		const { next_attempt: attempt, next_replay: replay, next_due_at: dueAt } = row;
		latest.push({
			newest: row.id === null ? null : newestAttemptOf(row, deliveries[i]!.webhookId),
			dismissed: row.dismissed_at !== null,
			next: attempt === null ? null : { attempt, replay, dueAt: yield* toNodeTime(dueAt) },
		});
	}
	return latest;
}

/**
 * The event with the id `g.id`. On PostgreSQL, as a range with its order: for equality, it may take another index and read
 * all events of the project if it expects few.
 */
const ITS_EVENT = new Fragment({
	postgres: `CROSS JOIN LATERAL (
		SELECT * FROM posthorn.events WHERE project_no = g.no AND id BETWEEN g.id AND g.id ORDER BY id LIMIT 1
	) e`,
	sqlite: "CROSS JOIN events e ON e.project_no = g.no AND e.id = g.id",
});

/** The events of these deliveries, in this order. They never change, so no one has to hold the project. */
export function* findEvents(
	project: number,
	deliveries: readonly DeliveryKey[],
): Steps<({ readonly seq: number; readonly type: number } | undefined)[]> {
	const ids = [...new Set(deliveries.map(({ eventId }) => eventId))];
	const found = yield* together(
		...ids.map(
			(id) => sql<{ seq: number; type: number }>`
				SELECT e.seq, e.type FROM (SELECT CAST(${project} AS bigint) AS no, CAST(${id} AS text) AS id) g ${ITS_EVENT}`,
		),
	);
	const events = new Map(ids.map((id, i) => [id, found[i]?.[0]]));
	return deliveries.map(({ eventId }) => events.get(eventId));
}

const forgetDeadLetter = (project: number, webhook: number): Query => sql`
	UPDATE posthorn.lanes SET dead_letters = ${greatest}(0, dead_letters - 1)
	WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`;

interface Dismissible {
	readonly webhook: number;
	readonly seq: number;
	readonly type: number;
}

/** Whether a dead letter was dismissed by this call, or by an earlier one; null if it isn't a dead letter. */
export type Dismissal = "dismissed" | "already_dismissed" | null;

/**
 * Marks dead letters as needing no decision: they no longer count, and replays by filter leave them out. Returns what
 * became of each; null if `by` has lost access, too. One transaction.
 */
export function* dismissDeliveries(
	project: number,
	{ deliveries, at, by }: By & { readonly deliveries: readonly DeliveryKey[]; readonly at: number },
): Steps<Dismissal[]> {
	const events = yield* findEvents(project, deliveries);
	// By key, so that one that is named twice is dismissed once.
	const known = new Map<string, Dismissible>();
	const keys: string[] = [];
	for (const [i, { webhookId }] of deliveries.entries()) {
		const webhook = yield* findWebhook(project, webhookId);
		const event = events[i];
		const key = `${webhook} ${event?.seq}`;
		keys.push(key);
		if (webhook !== null && event !== undefined) known.set(key, { webhook, ...event });
	}
	if (known.size === 0) return deliveries.map(() => null);
	yield* together(holdProject(project));
	if (!(yield* mayStill(project, by))) return deliveries.map(() => null);
	const asked = Array.from(known.values(), ({ webhook, seq }) => ({ no: project, webhook, seq }));
	const changes: Part[] = [];
	const dismissed = new Map<string, Dismissal>();
	for (const last of yield* rows(latestOf(asked))) {
		if (last.id === null || last.next_attempt !== null || statusOf(last.status) !== "failed") continue;
		const key = `${last.given_webhook} ${last.given_seq}`;
		dismissed.set(key, last.dismissed_at === null ? "dismissed" : "already_dismissed");
		if (last.dismissed_at !== null) continue;
		const { webhook, seq, type } = known.get(key)!;
		changes.push(
			// Names all columns of one of the log's indexes. Otherwise PostgreSQL may choose another index.
			sql`
				UPDATE posthorn.attempts SET dismissed_at = ${at}
				WHERE project_no = ${project} AND webhook_no = ${webhook} AND status = ${STATUS_CODE.failed} AND type = ${type}
					AND id = ${last.id as string}`,
			// Failed tests don't count.
			...(seq > 0 ? [forgetDeadLetter(project, webhook)] : []),
		);
	}
	if (changes.length > 0) yield* together(...changes);
	return keys.map((key) => dismissed.get(key) ?? null);
}

export type DeliveryOf = ProjectRef & DeliveryKey;

/** An event with its type's code. */
interface EventRow extends LogEvent {
	readonly code: number;
}

const ITS_TYPE = joinByKey("event_types t", "t.code = e.type");

export const eventOf = (project: number, eventId: string): Query<EventRow> => sql`
	SELECT e.seq, e.id, e.type AS code, t.name AS type, e.created_at AS "createdAt", e.published_at AS "publishedAt", e.body
	FROM (SELECT CAST(${project} AS bigint) AS no, CAST(${eventId} AS text) AS id) g ${ITS_EVENT} ${ITS_TYPE}`;

/** An event or test event by its id, or null. */
export function* findEvent(project: number, { eventId }: { readonly eventId: string }): Steps<LogEvent | null> {
	const found = yield* row(eventOf(project, eventId));
	if (found === undefined) return null;
	const { code: _, ...event } = found;
	return event;
}

interface LaneRow {
	readonly position: number;
	readonly open: readonly number[] | null;
	/** The `seq` that the subscription to the event's type starts after; null without one. */
	readonly wantedAfter: number | null;
}

const laneOf = (project: number, webhook: number, type: number): Query<LaneRow> => sql`
	SELECT l.position, l.open, (
		SELECT from_seq FROM posthorn.subscriptions WHERE ${ofProject} ${project} AND webhook_no = ${webhook} AND type = ${type}
	) AS "wantedAfter"
	FROM posthorn.lanes l WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`;

/** Names its columns: a prepared `SELECT *` fails once a newer release has added a column. */
const newestOf = (project: number, webhook: number, seq: number, limit: number): Query<AttemptRow> => sql`
	SELECT id, seq, attempt, replay, status, status_code, error_code, error, started_at, response_ms, next_retry_at, url,
		dismissed_at, sent_brand, sent_timestamp, sent_signature, response_body, response_truncated, details
	FROM posthorn.attempts WHERE project_no = ${project} AND seq = ${seq} AND webhook_no = ${webhook}
	ORDER BY replay DESC, attempt DESC LIMIT ${limit}`;

interface Found {
	readonly progress: DeliveryProgress;
	/** Newest first. */
	readonly attempts: readonly AttemptRow[];
}

/**
 * A delivery with up to `limit` of its attempts, at least one. Null if the event was never sent or due to this webhook, or
 * if the webhook is deleted.
 */
export function* findDelivery(
	project: number,
	webhook: number,
	{ seq, code }: EventRow,
	limit: number,
): Steps<Found | null> {
	const [[lane], [next], attempts] = yield* together(
		laneOf(project, webhook, code),
		nextOf(project, webhook, seq),
		newestOf(project, webhook, seq, limit),
	);
	// A deleted webhook has no lane.
	if (lane === undefined) return null;
	const [newest] = attempts;
	if (next !== undefined) {
		const { attempt, replay, dueAt } = next;
		return { progress: attempting(attempt, replay, yield* toNodeTime(dueAt)), attempts };
	}
	if (newest !== undefined) {
		const [attempt, replay, status] = [newest.attempt as number, newest.replay as number, statusOf(newest.status)];
		return { progress: ended({ attempt, replay, status }, newest.dismissed_at !== null), attempts };
	}
	const isOpen = seq > lane.position || (lane.open ?? []).includes(seq);
	const isWanted = lane.wantedAfter !== null && seq > lane.wantedAfter;
	return isOpen && isWanted ? { progress: attempting(1, 0, null), attempts } : null;
}

/** A delivery with its event, or null if this webhook never had a delivery of the event. */
export function* getDelivery(project: number, { webhookId, eventId }: DeliveryOf): Steps<Delivery | null> {
	const webhook = yield* findWebhook(project, webhookId);
	if (webhook === null) return null;
	const event = yield* row(eventOf(project, eventId));
	if (event === undefined) return null;
	const found = yield* findDelivery(project, webhook, event, MAX_DELIVERY_ATTEMPTS);
	if (found === null) return null;
	const names = { webhookId, eventType: event.type };
	const attempts = found.attempts.map((each) =>
		attemptOf({ ...each, event_id: eventId, request_body: event.body }, names),
	);
	return { ...found.progress, attempts: attempts.reverse() };
}
