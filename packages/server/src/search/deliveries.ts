/**
 * The list of deliveries, derived from the delivery log: a series of attempts is shown as the last of them. So a
 * delivery costs nothing beyond its log entries.
 *
 * A series that ended has one entry that is `delivered` or `failed`, which an index finds. A series that
 * continues has only `retrying` entries: the last one counts, and the others are read and left out. If few deliveries
 * are pending, they are found from the queues instead. Replays and tests without an attempt always are.
 */
import { LOG_READS, SEARCH } from "../base/budgets.ts";
import { isId } from "../base/ids.ts";
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
import { orderIdsOf } from "./references.ts";

export const DELIVERY_STATES = ["delivered", "waiting", "failed"] as const;
type DeliveryStateName = (typeof DELIVERY_STATES)[number];

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
	/** In the event's data; null if it has none, is a test event, or has more bytes than {@link SEARCH.orderIdBytes}. */
	readonly orderId: string | null;
	readonly replay: number;
	readonly state: DeliveryStateName;
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

/** Newest first, by the last attempt. `next`: the `before` of the next page, or null at the end. */
interface DeliveryPage {
	readonly rows: readonly FoundDelivery[];
	readonly next: string | null;
}

/** The order id is undefined until it is read. */
interface Found extends Omit<FoundDelivery, "orderId"> {
	orderId?: string | null | undefined;
}

interface FoundPage extends Pick<DeliveryPage, "next"> {
	readonly rows: readonly Found[];
}

interface PageRequest {
	readonly limit: number;
	readonly before?: string | undefined;
	/** Whether the client has left, so that nothing more needs to be read. */
	readonly isGone?: (() => boolean) | undefined;
}

interface Search {
	readonly storage: Pick<
		Storage,
		"listFollowedAttempts" | "listUnattempted" | "listWaitingRetries" | "readLatest" | "readOrderIds"
	>;
	readonly projectId: string;
	readonly filter: DeliveryFilter;
	readonly limit: number;
	readonly isGone: () => boolean;
}

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
	storage: Search["storage"],
	projectId: string,
	filter: DeliveryFilter,
	{ limit, before, isGone = () => false }: PageRequest,
): Promise<DeliveryPage> {
	const { rows, next } = await findDeliveries({ storage, projectId, filter, limit, isGone }, before);
	const without = rows.filter(({ orderId }) => orderId === undefined);
	const orderIds = await orderIdsOf(storage, projectId, without);
	for (const row of without) row.orderId = orderIds.get(row.seq) ?? null;
	return { rows: rows as FoundDelivery[], next };
}

/** First those without an attempt, from the queues, then the others by their last attempt. */
async function findDeliveries(search: Search, position: string | undefined): Promise<FoundPage> {
	const { filter, limit } = search;
	const isInQueues = position?.startsWith(UNATTEMPTED) === true;
	const queued = isInQueues ? position.slice(UNATTEMPTED.length) : undefined;
	const before = isInQueues ? undefined : position;
	const isOnlyWaiting = filter.states.length === 1 && filter.states[0] === "waiting";
	// Without an attempt there is no response.
	const mayBeUnattempted = isOnlyWaiting && filter.response === undefined;
	const rows: Found[] = [];
	if (mayBeUnattempted && before === undefined && queued !== QUEUES_END) {
		const unattempted = await listUnattempted(search, queued);
		if (unattempted.next !== null) return unattempted;
		rows.push(...unattempted.rows);
	}
	const shown = new Set(rows.map(keyOf));
	// Read after those without an attempt and before the log, so one that is attempted or ends meanwhile is in both.
	const few = readsQueues(filter) ? await listFewWaiting(search) : null;
	const waiting = (few ?? []).filter(
		(row) => !shown.has(keyOf(row)) && (before === undefined || row.last!.id < before),
	);
	if (few !== null && isOnlyWaiting) {
		rows.push(...waiting.splice(0, limit - rows.length));
		return { rows, next: waiting.length === 0 ? null : rows.at(-1)!.last!.id };
	}
	const pending = new Pending(waiting);
	const log = new LogSteps({ ...search, shown, isWaitingKnown: few !== null }, before);
	while (!log.isOver) {
		const room = limit - rows.length;
		const found = pending.mergeInto(await log.read(room), log.next);
		rows.push(...found.slice(0, room));
		if (found.length > room || (found.length === room && log.next !== null))
			return { rows, next: rows.at(-1)!.last!.id };
	}
	return { rows, next: log.next };
}

interface LogSearch extends Search {
	/** Deliveries that are already on the page. */
	readonly shown: ReadonlySet<string>;
	/** Whether pending deliveries come from the queues, so the log's are left out. */
	readonly isWaitingKnown: boolean;
}

/** The log, read backwards in steps, up to a page's limit of entries to examine. */
class LogSteps {
	readonly #search: LogSearch;
	readonly #attempts: AttemptFilter;
	/** Where the log continues: from its end if undefined; null at its beginning. */
	#next: string | null | undefined;
	/** How many entries were examined, and how many of them were to be shown. */
	#scanned = 0;
	#found = 0;

	constructor(search: LogSearch, before: string | undefined) {
		this.#search = search;
		this.#attempts = attemptsOf(search.filter, search.isWaitingKnown);
		this.#next = before;
	}

	get next(): string | null {
		return this.#next ?? null;
	}

	get isOver(): boolean {
		return this.#next === null || this.#scanned >= LOG_READS.attemptsScanned || this.#search.isGone();
	}

	/** Reads as many entries as a page that lacks this many deliveries probably needs. Returns the deliveries to show. */
	async read(missing: number): Promise<Found[]> {
		const { storage, projectId, filter, shown } = this.#search;
		// Later steps may read many entries that aren't shown, so only those that are get an order id.
		const orderIdBytes = this.#scanned === 0 ? SEARCH.orderIdBytes : undefined;
		const page = { limit: this.#entriesFor(missing), before: this.#next ?? undefined, orderIdBytes };
		const read = await storage.listFollowedAttempts({ projectId, filter: this.#attempts, page });
		this.#next = read.next;
		// Storage doesn't say how many it has scanned for a filter by response, so assume all that it may.
		this.#scanned += Math.max(this.#attempts.response?.maxScanned ?? 0, read.rows.length, 1);
		// Without those that don't match by now, or that were listed before their first attempt.
		const found = read.rows
			.map(deliveryOf)
			.filter((row) => row !== null && fits(filter, row) && !shown.has(keyOf(row))) as Found[];
		this.#found += found.length;
		return found;
	}

	#entriesFor(missing: number): number {
		// Most entries are shown, so the first step reads what a page needs. For given events it reads a few more, which takes
		// less time than another step.
		const isFirst = this.#scanned === 0;
		if (isFirst && !isOfEvents(this.#search.filter)) return missing;
		const share = isFirst ? 1 : this.#found / this.#scanned;
		const most = Math.max(this.#search.limit, LOG_READS.attemptsPerStep);
		return Math.min(most, Math.max(SHORTEST_STEP, Math.ceil((missing / share) * MARGIN)));
	}
}

/** Pending deliveries from the queues, to be merged with those of the log by their last attempt. */
class Pending {
	/** Newest first. */
	readonly #rows: Found[];
	/** Deliveries that the log has: a pending one among them ended after the queues were read. */
	readonly #ended = new Set<string>();

	constructor(rows: Found[]) {
		this.#rows = rows;
	}

	/**
	 * Adds the pending deliveries down to where the log continues, each once.
	 *
	 * @param end where the log continues, or null at its end
	 */
	mergeInto(found: readonly Found[], end: string | null): readonly Found[] {
		if (this.#rows.length === 0) return found;
		for (const row of found) this.#ended.add(keyOf(row));
		const later = this.#rows.findIndex(({ last }) => end !== null && last!.id < end);
		const among = this.#rows.splice(0, later === -1 ? this.#rows.length : later);
		return [...found, ...among.filter((row) => !this.#ended.has(keyOf(row)))].sort(newestFirst);
	}
}

/**
 * Whether few pending deliveries are found from the queues: then the log's many entries of earlier attempts aren't read.
 * The few attempts of given events are read from the log.
 */
const readsQueues = (filter: DeliveryFilter): boolean =>
	filter.states.includes("waiting") && (filter.states.length === 1 || !isOfEvents(filter));

const isOfEvents = ({ eventId, seqs }: DeliveryFilter): boolean => eventId !== undefined || seqs !== undefined;

/** The log entries that may be the last of a matching delivery; only of those that ended, if pending ones are known. */
function attemptsOf(
	{ states, unhandled: _, tests: __, ...filter }: DeliveryFilter,
	waitingKnown: boolean,
): AttemptFilter {
	const statuses = states.filter((state) => !waitingKnown || state !== "waiting").map((state) => STATUS_OF[state]);
	return { ...filter, statuses: statuses.length < DELIVERY_STATES.length ? statuses : undefined };
}

/** The delivery whose last attempt this is; null if a later attempt of the same series was made. */
function deliveryOf(last: FollowedAttempt): Found | null {
	const { replay, status, isFollowed, next } = last;
	if (status === "retrying" && isFollowed) return null;
	// A pending attempt belongs to this series unless it began a later one. Without any, the webhook was deleted.
	const isWaiting = status === "retrying" && next !== null;
	const isReplayed = status === "failed" && (isFollowed || (next !== null && next.replay > replay));
	const isDismissed = status === "failed" && last.dismissed;
	return {
		webhookId: last.webhookId,
		seq: last.seq,
		eventId: last.eventId,
		eventType: last.eventType,
		orderId: last.orderId,
		replay,
		state: status === "delivered" ? "delivered" : isWaiting ? "waiting" : "failed",
		attempts: last.attempt,
		last,
		nextAt: isWaiting ? next.dueAt : null,
		handled: isReplayed ? "replayed" : isDismissed ? "dismissed" : null,
		isClosed: last.webhookDeleted,
	};
}

/** What needs a decision is what a webhook's dead letters count. */
const fits = ({ states, unhandled, tests }: DeliveryFilter, { state, handled, isClosed, seq }: Found): boolean =>
	states.includes(state) &&
	(tests === null || tests === seq < 0) &&
	!(unhandled && (handled !== null || isClosed || seq < 0));

/** All pending deliveries with an attempt, newest first; null if more than {@link FEW} are pending. */
async function listFewWaiting({ storage, projectId, filter }: Search): Promise<Found[] | null> {
	const ids = filter.webhookIds ?? [null];
	const waiting: WaitingRetry[] = [];
	for (const webhookId of ids) {
		waiting.push(...(await storage.listWaitingRetries({ projectId, webhookId, limit: FEW + 1 - waiting.length })));
		if (waiting.length > FEW) return null;
	}
	const deliveries = waiting.map(({ webhookId, seq }) => ({ webhookId, seq }));
	const latest = deliveries.length === 0 ? [] : await storage.readLatest({ projectId, deliveries });
	const found = waiting.map((retry, i) => waitingDelivery(retry, latest[i]!.newest));
	// Some may have ended since.
	return found.filter((one) => one.last?.status === "retrying" && matches(filter, one)).sort(newestFirst);
}

/**
 * Replays and tests before the first attempt of their series, which the log doesn't show. `next` is null if a page that
 * isn't full yet has the last of them. @param before continues after this position
 */
async function listUnattempted(
	{ storage, projectId, filter, limit, isGone }: Search,
	before: string | undefined,
): Promise<FoundPage> {
	const rows: Found[] = [];
	let next: string | null | undefined = before;
	let step = limit;
	for (let scanned = 0; next !== null && rows.length < limit && scanned < LOG_READS.attemptsScanned; ) {
		if (isGone()) break;
		scanned += step;
		const room = limit - rows.length;
		const read = await storage.listUnattempted({ projectId, webhookIds: filter.webhookIds, limit: step, after: next });
		const found = read.rows.map((retry) => waitingDelivery(retry, null)).filter((one) => matches(filter, one));
		// A page can only continue after a whole step.
		if (found.length > room) step = Math.max(room, Math.floor(step / 2));
		else {
			rows.push(...found);
			next = read.next;
			// Few match: a small page mustn't take thousands of calls.
			step = Math.max(limit - rows.length, Math.min(step * 2, FEW));
		}
	}
	if (next != null) return { rows, next: UNATTEMPTED + next };
	return { rows, next: rows.length < limit ? null : UNATTEMPTED + QUEUES_END };
}

function matches(filter: DeliveryFilter, one: Found): boolean {
	const { types, eventId, seqs, response, since = 0, until = Number.POSITIVE_INFINITY } = filter;
	return (
		fits(filter, one) &&
		types?.includes(one.eventType) !== false &&
		seqs?.includes(one.seq) !== false &&
		(eventId === undefined || one.eventId === eventId) &&
		(response === undefined || (one.last !== null && fitsResponse(response, one.last))) &&
		startOf(one) >= since &&
		startOf(one) < until
	);
}

function waitingDelivery(
	{ webhookId, seq, eventId, eventType, attempt, replay, dueAt }: WaitingRetry,
	newest: LatestAttempt["newest"],
): Found {
	const last = newest === null || newest.replay !== replay ? null : { ...newest, eventId, eventType };
	const of = { webhookId, seq, eventId, eventType, replay, attempts: attempt - 1, last };
	return { ...of, state: "waiting", nextAt: dueAt, handled: null, isClosed: false };
}

/** A delivery without an attempt was just requested, so the time at which it is due counts. */
const startOf = ({ last, nextAt }: Found): number => last?.startedAt ?? nextAt ?? 0;
/** Begins a position in the queues. */
const UNATTEMPTED = "~";
const QUEUES_END = "~";
const POSITION = /^~(~|wh_[0-9a-z]+ \d -?\d{1,16} -?\d{1,16})$/;
/** Whether this is a position in a list of deliveries: a `next` or an attempt id. */
export const isDeliveryPosition = (text: string): boolean => POSITION.test(text) || isId("attempt", text);
/** Only for deliveries with an attempt. */
const newestFirst = (a: Found, b: Found): number => (a.last!.id < b.last!.id ? 1 : -1);
const keyOf = ({ webhookId, seq, replay }: Found): string => `${webhookId} ${seq} ${replay}`;
