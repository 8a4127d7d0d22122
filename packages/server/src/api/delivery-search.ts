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
	const log = new LogReader(storage, projectId, filter, { limit, before });
	while (log.scanned < LOG_READS.attemptsScanned && !isGone()) {
		const step = await log.read();
		const found = await resolve(storage, projectId, filter, step);
		for (const row of found) {
			rows.push(row);
			if (rows.length === limit && (row !== found.at(-1) || log.next !== null)) return { rows, next: row.last!.id };
		}
		if (log.next === null) return { rows, next: null };
	}
	return { rows, next: log.next ?? before ?? null };
}

/** One combination of the filter's values. */
interface Range {
	readonly filter: AttemptFilter;
	/** Read, but newer ones of other ranges may come first. */
	rows: readonly AttemptSummary[];
	/** Where to read on, or null at its end. */
	next: string | null | undefined;
}

/** Reads the log entries that may match, newest first, and merges the combinations of the filter's values. */
class LogReader {
	readonly #storage: SearchStorage;
	readonly #projectId: string;
	readonly #filter: DeliveryFilter;
	readonly #ranges: readonly Range[];
	readonly #step: number;
	/** How many entries the queries have read; at least one each. */
	scanned = 0;
	/** All entries from here on were returned. Null at the end. */
	next: string | null = null;

	constructor(
		storage: SearchStorage,
		projectId: string,
		filter: DeliveryFilter,
		{ limit, before }: { readonly limit: number; readonly before?: string | undefined },
	) {
		this.#storage = storage;
		this.#projectId = projectId;
		this.#filter = filter;
		this.#ranges = combinationsOf(filter).map((one) => ({ filter: one, rows: [], next: before }));
		this.#step = Math.max(limit, LOG_READS.attemptsPerStep);
	}

	async read(): Promise<AttemptSummary[]> {
		const empty = this.#ranges.filter(({ rows, next }) => rows.length === 0 && next !== null);
		const each = Math.ceil(this.#step / empty.length);
		// A filter by response reads `maxScanned` at most, whatever the limit.
		await Promise.all(empty.map((range) => this.#fill(range, range.filter.response ? this.#step : each)));
		// Beyond the shortest of them, others may have newer entries.
		const ends = this.#ranges.flatMap(({ next }) => next ?? []);
		const end = ends.length === 0 ? null : ends.reduce((a, b) => (a > b ? a : b));
		this.next = end;
		const read: AttemptSummary[] = [];
		for (const range of this.#ranges) {
			const isRead = ({ id }: AttemptSummary) => end === null || id >= end;
			read.push(...range.rows.filter(isRead));
			range.rows = range.rows.filter((row) => !isRead(row));
		}
		return read.sort((a, b) => (a.id < b.id ? 1 : -1)).filter((row) => hasResponse(this.#filter, row));
	}

	async #fill(range: Range, limit: number): Promise<void> {
		const { filter, next: before } = range;
		const page = { limit, ...(before !== null && before !== undefined && { before }) };
		const { rows, next } = await this.#storage.listAttemptSummaries({ projectId: this.#projectId, filter, page });
		range.rows = rows;
		range.next = next;
		// The storage doesn't say how many it has scanned for a filter by response, so assume all that it may.
		this.scanned += Math.max(filter.response?.maxScanned ?? 0, rows.length, 1);
	}
}

export function countCombinations({ webhookIds, types, states }: DeliveryFilter): number {
	const statuses = states.length === DELIVERY_STATES.length ? 1 : states.length;
	return Math.max(webhookIds.length, 1) * Math.max(types.length, 1) * statuses;
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
		...(ranges.length > 0 && {
			response: { codes: ranges, maxScanned: Math.ceil(LOG_READS.attemptsScanned / countCombinations(filter)) },
		}),
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

/** Failed tests need no decision. */
const fits = ({ states, unhandled }: DeliveryFilter, { state, handled, seq }: FoundDelivery): boolean =>
	states.includes(state) && !(unhandled && (handled !== null || seq < 0));

/** All that wait, newest first; null if there are more than {@link FEW}. */
async function listFewWaiting(
	storage: SearchStorage,
	projectId: string,
	filter: DeliveryFilter,
): Promise<FoundDelivery[] | null> {
	const ids = filter.webhookIds.length === 0 ? [null] : filter.webhookIds;
	const waiting: WaitingRetry[] = [];
	for (const webhookId of ids) {
		waiting.push(...(await storage.listWaitingRetries({ projectId, webhookId, limit: FEW + 1 - waiting.length })));
		if (waiting.length > FEW) return null;
	}
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
	// Those without an attempt have no position to continue at, so they all come first, with at least one that has.
	const fresh = rest.filter(({ last }) => last === null).length;
	const rows = rest.slice(0, Math.max(limit, fresh === 0 ? 0 : fresh + 1));
	return { rows, next: rows.length < rest.length ? positionOf(rows.at(-1)!) : null };
}
