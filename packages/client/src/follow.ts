import { eachElement, memberSource } from "../../protocol/src/raw-json.ts";
import { ApiError, ConnectionError, InvalidCallError, LogBehindError } from "./errors.ts";
import type { EventPage, EventType, LogEvent, Position } from "./events.ts";
import { delayMs, type OnRetry, type RetryOptions, sleep } from "./retry.ts";

export interface FollowOptions {
	/**
	 * Where to continue: a stored position, `start` (the oldest event that is still kept) or `end` (only new events). By
	 * default, `start`.
	 */
	readonly from?: Position | "start" | "end";
	/** Only these types. By default, all. */
	readonly types?: readonly EventType[];
	/** Events per page, 1 to 200. By default, 200. */
	readonly limit?: number;
	/** Ends the loop: the iterator then throws the signal's reason. */
	readonly signal?: AbortSignal;
	/**
	 * Called when the log has lost events that were read (a failover or a restore): note it, and following continues
	 * from `error.position`. Without it, following ends with this error.
	 */
	readonly onLogBehind?: (error: LogBehindError) => void | Promise<void>;
	/** Called before each wait for a service that can't be reached or is overloaded. */
	readonly onRetry?: OnRetry;
}

/** What following needs from the client: one page. */
export type ReadPage = (query: PageQuery, signal: AbortSignal | undefined, retries: RetryOptions) => Promise<EventPage>;

interface PageQuery extends Position {
	readonly type?: readonly EventType[] | undefined;
	readonly limit: number;
	readonly wait: number;
}

/** Shorter than the idle timeouts of proxies. */
const WAIT_S = 30;
/** Following repeats calls itself, without an end. */
const ONCE: RetryOptions = { retries: 0, timeoutMs: 45_000 };
/** Soon enough for someone who watches, and rare enough for a service under repair. */
const LONGEST_DELAY_MS = 15_000;
/** A longer `Retry-After` isn't waited for. */
const LONGEST_ASKED_S = 3_600;
/** No log is longer: what reads from there learns where the log ends. */
const BEYOND = 999_999_999_999_999;

/** Where to start. Throws for anything else that JavaScript or a file may pass: it would read the whole log again. */
function checkedFrom(from: unknown): Position | "end" {
	if (from === "start") return { after: 0 };
	if (from === "end") return from;
	if (isPosition(from)) return bare(from);
	throw new InvalidCallError(
		`follow got ${shown(from)} as "from": pass a position that it gave you, such as { after: 812, epoch: "…" }, or "start" or "end".`,
	);
}

/** As `checkedFrom`, for `read`. */
export function checkedPosition(from: unknown): Position {
	if (isPosition(from)) return bare(from);
	throw new InvalidCallError(
		`read got ${shown(from)} as its position: pass one that a page gave you, such as { after: 812, epoch: "…" }, or { after: 0 } for the start.`,
	);
}

/** As JSON, for an error, which must not become one of JSON's: a database may return positions as BigInt. */
function shown(value: unknown): string {
	try {
		const json = JSON.stringify(value, (_, member) => (typeof member === "bigint" ? `${member}n` : member));
		return json?.replaceAll(/"(-?[0-9]+n)"/g, "$1") ?? String(value);
	} catch {
		return String(value);
	}
}

const isPosition = (from: unknown): from is Position =>
	typeof from === "object" && from !== null && "after" in from && Number.isSafeInteger(from.after);

/** Drops the other columns of a database row, and its null for a position without an epoch. */
function bare({ after, epoch }: Position): Position {
	return epoch ? { after, epoch } : { after };
}

/**
 * Reads the log page by page, and waits for new events at its end. Outages and restarts of the service don't end it:
 * it asks again, with growing delays. Once the service has responded, a proxy's own response, such as 404 during an
 * upgrade, doesn't end it either. The position only moves with what was returned.
 */
export async function* follow(readPage: ReadPage, options: FollowOptions): AsyncGenerator<EventPage, never> {
	const { from = "start", types, limit = 200, signal, onLogBehind, onRetry } = options;
	const start = checkedFrom(from);
	let hasResponded = false;
	let position = start === "end" ? await untilReached(() => endOfLog(readPage, signal, ONCE)) : start;
	for (;;) {
		let page: EventPage;
		try {
			const query = { ...position, type: types, limit, wait: WAIT_S };
			page = await untilReached(() => readPage(query, signal, ONCE));
		} catch (error) {
			if (!(error instanceof LogBehindError) || onLogBehind === undefined) throw error;
			await onLogBehind(error);
			position = error.position;
			yield { events: [], position };
			continue;
		}
		const isSame = page.position.after === position.after && page.position.epoch === position.epoch;
		position = page.position;
		if (page.events.length > 0 || !isSame) yield page;
	}

	/** Repeats a call for as long as the service is away or overloaded. */
	async function untilReached<T>(call: () => Promise<T>): Promise<T> {
		for (let tries = 0; ; tries++) {
			signal?.throwIfAborted();
			try {
				const result = await call();
				hasResponded = true;
				return result;
			} catch (error) {
				signal?.throwIfAborted();
				hasResponded ||= error instanceof ApiError && error.code !== "unknown";
				if (!isTemporary(error, hasResponded)) throw error;
				const delay = waitMs(tries, error instanceof ApiError ? error.retryAfter : null);
				onRetry?.(error, delay);
				await sleep(delay, signal);
			}
		}
	}
}

/** @param hasResponded whether the URL is known to lead to the service */
function isTemporary(error: unknown, hasResponded: boolean): error is ApiError | ConnectionError {
	if (error instanceof ConnectionError) return true;
	if (!(error instanceof ApiError)) return false;
	const { status, code } = error;
	return status === 429 || status === 408 || status >= 500 || (hasResponded && code === "unknown");
}

/**
 * How long following waits before it asks again.
 *
 * @param tries how often it has asked in vain
 * @param asked seconds, as the response says
 */
export function waitMs(tries: number, asked: number | null, random = Math.random): number {
	const spread = delayMs(Math.min(tries, 10), null, LONGEST_DELAY_MS, random)!;
	return Math.min(asked ?? 0, LONGEST_ASKED_S) * 1_000 + spread;
}

/** The position of the newest event. */
export async function endOfLog(
	readPage: ReadPage,
	signal: AbortSignal | undefined,
	retries: RetryOptions,
): Promise<Position> {
	try {
		return (await readPage({ after: BEYOND, limit: 1, wait: 0 }, signal, retries)).position;
	} catch (error) {
		if (error instanceof LogBehindError) return error.position;
		throw error;
	}
}

interface PageBody {
	readonly data: readonly LogEvent[];
	readonly last_seq: number;
	readonly epoch: string;
}

/** A page with each event's exact text; undefined if the text isn't a page. */
export function parsePage(text: string): EventPage | undefined {
	const body = pageBody(text);
	if (body === undefined) return undefined;
	const { data, last_seq, epoch } = body;
	const list = memberSource(text, "data") ?? "[]";
	const starts: number[] = [];
	eachElement(list, 0, (_, start) => {
		starts.push(start);
		return false;
	});
	const events = data.map((event, i) => {
		const untilNext = list.slice(starts[i], starts[i + 1] ?? list.length);
		const raw = untilNext.slice(0, untilNext.lastIndexOf("}") + 1);
		return Object.defineProperty(event, "raw", { value: raw, enumerable: false });
	});
	return { events, position: { after: last_seq, epoch } };
}

function pageBody(text: string): PageBody | undefined {
	try {
		const body = JSON.parse(text) as Partial<PageBody> | null;
		return Array.isArray(body?.data) && typeof body.last_seq === "number" ? (body as PageBody) : undefined;
	} catch {
		return undefined;
	}
}
