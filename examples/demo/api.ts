/** The parts of the API's responses that the demonstration uses. */
export interface Project {
	readonly id: string;
	readonly name: string;
}

export interface Webhook {
	readonly id: string;
	readonly url: string;
	readonly description: string;
	readonly events: readonly string[];
}

export interface Published {
	readonly id: string;
	readonly seq: number;
	readonly type: string;
}

/** A call to one of the routes for store facts. */
export interface Report {
	readonly method: "POST" | "PUT";
	/** Relative to the project's path, such as `/orders`. */
	readonly path: string;
	readonly body?: Readonly<Record<string, unknown>>;
}

/** An event as it is in the log. */
export interface LoggedEvent extends Published {
	readonly created_at: string;
	readonly data: Readonly<Record<string, unknown>>;
}

export interface Attempt {
	readonly id: string;
	readonly webhook_id: string;
	readonly event_id: string;
	readonly event_type: string;
	readonly attempt: number;
	readonly replay: number;
	readonly url: string;
	readonly request_headers: Readonly<Record<string, string>>;
	readonly status_code: number | null;
	readonly error: string | null;
	readonly response_ms: number;
	readonly status: "delivered" | "retrying" | "failed";
	readonly next_retry_at: string | null;
	readonly started_at: string;
}

interface Page<T> {
	readonly data: readonly T[];
	readonly next_cursor: string | null;
}

interface LogPage {
	readonly data: readonly Omit<LoggedEvent, "seq">[];
	readonly last_seq: number;
}

/** The service returned an error, didn't respond, or returned something other than JSON. */
export class ApiError extends Error {
	override readonly name = "ApiError";
}

export interface Api {
	/** Creates the operator's account with the setup link's token. */
	setUp(account: { token: string; email: string; name: string; password: string }): Promise<void>;
	/** Creates a link that signs this account in once. */
	createSignInLink(email: string): Promise<{ readonly url: string }>;
	createProject(name: string): Promise<Project>;
	listEventTypes(): Promise<string[]>;
	createWebhook(projectId: string, input: NewWebhook): Promise<Webhook & { readonly secret: string }>;
	/** Reports a store fact, and returns the events published immediately. */
	report(projectId: string, fact: Report): Promise<readonly Published[]>;
	/** Waits up to 20 s for the first event of this type after `after`; null if none arrives or `signal` aborts. */
	nextEvent(projectId: string, type: string, after: number, signal: AbortSignal): Promise<LoggedEvent | null>;
	/** All attempts in the delivery log that started at `since` or later, newest first. */
	attemptsSince(projectId: string, since: Date): Promise<Attempt[]>;
	/** Whether the service reports that it is ready; false while nothing is listening yet. */
	isReady(): Promise<boolean>;
}

export interface NewWebhook {
	readonly url: string;
	readonly description: string;
	readonly events: readonly string[];
}

const CALL_TIMEOUT_MS = 30_000;
const READY_TIMEOUT_MS = 1_000;
const PAGE_LIMIT = 200;
/** How long a call waits for an event, seconds. */
const WAIT_S = 20;

/** A client of the service's HTTP API. All calls except `isReady` throw an `ApiError` if they fail. */
export function connectApi(baseUrl: string, key: string): Api {
	return {
		async setUp(account) {
			await call("POST", "/v1/setup", account, {});
		},
		createSignInLink: (email) => call("POST", "/v1/sign-in-links", { email }),
		createProject: (name) => call("POST", "/v1/projects", { name }),
		async listEventTypes() {
			return (await call<readonly { type: string }[]>("GET", "/v1/event-types")).map(({ type }) => type);
		},
		createWebhook: (projectId, input) => call("POST", `/v1/projects/${projectId}/webhooks`, input),
		async report(projectId, { method, path, body }) {
			const answer = await call<{ events?: readonly Published[] }>(method, `/v1/projects/${projectId}${path}`, body);
			return answer.events ?? [];
		},
		async nextEvent(projectId, type, after, signal) {
			const query = new URLSearchParams({ type, after: String(after), limit: "1", wait: String(WAIT_S) });
			const path = `/v1/projects/${projectId}/events?${query}`;
			try {
				const { data, last_seq: seq } = await call<LogPage>("GET", path, undefined, undefined, signal);
				return data[0] === undefined ? null : { ...data[0], seq };
			} catch (error) {
				if (signal.aborted) return null;
				throw error;
			}
		},
		async attemptsSince(projectId, since) {
			const attempts: Attempt[] = [];
			const query = new URLSearchParams({ since: since.toISOString(), limit: String(PAGE_LIMIT) });
			for (;;) {
				const page = await call<Page<Attempt>>("GET", `/v1/projects/${projectId}/attempts?${query}`);
				attempts.push(...page.data);
				if (page.next_cursor === null) return attempts;
				query.set("cursor", page.next_cursor);
			}
		},
		async isReady() {
			try {
				const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
				await response.arrayBuffer();
				return response.ok;
			} catch (error) {
				// Nothing is listening yet, or the response timed out.
				if (error instanceof TypeError || error instanceof DOMException) return false;
				throw error;
			}
		},
	};

	async function call<T>(
		method: string,
		path: string,
		body?: unknown,
		credentials: Readonly<Record<string, string>> = { authorization: `Bearer ${key}` },
		stop?: AbortSignal,
	): Promise<T> {
		const what = `${method} ${baseUrl}${path}`;
		const headers: Record<string, string> = { ...credentials, accept: "application/json" };
		if (body !== undefined) headers["content-type"] = "application/json";
		let response: Response;
		let text: string;
		try {
			const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
			const signal = stop === undefined ? timeout : AbortSignal.any([timeout, stop]);
			response = await fetch(what.slice(method.length + 1), {
				method,
				headers,
				signal,
				...(body === undefined ? {} : { body: JSON.stringify(body) }),
			});
			text = await response.text();
		} catch (error) {
			throw new ApiError(`${what} got no response: ${reason(error)}`, { cause: error });
		}
		if (!response.ok) throw new ApiError(`${what} returned ${response.status}: ${text}`);
		try {
			return JSON.parse(text) as T;
		} catch (error) {
			throw new ApiError(`${what} returned something other than JSON: ${text}`, { cause: error });
		}
	}
}

/** `fetch` only says "fetch failed"; the reason is in the cause. */
function reason(error: unknown): string {
	if (!(error instanceof Error)) return String(error);
	return error.cause instanceof Error ? error.cause.message : error.message;
}
