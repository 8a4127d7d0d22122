import { lowestSuffixAt } from "../../base/ids.ts";
import {
	type Attempt,
	type AttemptFilter,
	type AttemptStatus,
	type AttemptSummary,
	type CodeRange,
	type CountedPage,
	type Delivery,
	type FollowedAttempt,
	type HandedOver,
	type LaneState,
	type ListPage,
	type MatchingReplays,
	type NewAttempt,
	type QueueName,
	type ReadLimit,
	type Retry,
	StorageError,
	type WaitingRetry,
} from "../port.ts";
import { orderIdIn, textFinder, withinBytes } from "./bodies.ts";

/** How the delivery log stores statuses. */
export const STATUS_CODE = { delivered: 1, retrying: 2, failed: 3 } as const satisfies Record<AttemptStatus, number>;
export const STATUSES = ["delivered", "retrying", "failed"] as const satisfies readonly AttemptStatus[];

export function statusOf(code: unknown): AttemptStatus {
	const status = STATUSES[(code as number) - 1];
	if (status === undefined) throw new StorageError("unusable", `The delivery log holds an unknown status (${code}).`);
	return status;
}

/** How queues are stored. */
export const QUEUE_CODE = { retry: 0, replay: 1, requested: 2 } as const satisfies Record<QueueName, number>;
export const QUEUES = ["retry", "replay", "requested"] as const satisfies readonly QueueName[];
export const queueOf = (code: unknown): QueueName => QUEUES[code as number]!;

const ATTEMPT_PREFIX = "att_";

/** Attempt ids are stored without their prefix; what follows sorts by time. */
export const toStoredId = (id: string): string => id.slice(ATTEMPT_PREFIX.length);
export const toAttemptId = (stored: unknown): string => ATTEMPT_PREFIX + (stored as string);

/**
 * The stored statuses that attempts of this filter may have. Only a 2xx is delivered (engine/settle/lifecycle.ts), so a
 * search for errors never reads delivered attempts.
 */
export function statusesOf({ statuses, response }: Pick<AttemptFilter, "statuses" | "response">): number[] {
	const asked = statuses === undefined ? STATUSES : STATUSES.filter((each) => statuses.includes(each));
	const possible = asked.filter(
		(each) =>
			response === undefined ||
			response.codes.some((range) => admits(range, each)) ||
			(response.errors !== undefined && response.errors.length > 0 && each !== "delivered"),
	);
	return possible.map((each) => STATUS_CODE[each]);
}

const admits = ({ from, to }: CodeRange, status: AttemptStatus): boolean =>
	status === "delivered" ? from <= 299 && to >= 200 : from < 200 || to > 299;

/** A filter's conditions, except times. */
export type AttemptKind = Omit<AttemptFilter, "since" | "until">;

/** A range of the log by stored ids: from `from`, before `to`. */
export interface IdRange {
	readonly from: string;
	readonly to: string;
}

/** Sorts after every id. */
export const BEYOND_ALL_IDS = "~";

/** Ids contain their time, so bounds in time are bounds on stored ids: from `from`, before `to`. */
export function idRange({ since, until }: { since?: number | undefined; until?: number | undefined }): IdRange {
	return {
		from: since === undefined ? "" : lowestSuffixAt(since),
		to: until === undefined ? BEYOND_ALL_IDS : lowestSuffixAt(until),
	};
}

/** The part of a filter's range before this attempt id, if there is one. */
export function rangeBefore(filter: Pick<AttemptFilter, "since" | "until">, attemptId: string | null = null): IdRange {
	const { from, to } = idRange(filter);
	const before = attemptId === null ? to : toStoredId(attemptId);
	return { from, to: before < to ? before : to };
}

/** The attempts that a step of a replay scans. */
export function replayRange({ selection: { since, until }, at, after }: MatchingReplays): IdRange {
	const { from, to } = idRange({ since, until: Math.min(until ?? at, at) });
	// Sorts after this id and before every other.
	const next = after === undefined ? "" : `${toStoredId(after)} `;
	return { from: next > from ? next : from, to };
}

/** A row of the delivery log. Both engines name its columns alike. */
export type AttemptRow = Readonly<Record<string, unknown>>;

/** The columns of an entry in SQL, from `attempts a` and its event `e`. */
export const SUMMARY = `
	a.id, a.seq, a.webhook_no, a.type, a.attempt, a.replay, a.status, a.status_code, a.error_code, a.error, a.started_at,
	a.response_ms, a.next_retry_at, a.url, e.id AS event_id`;

/** What each engine looks up in its own way. */
export type AttemptNames = Pick<NewAttempt, "webhookId" | "eventType">;

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

/** An entry of the log as replays need it. */
export interface WalkedAttempt extends Pick<NewAttempt, "seq" | "replay" | "status" | "eventType" | "startedAt"> {
	/** As stored. */
	readonly id: string;
	/** The webhook's number. */
	readonly webhook: number;
}

export const walkedOf = (row: AttemptRow, eventType: string): WalkedAttempt => ({
	id: row.id as string,
	webhook: row.webhook_no as number,
	seq: row.seq as number,
	replay: row.replay as number,
	status: statusOf(row.status),
	eventType,
	startedAt: row.started_at as number,
});

/** Order ids by the numbers of their events: those that a page has read so far. */
export type OrderIds = Map<number, string | null>;

/** Null if the page doesn't show order ids. */
export const orderIdsFor = ({ orderIdBytes }: ListPage): OrderIds | null =>
	orderIdBytes === undefined ? null : new Map();

/** `order_body` is the text of the event's body, or null if it isn't to be read. */
function orderIdOf({ order_body: body }: AttemptRow, seq: number, orderIds: OrderIds): string | null {
	const known = orderIds.get(seq);
	if (known !== undefined) return known;
	const orderId = body === null ? null : orderIdIn(body as string);
	orderIds.set(seq, orderId);
	return orderId;
}

/**
 * An entry of the log with what has become of its delivery.
 *
 * @param dueAt of the pending attempt, on the node's clock; null if there is none
 */
export const followedOf = (
	summary: AttemptSummary,
	row: AttemptRow,
	orderIds: OrderIds | null,
	dueAt: number | null,
): FollowedAttempt => ({
	...summary,
	...(orderIds !== null && { orderId: orderIdOf(row, summary.seq, orderIds) }),
	isFollowed: Boolean(row.is_followed),
	dismissed: row.dismissed_at !== null,
	webhookDeleted: Boolean(row.webhook_deleted),
	next: dueAt === null ? null : { replay: row.next_replay as number, dueAt },
});

/** A row of the delivery log as a search in responses reads it. */
export interface ResponseRow {
	readonly id: string;
	readonly seq: number;
	readonly started_at: number;
	readonly response_body: Uint8Array;
}

/** Searches rows, newest first, as far as the limit allows. Those of test events never match. */
export function searchRows<R extends ResponseRow>(
	rows: readonly R[],
	text: string,
	{ maxEvents, maxBytes }: ReadLimit,
) {
	const find = textFinder(text);
	const searched = withinBytes(rows, maxBytes, ({ response_body }) => response_body.length);
	const matching = searched.flatMap((row) => {
		const match = row.seq < 0 ? null : find(row.response_body);
		return match === null ? [] : [{ row, match }];
	});
	const last = searched.at(-1);
	const isOver = searched.length === rows.length && rows.length < maxEvents;
	const next = last === undefined || isOver ? null : toAttemptId(last.id);
	return { matching, attempts: searched.length, reached: last?.started_at ?? null, next };
}

export const storedDetails = ({ details }: NewAttempt): string | null =>
	details === undefined ? null : JSON.stringify(details);

const SIGNATURE_BYTES = 32;

/** A request's signatures as they are stored, in hexadecimal: 32 bytes, and 32 more if it has one for Standard Webhooks. */
export function storedSignatures({ signature, standardSignature }: NonNullable<NewAttempt["sent"]>): string {
	if (standardSignature === undefined) return signature;
	return signature + Buffer.from(standardSignature, "base64").toString("hex");
}

function signaturesOf(stored: Uint8Array): { signature: string; standardSignature?: string } {
	const bytes = Buffer.from(stored);
	const signature = bytes.subarray(0, SIGNATURE_BYTES).toString("hex");
	if (bytes.length === SIGNATURE_BYTES) return { signature };
	return { signature, standardSignature: bytes.subarray(SIGNATURE_BYTES).toString("base64") };
}

/** An entry of the log with its bodies. */
export function attemptOf(row: AttemptRow, names: AttemptNames): Attempt {
	const signature = row.sent_signature as Uint8Array | null;
	const sent = signature && {
		brand: row.sent_brand as string,
		timestamp: row.sent_timestamp as number,
		...signaturesOf(signature),
	};
	return {
		...summaryOf(row, names),
		responseBody: row.response_body as Uint8Array,
		responseTruncated: Boolean(row.response_truncated),
		...(row.details !== null && { details: JSON.parse(row.details as string) }),
		sent,
		requestBody: row.request_body as Uint8Array,
	};
}

/** @param chosen the newest attempts of the deliveries that would be replayed, oldest first */
export function countedPage(
	chosen: readonly Pick<NewAttempt, "webhookId" | "eventType" | "startedAt">[],
	next: string | null,
): CountedPage {
	const groups = new Map<string, { webhookId: string; eventType: string; count: number }>();
	for (const { webhookId, eventType } of chosen) {
		const key = `${webhookId} ${eventType}`;
		const group = groups.get(key) ?? { webhookId, eventType, count: 0 };
		group.count++;
		groups.set(key, group);
	}
	const [oldestAt, newestAt] = [chosen[0]?.startedAt ?? null, chosen.at(-1)?.startedAt ?? null];
	return { count: chosen.length, next, groups: [...groups.values()], oldestAt, newestAt };
}

/** How many of a delivery's attempts are shown: the newest. */
export const MAX_DELIVERY_ATTEMPTS = 200;

/** What has become of a delivery. */
export type DeliveryProgress = Omit<Delivery, "attempts">;

/** @param nextRetryAt null if its first attempt is pending in the lane, or in flight */
export const attempting = (attempt: number, replay: number, nextRetryAt: number | null): DeliveryProgress => ({
	state: "attempting",
	attempt,
	replay,
	nextRetryAt,
	dismissed: false,
});

/** Nothing is pending. @param last the newest attempt */
export const ended = (
	{ attempt, replay, status }: Pick<NewAttempt, "attempt" | "replay" | "status">,
	dismissed: boolean,
): DeliveryProgress => ({
	state: status === "delivered" ? "delivered" : "dead_lettered",
	attempt,
	replay,
	nextRetryAt: null,
	dismissed,
});

/** The columns of a lane in SQL, from `webhooks w` and `lanes l`. `open` is as the engine stores it. */
export const LANE = `
	w.no, w.id AS "webhookId", w.url, w.status, w.max_in_flight AS "maxInFlight", w.sealed_digest AS "sealedDigest",
	CASE WHEN w.standard_webhooks THEN w.sealed_standard_digest END AS "sealedStandardDigest",
	l.position, l.open, l.skip_through AS "skipThrough"`;

/** A row with these columns. */
export interface LaneRow<Open> extends Omit<LaneState, "subscriptions" | "open"> {
	readonly no: number;
	readonly open: Open;
}

/** @param dueAt on the node's clock */
export const retryOf = (row: AttemptRow, webhookId: string, queue: QueueName, dueAt: number): Retry => ({
	webhookId,
	seq: row.seq as number,
	queue,
	replay: row.replay as number,
	attempt: row.attempt as number,
	dueAt,
});

/** A pending retry or replay, with its event. @param dueAt on the node's clock */
export const waitingOf = (row: AttemptRow, { webhookId, eventType }: AttemptNames, dueAt: number): WaitingRetry => ({
	...retryOf(row, webhookId, queueOf(row.queue), dueAt),
	eventId: row.event_id as string,
	eventType,
});

/** A former holder's attempt in flight. @param until on the node's clock */
export const handedOverOf = (row: AttemptRow, until: number): HandedOver => ({
	webhookId: row.id as string,
	seq: row.seq as number,
	replay: row.replay as number,
	queue: row.queue === null ? null : queueOf(row.queue),
	until,
});

/** Closing needs no request, so it is as fast as commits are. */
const CLOSED_AT_ONCE = 100;

/** The lane of a deleted webhook, at the end of the log. */
export function closingLane(webhookId: string, url: string, lastSeq: number): LaneState {
	return {
		webhookId,
		url,
		status: "deleted",
		maxInFlight: CLOSED_AT_ONCE,
		sealedDigest: new Uint8Array(0),
		subscriptions: new Map(),
		position: lastSeq,
		open: [],
		skipThrough: 0,
	};
}

/**
 * How many attempts of a type and status readers of health examine for one that counts: neither of a test event nor
 * closed without a request. Even a project that sends nothing but tests has the same bound.
 */
export const MAX_PASSED = 1_000;
