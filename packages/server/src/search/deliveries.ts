/**
 * The list of deliveries, derived from the delivery log: a series of attempts is shown as the last of them. So a
 * delivery costs nothing beyond its log entries.
 *
 * A series that ended has one entry that is `delivered` or `failed`, which an index finds. A series that
 * continues has only `retrying` entries: the last one counts, and the others are read and left out. If few deliveries
 * are pending, they are found from the queues instead.
 */
import { LOG_READS } from "../base/budgets.ts";
import {
	type AttemptFilter,
	type AttemptStatus,
	type AttemptSummary,
	type FollowedAttempt,
	fitsResponse,
	type LatestAttempt,
	type Storage,
	type WaitingRetry,
} from "../storage/port.ts";

export const DELIVERY_STATES = ["delivered", "waiting", "failed"] as const;
export type DeliveryStateName = (typeof DELIVERY_STATES)[number];

/** Conditions on a series' last attempt and on its state. */
export interface DeliveryFilter extends Omit<AttemptFilter, "statuses"> {
	readonly states: readonly DeliveryStateName[];
	/** Leaves out failed deliveries that were replayed or dismissed, those of test events and of deleted webhooks. */
	readonly unhandled: boolean;
	/** Only test events, or all others; null for both. */
	readonly tests: boolean | null;
}

export interface FoundDelivery {
	readonly webhookId: string;
	readonly seq: number;
	readonly eventId: string;
	readonly eventType: string;
	readonly replay: number;
	readonly state: DeliveryStateName;
	/** How many attempts of the series were made. */
	readonly attempts: number;
	/** Null before the first attempt of a replay or a test. */
	readonly last: AttemptSummary | null;
	/** When the next attempt is due, milliseconds since the Unix epoch. */
	readonly nextAt: number | null;
	/** Whether a failed delivery was replayed or dismissed; null if neither. */
	readonly handled: "replayed" | "dismissed" | null;
	/** Whether its webhook was deleted, so that a failed one can't be replayed. */
	readonly isClosed: boolean;
}

/** Newest first, by the last attempt. `next`: the attempt id to continue before, or null at the end. */
export interface DeliveryPage {
	readonly rows: readonly FoundDelivery[];
	readonly next: string | null;
}

interface Search {
	readonly limit: number;
	readonly before?: string | undefined;
	/** Whether the client has left, so that nothing more needs to be read. */
	readonly isGone?: (() => boolean) | undefined;
}

type SearchStorage = Pick<Storage, "listFollowedAttempts" | "listWaitingRetries" | "readLatest">;

/** Up to this many pending deliveries are listed from the queues. */
const FEW = 200;
/** Entries that a further step reads at least, and how much more than it seems to need. */
const SHORTEST_STEP = 10;
const MARGIN = 1.25;
const STATUS_OF = { delivered: "delivered", waiting: "retrying", failed: "failed" } as const satisfies Record<
	DeliveryStateName,
	AttemptStatus
>;

export async function listDeliveries(
	storage: SearchStorage,
	projectId: string,
	filter: DeliveryFilter,
	{ limit, before, isGone = () => false }: Search,
): Promise<DeliveryPage> {
	const few = readsQueues(filter) ? await listFewWaiting(storage, projectId, filter) : null;
	if (few !== null && filter.states.length === 1) return pageOf(few, limit, before);
	// Read before the log, so one that ends meanwhile is in both.
	const waiting = (few ?? []).filter(({ last }) => last !== null && (before === undefined || last.id < before));
	const ended = new Set<string>();
	const rows: FoundDelivery[] = [];
	const attempts = attemptsOf(filter, few !== null);
	let next: string | null | undefined = before;
	// Most entries are shown, so the first step reads what a page needs. Those of given events are all sorted each time.
	let step = isOfEvents(filter) ? Math.ceil(limit * MARGIN) : limit;
	for (let scanned = 0, found = 0; next !== null && scanned < LOG_READS.attemptsScanned && !isGone(); ) {
		const page = { limit: step, ...(next !== undefined && { before: next }) };
		const read = await storage.listFollowedAttempts({ projectId, filter: attempts, page });
		next = read.next;
		// Storage doesn't say how many it has scanned for a filter by response, so assume all that it may.
		scanned += Math.max(attempts.response?.maxScanned ?? 0, read.rows.length, 1);
		// Without those that don't match by now.
		const these = read.rows.map(deliveryOf).filter((row) => row !== null && fits(filter, row)) as FoundDelivery[];
		found += these.length;
		for (const row of these) ended.add(keyOf(row));
		const end = next;
		const passed = waiting.findIndex(({ last }) => end !== null && last!.id < end);
		const among = waiting.splice(0, passed === -1 ? waiting.length : passed);
		const fitting = [...these, ...among.filter((row) => !ended.has(keyOf(row)))].sort(newestFirst);
		for (const row of fitting) {
			rows.push(row);
			if (rows.length === limit && (row !== fitting.at(-1) || next !== null)) return { rows, next: row.last!.id };
		}
		step = nextStep(limit, limit - rows.length, found / scanned);
	}
	return { rows, next: next ?? null };
}

/**
 * Whether few pending deliveries are found from the queues: then the log's many entries of earlier attempts aren't read.
 * The few attempts of given events are read from the log.
 */
const readsQueues = (filter: DeliveryFilter): boolean =>
	filter.states.includes("waiting") && (filter.states.length === 1 || !isOfEvents(filter));

const isOfEvents = ({ eventId, seqs }: DeliveryFilter): boolean => eventId !== undefined || seqs !== undefined;

/** How many entries to read for the rest of a page, of which this share has been shown so far. */
function nextStep(limit: number, missing: number, share: number): number {
	const most = Math.max(limit, LOG_READS.attemptsPerStep);
	return Math.min(most, Math.max(SHORTEST_STEP, Math.ceil((missing / share) * MARGIN)));
}

/** The log entries that may be the last of a matching delivery; only of those that ended, if pending ones are known. */
function attemptsOf(
	{ states, unhandled: _, tests: __, ...filter }: DeliveryFilter,
	waitingKnown: boolean,
): AttemptFilter {
	const statuses = states.filter((state) => !waitingKnown || state !== "waiting").map((state) => STATUS_OF[state]);
	return { ...filter, ...(statuses.length < DELIVERY_STATES.length && { statuses }) };
}

/** The delivery whose last attempt this is; null if a later attempt of the same series was made. */
function deliveryOf({ isFollowed, dismissed, webhookDeleted, next, ...last }: FollowedAttempt): FoundDelivery | null {
	const { webhookId, seq, eventId, eventType, replay, attempt, status } = last;
	const of = { webhookId, seq, eventId, eventType, replay, attempts: attempt, last, isClosed: webhookDeleted };
	if (status === "delivered") return { ...of, state: "delivered", nextAt: null, handled: null };
	if (status === "failed") {
		const isReplayed = isFollowed || (next !== null && next.replay > replay);
		return { ...of, state: "failed", nextAt: null, handled: isReplayed ? "replayed" : dismissed ? "dismissed" : null };
	}
	if (isFollowed) return null;
	// Without a pending attempt it won't be retried: its webhook was deleted.
	if (next === null) return { ...of, state: "failed", nextAt: null, handled: null };
	return { ...of, state: "waiting", nextAt: next.dueAt, handled: null };
}

/** What needs a decision is what a webhook's dead letters count. */
const fits = (
	{ states, unhandled, tests }: DeliveryFilter,
	{ state, handled, isClosed, seq }: FoundDelivery,
): boolean =>
	states.includes(state) &&
	(tests === null || tests === seq < 0) &&
	!(unhandled && (handled !== null || isClosed || seq < 0));

/** All pending deliveries, newest first; null if there are more than {@link FEW}. */
async function listFewWaiting(
	storage: SearchStorage,
	projectId: string,
	filter: DeliveryFilter,
): Promise<FoundDelivery[] | null> {
	const ids = filter.webhookIds ?? [null];
	const waiting: WaitingRetry[] = [];
	for (const webhookId of ids) {
		waiting.push(...(await storage.listWaitingRetries({ projectId, webhookId, limit: FEW + 1 - waiting.length })));
		if (waiting.length > FEW) return null;
	}
	const deliveries = waiting.map(({ webhookId, seq }) => ({ webhookId, seq }));
	const latest = deliveries.length === 0 ? [] : await storage.readLatest({ projectId, deliveries });
	const found = waiting.map((retry, i) => waitingDelivery(retry, latest[i]!.newest));
	const { types, eventId, seqs, response, since = 0, until = Number.POSITIVE_INFINITY } = filter;
	const matching = found.filter(
		(one) =>
			fits(filter, one) &&
			types?.includes(one.eventType) !== false &&
			seqs?.includes(one.seq) !== false &&
			(eventId === undefined || one.eventId === eventId) &&
			(one.last === null || response === undefined || fitsResponse(response, one.last)) &&
			startOf(one) >= since &&
			startOf(one) < until,
	);
	return matching.sort(newestFirst);
}

function waitingDelivery(
	{ webhookId, seq, eventId, eventType, attempt, replay, dueAt }: WaitingRetry,
	newest: LatestAttempt["newest"],
): FoundDelivery {
	const last = newest === null || newest.replay !== replay ? null : { ...newest, eventId, eventType };
	const of = { webhookId, seq, eventId, eventType, replay, attempts: attempt - 1, last };
	return { ...of, state: "waiting", nextAt: dueAt, handled: null, isClosed: false };
}

/** A delivery without an attempt was just requested, so the time at which it is due counts. */
const startOf = ({ last, nextAt }: FoundDelivery): number => last?.startedAt ?? nextAt ?? 0;
/** Sorts after every attempt id. */
const UNATTEMPTED = "~";
const positionOf = ({ last }: FoundDelivery): string => last?.id ?? UNATTEMPTED;
const newestFirst = (a: FoundDelivery, b: FoundDelivery): number => (positionOf(a) < positionOf(b) ? 1 : -1);
const keyOf = ({ webhookId, seq, replay }: FoundDelivery): string => `${webhookId} ${seq} ${replay}`;

function pageOf(found: readonly FoundDelivery[], limit: number, before: string | undefined): DeliveryPage {
	const rest = before === undefined ? found : found.filter((one) => positionOf(one) < before);
	// Those without an attempt have no position to continue at, so they all come first, with at least one that has.
	const fresh = rest.filter(({ last }) => last === null).length;
	const rows = rest.slice(0, Math.max(limit, fresh === 0 ? 0 : fresh + 1));
	return { rows, next: rows.length < rest.length ? positionOf(rows.at(-1)!) : null };
}
