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
	/** Leaves out failed deliveries that were replayed or dismissed, and those of test events. */
	readonly unhandled: boolean;
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

type SearchStorage = Pick<Storage, "listAttemptSummaries" | "listWaitingRetries" | "readLatest">;

/** Up to this many pending deliveries are listed from the queues. */
const FEW = 200;
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
	const isOnlyWaiting = filter.states.length === 1 && filter.states[0] === "waiting";
	if (isOnlyWaiting) {
		const few = await listFewWaiting(storage, projectId, filter);
		if (few !== null) return pageOf(few, limit, before);
	}
	const rows: FoundDelivery[] = [];
	const attempts = attemptsOf(filter);
	let next: string | null | undefined = before;
	// Most entries are shown, so the first step reads what a page needs. If many are left out, the others read more.
	let step = limit;
	for (let scanned = 0; next !== null && scanned < LOG_READS.attemptsScanned && !isGone(); ) {
		const page = { limit: step, ...(next !== undefined && { before: next }) };
		const read = await storage.listAttemptSummaries({ projectId, filter: attempts, page });
		next = read.next;
		// Storage doesn't say how many it has scanned for a filter by response, so assume all that it may.
		scanned += Math.max(attempts.response?.maxScanned ?? 0, read.rows.length, 1);
		step = Math.max(limit, LOG_READS.attemptsPerStep);
		const found = await resolve(storage, projectId, filter, read.rows);
		for (const row of found) {
			rows.push(row);
			if (rows.length === limit && (row !== found.at(-1) || next !== null)) return { rows, next: row.last!.id };
		}
	}
	return { rows, next: next ?? null };
}

/** The log entries that may be the last of a matching delivery. */
function attemptsOf({ states, unhandled: _, ...filter }: DeliveryFilter): AttemptFilter {
	const statuses = states.map((state) => STATUS_OF[state]);
	return { ...filter, ...(statuses.length < DELIVERY_STATES.length && { statuses }) };
}

/** The deliveries whose last attempts these are, without those that don't match by now. */
async function resolve(
	storage: SearchStorage,
	projectId: string,
	filter: DeliveryFilter,
	rows: readonly AttemptSummary[],
): Promise<FoundDelivery[]> {
	const open = rows.filter(({ status }) => status !== "delivered");
	const deliveries = open.map(({ webhookId, seq }) => ({ webhookId, seq }));
	const latest = deliveries.length === 0 ? [] : await storage.readLatest({ projectId, deliveries });
	const byRow = new Map(open.map((row, i) => [row.id, latest[i]!]));
	return rows.flatMap((row) => {
		const found = deliveryOf(row, byRow.get(row.id) ?? null);
		return found !== null && fits(filter, found) ? [found] : [];
	});
}

/** Null if a later attempt of the same series was made. */
function deliveryOf(last: AttemptSummary, latest: LatestAttempt | null): FoundDelivery | null {
	const { webhookId, seq, eventId, eventType, replay, attempt, status } = last;
	const of = { webhookId, seq, eventId, eventType, replay, attempts: attempt, last };
	if (status === "delivered") return { ...of, state: "delivered", nextAt: null, handled: null };
	const isNewest = latest?.newest?.id === last.id;
	const next = latest?.next ?? null;
	if (status === "failed") {
		const isReplayed = !isNewest || (next !== null && next.replay > replay);
		const handled = isReplayed ? "replayed" : latest?.dismissed ? "dismissed" : null;
		return { ...of, state: "failed", nextAt: null, handled };
	}
	if (!isNewest) return null;
	// Without a pending attempt it won't be retried: its webhook was deleted.
	if (next === null) return { ...of, state: "failed", nextAt: null, handled: null };
	return { ...of, state: "waiting", nextAt: next.dueAt, handled: null };
}

/** Failed tests need no decision. */
const fits = ({ states, unhandled }: DeliveryFilter, { state, handled, seq }: FoundDelivery): boolean =>
	states.includes(state) && !(unhandled && (handled !== null || seq < 0));

/** All that wait, newest first; null if there are more than {@link FEW}. */
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
			types?.includes(one.eventType) !== false &&
			seqs?.includes(one.seq) !== false &&
			(eventId === undefined || one.eventId === eventId) &&
			(one.last === null || response === undefined || fitsResponse(response, one.last)) &&
			startOf(one) >= since &&
			startOf(one) < until,
	);
	return matching.sort((a, b) => (positionOf(a) < positionOf(b) ? 1 : -1));
}

function waitingDelivery(
	{ webhookId, seq, eventId, eventType, attempt, replay, dueAt }: WaitingRetry,
	newest: LatestAttempt["newest"],
): FoundDelivery {
	const last = newest === null || newest.replay !== replay ? null : { ...newest, eventId, eventType };
	const of = { webhookId, seq, eventId, eventType, replay, attempts: attempt - 1, last };
	return { ...of, state: "waiting", nextAt: dueAt, handled: null };
}

/** Deliveries without an attempt were only now requested. */
const startOf = ({ last, nextAt }: FoundDelivery): number => last?.startedAt ?? nextAt ?? 0;
/** Sorts after every attempt id. */
const UNATTEMPTED = "~";
const positionOf = ({ last }: FoundDelivery): string => last?.id ?? UNATTEMPTED;

function pageOf(found: readonly FoundDelivery[], limit: number, before: string | undefined): DeliveryPage {
	const rest = before === undefined ? found : found.filter((one) => positionOf(one) < before);
	// Those without an attempt have no position to continue at, so they all come first, with at least one that has.
	const fresh = rest.filter(({ last }) => last === null).length;
	const rows = rest.slice(0, Math.max(limit, fresh === 0 ? 0 : fresh + 1));
	return { rows, next: rows.length < rest.length ? positionOf(rows.at(-1)!) : null };
}
