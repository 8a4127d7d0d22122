/** Which calls to repeat, when, and how often. */
import { ConnectionError, errorOf, InvalidCallError, retryAfter } from "./errors.ts";

export interface RetryOptions {
	/** How often a call is repeated at most. By default, 5: with the delays below, for about 8 seconds. */
	readonly retries?: number;
	/** The longest single wait, milliseconds; a longer `Retry-After` ends the call with its error. By default, 30,000. */
	readonly maxDelayMs?: number;
	/** How long one try may take, milliseconds. By default, 30,000. */
	readonly timeoutMs?: number;
	/** No try begins later than this after the first one, milliseconds. By default, there is no such limit. */
	readonly giveUpAfterMs?: number;
	/** Called before each wait, with the error and the length of the wait, milliseconds. */
	readonly onRetry?: OnRetry;
}

export type OnRetry = (error: Error, delayMs: number) => void;

export interface Call {
	/** For errors: method and path. */
	readonly name: string;
	/** For errors, which name its host. */
	readonly url: URL;
	/** Whether the call may be repeated if its result is unknown. */
	readonly idempotent: boolean;
	readonly signal?: AbortSignal | undefined;
}

const FIRST_DELAY_MS = 250;
const DEFAULTS = { retries: 5, maxDelayMs: 30_000, timeoutMs: 30_000 } as const;
/** The service, or a proxy in front of it, is temporarily unable to respond. Those from 520 on are Cloudflare's. */
const OUTAGES: ReadonlySet<number> = new Set([502, 503, 504, 520, 521, 522, 523, 524, 530]);
const TOO_MANY = 429;

/** The longest delay that timers take, milliseconds. */
const LONGEST_MS = 2_147_483_647;

/**
 * Throws for numbers that would repeat calls without an end or a pause, such as NaN from a variable that isn't set, and
 * for an `onRetry` that would replace the first error with its own.
 */
export function checkRetry({ retries, maxDelayMs, timeoutMs, giveUpAfterMs, onRetry }: RetryOptions): void {
	if (onRetry && typeof onRetry !== "function")
		throw new TypeError(`createClient got ${onRetry} as retry.onRetry; give a function.`);
	const limits = {
		retries: [retries, 0, Number.POSITIVE_INFINITY],
		maxDelayMs: [maxDelayMs, 0, LONGEST_MS],
		timeoutMs: [timeoutMs, 1, LONGEST_MS],
		giveUpAfterMs: [giveUpAfterMs, 0, Number.POSITIVE_INFINITY],
	} as const;
	for (const [name, [value, least, most]] of Object.entries(limits))
		if (value !== undefined && !(value >= least && value <= most))
			throw new TypeError(
				`createClient got ${value} as retry.${name}; give a number from ${least}${most === LONGEST_MS ? ` to ${most}` : ""}.`,
			);
}

/**
 * Makes a call until it succeeds, is refused for good, or its retries are used up. A 429 is always repeated: nothing
 * has happened. Outages and lost responses are only repeated if the call is idempotent.
 *
 * @param attempt makes the call once
 * @returns a 2xx response, with its body not yet read
 * @throws ApiError, ConnectionError, InvalidCallError if it can't be made as it is, or the signal's reason
 */
export async function withRetries(
	attempt: (signal: AbortSignal) => Promise<Response>,
	{ name, url, idempotent, signal }: Call,
	{
		retries = DEFAULTS.retries,
		maxDelayMs = DEFAULTS.maxDelayMs,
		timeoutMs = DEFAULTS.timeoutMs,
		giveUpAfterMs = Number.POSITIVE_INFINITY,
		onRetry,
	}: RetryOptions = {},
): Promise<Response> {
	const startedAt = performance.now();
	for (let tries = 0; ; tries++) {
		signal?.throwIfAborted();
		const { response, error } = await once(attempt, { name, url, signal }, timeoutMs);
		if (response?.ok) return response;
		const failure = error ?? (await errorOf(name, response!));
		if (failure instanceof InvalidCallError) throw failure;
		const again = response?.status === TOO_MANY || (idempotent && (!response || OUTAGES.has(response.status)));
		if (!again || tries >= retries) throw failure;
		const asked = response && retryAfter(response);
		const delay = delayMs(tries, asked ?? null, maxDelayMs);
		if (delay === null || performance.now() - startedAt + delay > giveUpAfterMs) throw failure;
		onRetry?.(failure, delay);
		await sleep(delay, signal);
	}
}

type Once =
	| { readonly response: Response; readonly error?: undefined }
	| { readonly response?: undefined; readonly error: Error };

async function once(
	attempt: (signal: AbortSignal) => Promise<Response>,
	{ name, url, signal }: Pick<Call, "name" | "url" | "signal">,
	timeoutMs: number,
): Promise<Once> {
	const timeout = new AbortController();
	const late = () => timeout.abort(new DOMException(`There was no response within ${timeoutMs} ms.`, "TimeoutError"));
	const timer = setTimeout(late, timeoutMs);
	try {
		return { response: await attempt(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal) };
	} catch (cause) {
		signal?.throwIfAborted();
		const invalid = invalidIn(cause);
		if (invalid) return { error: new InvalidCallError(`${name} can't be sent: ${invalid}.`, { cause }) };
		const why = timeout.signal.aborted
			? `no response from ${url.host} within ${timeoutMs / 1_000} s`
			: reasonOf(cause, url);
		return { error: new ConnectionError(`${name}: ${why}.`, { cause }) };
	} finally {
		// A stream of events that the response begins may last longer.
		clearTimeout(timer);
	}
}

/**
 * What makes a call impossible, as the `fetch` of Node or Deno says it: the port is one that the Fetch standard blocks, or
 * the request has a header or URL that no request can have.
 */
function invalidIn(error: unknown): string | undefined {
	const { name, message = "", cause } = error as Error;
	if (name !== "TypeError") return undefined;
	const why = (cause as Error | undefined)?.message ?? "";
	if (why === "bad port" || /Requests to port \d+ are blocked/.test(message))
		return "fetch refuses to connect to this port; let the service listen on another one";
	if (/^(?:unknown scheme|invalid method)/i.test(why)) return why;
	return /ByteString|invalid header|invalid url|parse url|credentials/i.test(message)
		? message.replace(/\.$/, "")
		: undefined;
}

/**
 * In Node and Deno, `fetch` only says that it failed, and its cause says why; in Bun, it says why itself. Only some
 * reasons name the host.
 */
function reasonOf(error: unknown, { host, hostname }: URL): string {
	const { message = String(error), cause } = error as Error;
	const { code, message: why, reason } = (cause ?? {}) as { code?: string; message?: string; reason?: string };
	// OpenSSL's own message is a line of its source code.
	const said = reason && why?.includes(":error:") ? `TLS: ${reason}` : why || code || message;
	const words = said.split(/[\s()/,"]+/);
	// Without an IPv6 address's brackets, as Node names it.
	const isNamed = [host, hostname, host.replaceAll(/[[\]]/g, "")].some((name) => words.includes(name));
	return `the service${isNamed ? "" : ` at ${host}`} can't be reached (${said.replace(/\.$/, "")})`;
}

/**
 * Doubles from a quarter of a second. At least what the service asks for. Spread at random, so that many clients don't
 * return at the same moment. Null if the service asks for longer than the longest wait.
 *
 * @param tries how many retries came before
 * @param asked seconds
 */
export function delayMs(tries: number, asked: number | null, maxDelayMs: number, random = Math.random): number | null {
	const backoff = Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** tries);
	if (asked === null) return Math.round(backoff * (0.5 + random() / 2));
	if (asked * 1_000 > maxDelayMs) return null;
	return Math.round(asked * 1_000 + (random() * backoff) / 2);
}

/** Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const end = (): void => {
			clearTimeout(timer);
			reject(signal!.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", end);
			resolve();
		}, ms);
		signal?.addEventListener("abort", end, { once: true });
	});
}
