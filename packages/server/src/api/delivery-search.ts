/**
 * The list of deliveries, derived from the delivery log: a series of attempts is shown as the last of them. So a
 * delivery costs nothing beyond its log entries.
 *
 * A series that ended has one entry that is `delivered` or `failed`, which an index finds. A series that
 * continues has only `retrying` entries: the last one counts, and the others are read and left out. If few deliveries
 * are pending, they are found from the queues instead.
 */
import { LOG_READS } from "../base/budgets.ts";
import type {
	AttemptFilter,
	AttemptStatus,
	AttemptSummary,
	CodeRange,
	LatestAttempt,
	Storage,
	WaitingRetry,
} from "../storage/port.ts";

export const DELIVERY_STATES = ["delivered", "waiting", "failed"] as const;
export type DeliveryStateName = (typeof DELIVERY_STATES)[number];

/** Values of one list are alternatives; lists combine. An empty list matches any value. */
export interface DeliveryFilter {
	readonly webhookIds: readonly string[];
	readonly types: readonly string[];
	readonly states: readonly DeliveryStateName[];
	/** Status codes or error codes of the last attempt: one of either matches. */
	readonly codes: readonly CodeRange[];
	readonly errors: readonly string[];
	readonly eventId?: string | undefined;
	readonly since?: number | undefined;
	readonly until?: number | undefined;
	/** Leaves out failed deliveries that were replayed or dismissed. */
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
	{ limit, before }: { readonly limit: number; readonly before?: string | undefined },
): Promise<DeliveryPage> {
	const isOnlyWaiting = filter.states.length === 1 && filter.states[0] === "waiting";
	if (isOnlyWaiting) {
		const few = await listFewWaiting(storage, projectId, filter);
		if (few !== null) return pageOf(few, limit, before);
	}
	const rows: FoundDelivery[] = [];
	let from = before;
	for (let scanned = 0; scanned < LOG_READS.attemptsScanned; ) {
		const step = await scan(storage, projectId, filter, { limit, before: from });
		scanned += step.scanned;
		const found = await resolve(storage, projectId, filter, step.rows);
		for (const row of found) {
			rows.push(row);
			if (rows.length === limit && (row !== found.at(-1) || step.next !== null)) return { rows, next: row.last!.id };
		}
		if (step.next === null) return { rows, next: null };
		from = step.next;
	}
	return { rows, next: from ?? null };
}

interface Scanned {
	readonly rows: readonly AttemptSummary[];
	readonly scanned: number;
	readonly next: string | null;
}

/** The newest log entries that may match, from each combination of the filter's values. */
async function scan(
	storage: SearchStorage,
	projectId: string,
	filter: DeliveryFilter,
	page: { readonly limit: number; readonly before?: string | undefined },
): Promise<Scanned> {
	const { limit, before } = page;
	const combinations = combinationsOf(filter);
	const pages = await Promise.all(
		combinations.map((one) =>
			storage.listAttemptSummaries({
				projectId,
				filter: one,
				page: { limit, ...(before !== undefined && { before }) },
			}),
		),
	);
	// Beyond the shortest of them, others may have newer entries.
	const ends = pages.flatMap(({ next }) => (next === null ? [] : [next]));
	const end = ends.length === 0 ? null : ends.reduce((a, b) => (a > b ? a : b));
	const rows = pages
		.flatMap((each) => each.rows)
		.filter(({ id }) => end === null || id >= end)
		.sort((a, b) => (a.id < b.id ? 1 : -1));
	const withResponse = combinations[0]?.response !== undefined;
	const scanned = withResponse ? LOG_READS.attemptsScanned : Math.max(rows.length, 1);
	return { rows: rows.filter((row) => hasResponse(filter, row)), scanned, next: end };
}

function combinationsOf(filter: DeliveryFilter): AttemptFilter[] {
	const { webhookIds, types, states, codes, errors, eventId, since, until } = filter;
	const orAny = <T>(values: readonly T[]): readonly (T | undefined)[] => (values.length === 0 ? [undefined] : values);
	const statuses = states.length === DELIVERY_STATES.length ? [] : states.map((state) => STATUS_OF[state]);
	const ranges = errors.length === 0 ? codes : [...codes, { from: 0, to: 0 }];
	const common = {
		...(eventId !== undefined && { eventId }),
		...(since !== undefined && { since }),
		...(until !== undefined && { until }),
		...(ranges.length > 0 && { response: { codes: ranges, maxScanned: LOG_READS.attemptsScanned } }),
	};
	return orAny(webhookIds).flatMap((webhookId) =>
		orAny(types).flatMap((type) =>
			orAny(statuses).map((status) => ({
				...common,
				...(webhookId !== undefined && { webhookId }),
				...(type !== undefined && { type }),
				...(status !== undefined && { status }),
			})),
		),
	);
}

function hasResponse({ codes, errors }: DeliveryFilter, { statusCode, errorCode }: AttemptSummary): boolean {
	if (codes.length === 0 && errors.length === 0) return true;
	const code = statusCode ?? 0;
	return codes.some(({ from, to }) => from <= code && code <= to) || (errorCode !== null && errors.includes(errorCode));
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

const fits = ({ states, unhandled }: DeliveryFilter, { state, handled }: FoundDelivery): boolean =>
	states.includes(state) && !(unhandled && handled !== null);

/** All that wait, newest first; null if there are more than {@link FEW}. */
async function listFewWaiting(
	storage: SearchStorage,
	projectId: string,
	filter: DeliveryFilter,
): Promise<FoundDelivery[] | null> {
	const ids = filter.webhookIds.length === 0 ? [null] : filter.webhookIds;
	const lists = await Promise.all(
		ids.map((webhookId) => storage.listWaitingRetries({ projectId, webhookId, limit: FEW + 1 })),
	);
	const waiting = lists.flat();
	if (waiting.length > FEW) return null;
	const deliveries = waiting.map(({ webhookId, seq }) => ({ webhookId, seq }));
	const latest = deliveries.length === 0 ? [] : await storage.readLatest({ projectId, deliveries });
	const found = waiting.map((retry, i) => waitingDelivery(retry, latest[i]!.newest));
	const { types, eventId, since = 0, until = Number.POSITIVE_INFINITY } = filter;
	const matching = found.filter(
		(one) =>
			(types.length === 0 || types.includes(one.eventType)) &&
			(eventId === undefined || one.eventId === eventId) &&
			(one.last === null || hasResponse(filter, one.last)) &&
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

/** Deliveries without an attempt were requested just now. */
const startOf = ({ last, nextAt }: FoundDelivery): number => last?.startedAt ?? nextAt ?? 0;
/** Sorts after every attempt id. */
const UNATTEMPTED = "~";
const positionOf = ({ last }: FoundDelivery): string => last?.id ?? UNATTEMPTED;

function pageOf(found: readonly FoundDelivery[], limit: number, before: string | undefined): DeliveryPage {
	const rest = before === undefined ? found : found.filter((one) => positionOf(one) < before);
	// Those without an attempt have no position to continue at, so they all come first.
	const fresh = rest.filter(({ last }) => last === null).length;
	const rows = rest.slice(0, Math.max(limit, fresh));
	return { rows, next: rows.length < rest.length ? positionOf(rows.at(-1)!) : null };
}
