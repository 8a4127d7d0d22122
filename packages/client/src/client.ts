import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import type { paths } from "../../api-types/src/api.ts";
import { ApiError, InvalidCallError } from "./errors.ts";
import { newEventId } from "./event-id.ts";
import type { EventPage, LogEvent, NewEvent, Position, PublishedEvent } from "./events.ts";
import { checkedPosition, endOfLog, type FollowOptions, follow, parsePage, type ReadPage } from "./follow.ts";
import { checkRetry, type RetryOptions, withRetries } from "./retry.ts";

export interface ClientOptions {
	/** Where the service is, such as `https://hooks.example.com`. */
	readonly url: string;
	/** An API key, `phk_…`; for publishing, one with the scope `publish`. */
	readonly key: string;
	/** The project whose events are published and read, `proj_…`. */
	readonly project: string;
	readonly retry?: RetryOptions;
	/** Gets a URL and options, never a `Request`. By default, the global `fetch`. */
	readonly fetch?: typeof fetch;
}

export interface CallOptions {
	/** Aborts the call, and its retries. */
	readonly signal?: AbortSignal;
}

export interface Client {
	/** Publishes up to 1,000 events: all of them or none. */
	publish(events: readonly NewEvent[], options?: CallOptions): Promise<readonly PublishedEvent[]>;
	// The compiler's errors are about the last overload, so it is the one for a single event.
	/**
	 * Publishes one event, or up to 1,000: all of them or none. Returns once they are on disk. Events without an `id` get
	 * one before the first try, so retries never publish twice; an `id` of your own also covers a publisher that crashes
	 * and starts again.
	 *
	 * @throws ApiError if the service refuses them, ConnectionError if it can't be reached, InvalidCallError if they aren't events
	 */
	publish(event: NewEvent, options?: CallOptions): Promise<PublishedEvent>;
	/** Yields the log's events in order, then waits for new ones, across restarts of the service. */
	follow(options?: FollowOptions): AsyncGenerator<EventPage, never>;
	/** A page of the log after a position, without waiting. Empty at the end. */
	read(from: Position, options?: CallOptions & Pick<FollowOptions, "types" | "limit">): Promise<EventPage>;
	/** The position of the newest event. */
	end(options?: CallOptions): Promise<Position>;
	/** An event by its id, and its sequence number. @throws ApiError 404 if it doesn't exist, or isn't kept any more */
	get(eventId: string, options?: CallOptions): Promise<{ readonly event: LogEvent; readonly seq: number }>;
	/**
	 * Every call of the HTTP API, typed by its OpenAPI document (openapi-fetch). Failed calls throw like those above, so
	 * `data` is always there.
	 */
	readonly api: FetchClient<paths>;
}

const SAFE_TO_REPEAT: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"]);
/** Following a redirect turns a POST into a GET (301, 302), and drops the key if it leads to another origin. */
const REDIRECT = "manual";

/** A response whose body has arrived: the connection may break before that, and the call is then tried again. */
async function complete(response: Response): Promise<Response> {
	const { body, status, statusText, headers } = response;
	if (body === null || headers.get("content-type")?.startsWith("text/event-stream")) return response;
	const bytes = await response.arrayBuffer();
	return new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers });
}

/** Further options of a call: those of the standard, and what only some runtimes know, such as Next's `next`. */
function optionsOf(request: Request): RequestInit {
	const { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy } = request;
	// openapi-fetch has set what a Request doesn't know as its own properties.
	return { cache, credentials, integrity, keepalive, mode, referrer, referrerPolicy, ...(request as object) };
}

/** Throws for a URL that no call can be made with. */
function checkUrl(url: string): void {
	const { protocol, username, password } = URL.canParse(url) ? new URL(url) : {};
	const isService = (protocol === "https:" || protocol === "http:") && username === "" && password === "";
	// Paths are added at the end.
	const isFit = isService && !/[?#]/.test(url);
	if (!isFit) throw new TypeError(`createClient got the url "${url}"; give one such as https://hooks.example.com.`);
}

/** An option without surrounding space, such as the line break at the end of a file. Throws if nothing is left. */
function trimmed(name: string, value: unknown): string {
	const text = typeof value === "string" ? value.trim() : "";
	if (text === "") throw new TypeError(`createClient needs "${name}". Is its environment variable set?`);
	return text;
}

/** Throws for a key that no header can carry. */
function checkKey(key: string): void {
	if (!/^[\x21-\x7e]+$/.test(key))
		throw new TypeError(
			"createClient got a key with spaces, line breaks or other characters that no key has. Pass all of phk_…, as it was shown.",
		);
}

/** Throws unless these can be events; the service checks the rest. */
function checkEvents(events: readonly unknown[]): void {
	for (const event of events)
		if (typeof event !== "object" || event === null || Array.isArray(event))
			throw new InvalidCallError(
				`publish got ${Array.isArray(event) ? "an array within an array" : event === null ? "null" : typeof event} instead of an event: ` +
					'pass one such as { type: "purchase.completed", data: { … } }, or an array of them.',
			);
}

/** The events as JSON. Throws for a BigInt and the like. */
function written(events: unknown): string {
	try {
		return JSON.stringify(events);
	} catch (cause) {
		throw new InvalidCallError(
			"publish got an event that JSON can't hold: one with a BigInt, which has to become a number or a string, or with a cycle.",
			{ cause },
		);
	}
}

/** What the service responded to a publish call. Undefined if it doesn't confirm each of the events. */
function confirmed(text: string, batch: boolean, count: number): readonly PublishedEvent[] | undefined {
	const body = parsed(text) as { events?: unknown } | undefined | null;
	const events = batch ? body?.events : [body];
	const isComplete =
		Array.isArray(events) && events.length === count && events.every((event) => typeof event?.seq === "number");
	return isComplete ? events : undefined;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** A client for one project. It has no state and needs no closing. */
export function createClient({ retry = {}, fetch: doFetch = fetch, ...given }: ClientOptions): Client {
	const url = trimmed("url", given.url);
	const key = trimmed("key", given.key);
	const project = trimmed("project", given.project);
	checkUrl(url);
	checkKey(key);
	checkRetry(retry);
	const baseUrl = url.replace(/\/+$/, "");

	/** Throws for everything but 2xx, after the retries that the call allows. */
	async function call(request: Request, idempotent = SAFE_TO_REPEAT.has(request.method)): Promise<Response> {
		const url = new URL(request.url);
		const { method, signal } = request;
		const headers = Object.fromEntries(request.headers);
		// Read once, because each try sends it. Firefox has no `Request.body`, so its length says whether there is one.
		const bytes = await request.arrayBuffer();
		const body = bytes.byteLength > 0 ? bytes : null;
		// Another `fetch`, such as that of the package undici, doesn't take this realm's Request.
		const init = { ...optionsOf(request), method, headers, body, redirect: REDIRECT } as const;
		const attempt = async (until: AbortSignal) => complete(await doFetch(url, { ...init, signal: until }));
		return withRetries(attempt, { name: `${method} ${url.pathname}`, url, idempotent, signal }, retry);
	}

	const api = createFetchClient<paths>({
		baseUrl,
		fetch: (request) => call(request),
		headers: { Authorization: `Bearer ${key}` },
		// Lists as the service prefers them: `type=a,b`.
		querySerializer: { array: { style: "form", explode: false } },
	});
	api.use({
		// Parsing another server's page would only say that a character is unexpected.
		async onResponse({ request, response, schemaPath, options }) {
			const isJson = options.parseAs === "json" && schemaPath.startsWith("/v1/") && request.method !== "HEAD";
			// The service itself responds like this. Not checked here, because that would parse each response twice.
			const isOwn = response.body && /json|csv|event-stream/.test(response.headers.get("content-type") ?? "");
			if (!isJson || isOwn || !response.ok || response.status === 204) return;
			const text = await response.clone().text();
			if (parsed(text) === undefined)
				throw new ApiError(`${request.method} ${new URL(request.url).pathname}`, response, text);
		},
	});
	const events = "/v1/projects/{project_id}/events";
	const path = { project_id: project };
	const eventsUrl = new URL(`${baseUrl}/v1/projects/${encodeURIComponent(project)}/events`);

	const readPage: ReadPage = async (query, signal, retries) => {
		const at = new URL(eventsUrl);
		for (const [name, value] of Object.entries(query))
			if (value !== undefined) at.searchParams.set(name, Array.isArray(value) ? value.join(",") : String(value));
		const name = `GET ${at.pathname}`;
		const attempt = async (until: AbortSignal) => {
			const headers = { Authorization: `Bearer ${key}` };
			return complete(await doFetch(at, { headers, signal: until, redirect: REDIRECT }));
		};
		const response = await withRetries(attempt, { name, url: at, idempotent: true, signal }, retries);
		const text = await response.text();
		const page = parsePage(text);
		if (page === undefined) throw new ApiError(name, response, text);
		return page;
	};

	async function publish(events: readonly NewEvent[], options?: CallOptions): Promise<readonly PublishedEvent[]>;
	async function publish(event: NewEvent, options?: CallOptions): Promise<PublishedEvent>;
	async function publish(
		given: NewEvent | readonly NewEvent[],
		{ signal }: CallOptions = {},
	): Promise<PublishedEvent | readonly PublishedEvent[]> {
		const batch = Array.isArray(given);
		checkEvents(batch ? given : [given]);
		const named = (batch ? given : [given]).map((event: NewEvent) => ({ ...event, id: event.id ?? newEventId() }));
		const body = batch ? { events: named } : named[0]!;
		const json = written(body);
		const { data, response } = await api.POST(events, {
			params: { path },
			body,
			bodySerializer: () => json,
			parseAs: "text",
			// Each event has an id, so repeating the call changes nothing.
			fetch: (request) => call(request, true),
			...(signal && { signal }),
		});
		const text = typeof data === "string" ? data : "";
		const published = confirmed(text, batch, named.length);
		// A proxy or another server may respond with 2xx, too.
		if (published === undefined) throw new ApiError(`POST ${eventsUrl.pathname}`, response, text);
		return batch ? published : published[0]!;
	}

	return {
		api,
		publish,
		follow: (options = {}) => follow(readPage, options),
		async read(from, { types, limit = 200, signal } = {}) {
			return readPage({ ...checkedPosition(from), type: types, limit, wait: 0 }, signal, retry);
		},
		end: ({ signal } = {}) => endOfLog(readPage, signal, retry),
		async get(eventId, { signal } = {}) {
			if (typeof eventId !== "string" || eventId === "")
				throw new InvalidCallError(
					`get got ${eventId === "" ? "an empty id" : String(eventId)} instead of an event's id, such as evt_paid-1042.`,
				);
			const { data, response } = await api.GET(`${events}/{event_id}`, {
				params: { path: { ...path, event_id: eventId } },
				parseAs: "text",
				...(signal && { signal }),
			});
			const raw = typeof data === "string" ? data : "";
			const body = parsed(raw) as Partial<LogEvent> | undefined | null;
			if (typeof body?.id !== "string") throw new ApiError(`GET ${eventsUrl.pathname}/${eventId}`, response, raw);
			const event = Object.defineProperty(body as LogEvent, "raw", { value: raw, enumerable: false });
			return { event, seq: Number(response.headers.get("x-posthorn-seq")) };
		},
	};
}
