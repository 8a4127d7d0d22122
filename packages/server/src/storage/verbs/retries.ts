/** Pending attempts that users make early or cancel. The attempt keeps its number and its queue. */
import type { By } from "../port/accounts.ts";
import type { CancelTestResult, DeliveryKey, RetryNowResult, RetryPosition } from "../port/delivery.ts";
import type { WaitingRetry } from "../port/history.ts";
import { cancelledMark } from "../port/log.ts";
import type { ProjectRef, WebhookRef } from "../port/registry.ts";
import { QUEUE_CODE, QUEUES, queueOf } from "../shared/deliveries.ts";
import { findEvents, nextOf } from "./deliveries.ts";
import { mayStill } from "./members.ts";
import { holdWebhook, undeleted } from "./registry.ts";
import { describeEvents } from "./search.ts";
import { Fragment, fragment, only, type Query, sql } from "./sql.ts";
import { findWebhook, holdProject, row, rows, type Steps, toDatabaseTime, together, toNodeTime, wake } from "./verb.ts";

const RETRIES = fragment(String(QUEUE_CODE.retry));

interface Known {
	readonly webhook: number;
	readonly seq: number;
}

/**
 * Begins the condition of a statement that changes one row of this table, for a caller that holds the project: an update
 * by another transaction would move the row. PostgreSQL finds it in the order of the primary key: otherwise it may read all
 * rows of a project if it expects few.
 */
const oneOf = (table: string) => only(`ctid = ANY (ARRAY(SELECT ctid FROM posthorn.${table} WHERE `);
const ONE_RETRY = oneOf("retries");
const END_ONE_RETRY = only(" ORDER BY seq, webhook_no LIMIT 1))");
const ONE_EVENT = oneOf("events");
const END_ONE_EVENT = only(" ORDER BY seq LIMIT 1))");

const moveRetry = (project: number, webhook: number, seq: number, dueAt: number): Query => sql`
	UPDATE posthorn.retries SET due_at = ${dueAt}
	WHERE ${ONE_RETRY}project_no = ${project} AND (seq, webhook_no) >= (${seq}, ${webhook})
		AND (seq, webhook_no) <= (${seq}, ${webhook})${END_ONE_RETRY}`;

export const NOTHING_WAITS = { kind: "nothing_waits" } as const;

/**
 * Makes the pending attempts of these deliveries due at `at`, unless they were due before. One transaction. Nothing waits
 * if `by` has no access anymore.
 */
export function* retryDeliveries(
	project: number,
	{ deliveries, at, by }: By & { readonly deliveries: readonly DeliveryKey[]; readonly at: number },
): Steps<RetryNowResult[]> {
	const events = yield* findEvents(project, deliveries);
	const webhookIds = [...new Set(deliveries.map(({ webhookId }) => webhookId))];
	const [, ...webhooks] = yield* together(
		holdProject(project),
		...webhookIds.map((webhookId) => undeleted(project, webhookId)),
	);
	if (!(yield* mayStill(project, by))) return deliveries.map(() => NOTHING_WAITS);
	const numbers = new Map(webhookIds.map((id, i) => [id, webhooks[i]?.[0]?.no]));
	const dueAt = yield* toDatabaseTime(at);
	const asked = deliveries.map(({ webhookId }, i) => ({ webhook: numbers.get(webhookId), seq: events[i]?.seq }));
	const known = asked.filter((one): one is Known => one.webhook !== undefined && one.seq !== undefined);
	const waiting = yield* together(...known.map(({ webhook, seq }) => nextOf(project, webhook, seq)));
	const retries = new Map(known.map((one, i) => [one, waiting[i]?.[0]]));
	// One that is already due may be in flight, and stays as it is.
	const moved = known.filter((one) => (retries.get(one)?.dueAt ?? dueAt) > dueAt);
	if (moved.length > 0)
		yield* together(...moved.map(({ webhook, seq }) => moveRetry(project, webhook, seq, dueAt)), wake(project));
	return asked.map((one) => {
		const retry = retries.get(one as Known);
		return retry === undefined ? NOTHING_WAITS : { kind: "queued", attempt: retry.attempt, replay: retry.replay };
	});
}

/** Webhooks whose queues one call reads. */
const WEBHOOKS_AT_A_TIME = 20;
/** Pending attempts of the other queues are the first of their series. */
const AFTER_RETRIES = { queue: QUEUE_CODE.retry, dueAt: Number.MAX_SAFE_INTEGER, seq: 0 };

/** A position in a webhook's queues, with times as stored; by the number if the webhook is done. */
interface QueuedPosition extends RetryPosition {
	readonly queue: number;
}

const AFTER_ALL: QueuedPosition = { queue: QUEUES.length, dueAt: 0, seq: 0 };

const positionText = (webhookId: string, { queue, dueAt, seq }: QueuedPosition): string =>
	[webhookId, queue, dueAt, seq].join(" ");

function positionOf(text: string): { readonly webhookId: string; readonly position: QueuedPosition } {
	const [webhookId = "", queue, dueAt, seq] = text.split(" ");
	return { webhookId, position: { queue: Number(queue), dueAt: Number(dueAt), seq: Number(seq) } };
}

interface Queued extends QueuedPosition {
	readonly attempt: number;
	readonly replay: number;
}

interface QueuedOfWebhook extends Queued {
	readonly webhookId: string;
}

/** Only if something waits there. */
const ITS_LANE = new Fragment({
	postgres: `CROSS JOIN LATERAL (
		SELECT FROM posthorn.lanes WHERE project_no = w.project_no AND webhook_no = w.no AND retries_waiting > 0 OFFSET 0
	) l`,
	sqlite: "CROSS JOIN lanes l ON l.webhook_no = w.no AND l.retries_waiting > 0",
});

interface UnattemptedOptions extends ProjectRef {
	/** All of the project by default. */
	readonly webhookIds?: readonly string[] | undefined;
	readonly limit: number;
	/** The `next` of the previous page. */
	readonly after?: string | undefined;
}

/**
 * Replays and test events that wait for the first attempt of their series, webhook by webhook. A page may have fewer rows
 * than requested, or none, and still not be the last. `next` is a position that isn't meant to be read; null on the last.
 */
export function* listUnattempted(
	project: number,
	{ webhookIds, limit, after = "" }: UnattemptedOptions,
): Steps<{ readonly rows: readonly WaitingRetry[]; readonly next: string | null }> {
	const from = positionOf(after);
	const webhooks = yield* waitingWebhooks(project, webhookIds, from.webhookId);
	const found: QueuedOfWebhook[] = [];
	for (const { no, id } of webhooks) {
		const start = id === from.webhookId ? from.position : AFTER_RETRIES;
		const queued = yield* rows<Queued>(sql`
			SELECT queue, due_at AS "dueAt", seq, attempt, replay FROM posthorn.retries
			WHERE project_no = ${project} AND webhook_no = ${no}
				AND (queue, due_at, seq) > (${start.queue}, ${start.dueAt}, ${start.seq})
			ORDER BY queue, due_at, seq LIMIT ${limit - found.length}`);
		found.push(...queued.map((one) => ({ ...one, webhookId: id })));
		if (found.length === limit) break;
	}
	return { rows: yield* described(project, found), next: nextPosition(webhooks, found, limit) };
}

/** Where the page after these rows begins; null if there is none. */
function nextPosition(
	webhooks: readonly KnownWebhook[],
	found: readonly QueuedOfWebhook[],
	limit: number,
): string | null {
	const [last, lastWebhook] = [found.at(-1), webhooks.at(-1)];
	if (found.length === limit && last !== undefined) return positionText(last.webhookId, last);
	if (webhooks.length < WEBHOOKS_AT_A_TIME || lastWebhook === undefined) return null;
	return positionText(lastWebhook.id, AFTER_ALL);
}

interface KnownWebhook {
	readonly no: number;
	readonly id: string;
}

/** The next webhooks from this id on that something waits for: all of the project, or the ones that are named. */
function* waitingWebhooks(
	project: number,
	webhookIds: readonly string[] | undefined,
	from: string,
): Steps<readonly KnownWebhook[]> {
	if (webhookIds === undefined)
		return yield* rows<KnownWebhook>(sql`
			SELECT w.no, w.id FROM posthorn.webhooks w ${ITS_LANE}
			WHERE w.project_no = ${project} AND w.id >= ${from} AND w.deleted_at IS NULL
			ORDER BY w.id LIMIT ${WEBHOOKS_AT_A_TIME}`);
	const ids = [...new Set(webhookIds)].sort().filter((id) => id >= from);
	const found = yield* together(...ids.slice(0, WEBHOOKS_AT_A_TIME).map((id) => undeleted(project, id)));
	return found.flat();
}

function* described(project: number, queued: readonly QueuedOfWebhook[]): Steps<WaitingRetry[]> {
	const seqs = [...new Set(queued.map(({ seq }) => seq))];
	const events = new Map((yield* describeEvents(project, { seqs })).map((event) => [event.seq, event]));
	const waiting: WaitingRetry[] = [];
	for (const { webhookId, seq, queue, attempt, replay, dueAt } of queued) {
		const event = events.get(seq);
		// Its delivery may have ended since, and retention may have deleted it.
		if (event === undefined) continue;
		waiting.push({
			webhookId,
			seq,
			eventId: event.id,
			eventType: event.type,
			queue: queueOf(queue),
			attempt,
			replay,
			dueAt: yield* toNodeTime(dueAt),
		});
	}
	return waiting;
}

/** Cancelled attempts have been due since 1970, so their lane closes them immediately, even while it is paused. */
const CANCELLED_DUE = 0;

/** Cancels the pending attempts of a test event's current series, unless they were cancelled before. */
export function* cancelTest(
	project: number,
	p: WebhookRef & By & { readonly eventId: string },
): Steps<CancelTestResult> {
	const found = yield* holdWebhook(project, p);
	if (found === null) return "nothing_waits";
	const { webhook } = found;
	const [event] = yield* findEvents(project, [p]);
	if (event === undefined) return "nothing_waits";
	const { seq } = event;
	if (seq > 0) return "not_a_test";
	const retry = yield* row(nextOf(project, webhook, seq));
	// Another call may have cancelled it before.
	if (retry === undefined || retry.dueAt === CANCELLED_DUE) return "nothing_waits";
	yield* together(
		sql`
			UPDATE posthorn.events SET published_at = ${cancelledMark(retry.replay)}
			WHERE ${ONE_EVENT}project_no = ${project} AND seq >= ${seq} AND seq <= ${seq}${END_ONE_EVENT}`,
		moveRetry(project, webhook, seq, CANCELLED_DUE),
		wake(project),
	);
	return "cancelled";
}

interface SomeRetries extends WebhookRef {
	readonly at: number;
	readonly limit: number;
	/** The `next` of the previous call. */
	readonly after?: RetryPosition | undefined;
}

/**
 * Makes a webhook's retries due at `at`, soonest first, up to `limit` per call (a short transaction). Those that fail
 * again meanwhile may come after the others: see {@link countRetries}. Returns the events whose retries are due now and
 * weren't before, and where to continue, or null at the end.
 */
export function* retryWaiting(
	project: number,
	p: SomeRetries & By,
): Steps<{ readonly seqs: readonly number[]; readonly next: RetryPosition | null }> {
	const found = yield* holdWebhook(project, p);
	if (found === null) return { seqs: [], next: null };
	const { webhook } = found;
	const dueAt = yield* toDatabaseTime(p.at);
	const from = p.after ?? { dueAt, seq: Number.MAX_SAFE_INTEGER };
	const waiting = yield* rows<RetryPosition>(sql`
		SELECT due_at AS "dueAt", seq FROM posthorn.retries
		WHERE project_no = ${project} AND webhook_no = ${webhook} AND queue = ${RETRIES}
			AND (due_at, seq) > (${from.dueAt}, ${from.seq})
		ORDER BY due_at, seq LIMIT ${p.limit}`);
	const seqs = waiting.map(({ seq }) => seq);
	if (seqs.length > 0) yield* together(...seqs.map((seq) => moveRetry(project, webhook, seq, dueAt)), wake(project));
	const last = waiting.at(-1);
	return { seqs, next: last === undefined || waiting.length < p.limit ? null : last };
}

/**
 * Counts a webhook's retries that are due later than `at`, up to `limit` per call: as many as {@link retryWaiting} should
 * make early. `next` as there.
 */
export function* countRetries(
	project: number,
	p: SomeRetries,
): Steps<{ readonly count: number; readonly next: RetryPosition | null }> {
	const webhook = yield* findWebhook(project, p.webhookId);
	if (webhook === null) return { count: 0, next: null };
	const from = p.after ?? { dueAt: yield* toDatabaseTime(p.at), seq: Number.MAX_SAFE_INTEGER };
	const last = yield* row<RetryPosition>(sql`
		SELECT due_at AS "dueAt", seq FROM posthorn.retries
		WHERE project_no = ${project} AND webhook_no = ${webhook} AND queue = ${RETRIES}
			AND (due_at, seq) > (${from.dueAt}, ${from.seq})
		ORDER BY due_at, seq LIMIT 1 OFFSET ${p.limit - 1}`);
	if (last !== undefined) return { count: p.limit, next: last };
	const rest = yield* row<{ count: number }>(sql`
		SELECT count(*) AS count FROM posthorn.retries
		WHERE project_no = ${project} AND webhook_no = ${webhook} AND queue = ${RETRIES}
			AND (due_at, seq) > (${from.dueAt}, ${from.seq})`);
	return { count: rest!.count, next: null };
}
