import type { components } from "../../api-types/src/api.ts";
import type { Position } from "./events.ts";

type ProblemBody = components["schemas"]["Problem"];

/** A fault of one field: a JSON Pointer into the body, or `?name` for a query parameter, and what is wrong with it. */
export interface FieldFault {
	readonly pointer: string;
	readonly detail: string;
}

/** What every error of this client has in common. */
export class PosthornError extends Error {
	override readonly name: string = "PosthornError";
}

/** The call can't be made as it is, so it wasn't sent, and isn't retried: the program has to be corrected. */
export class InvalidCallError extends PosthornError {
	override readonly name = "InvalidCallError";
}

/** The service couldn't be reached, or a response never came. The error's `cause` has the reason. */
export class ConnectionError extends PosthornError {
	override readonly name = "ConnectionError";
}

/** The service refused the call. */
export class ApiError extends PosthornError {
	override readonly name: string = "ApiError";
	/** The HTTP status. */
	readonly status: number;
	/** A stable code: the last part of the problem's type, such as `invalid`. `unknown` if a proxy responded instead. */
	readonly code: string;
	/** The problem's type (RFC 9457), such as `/problems/invalid`; the service explains it at this path. */
	readonly type: string;
	readonly title: string;
	/** What happened, and what to do. */
	readonly detail: string;
	/** The faults of an invalid request, otherwise empty. */
	readonly errors: readonly FieldFault[];
	/** Names the request in the service's log. */
	readonly requestId: string | null;
	/** When to try again, in seconds, if the service says so. */
	readonly retryAfter: number | null;

	constructor(request: string, response: Response, body: string) {
		const problem = problemIn(body);
		const { title = response.statusText, detail = redirect(response) ?? foreign(body) } = problem ?? {};
		const errors = problem?.errors ?? [];
		const faults = errors.map((fault) => `\n  ${fault.pointer || "the body"} ${fault.detail}`);
		const what = faults.length > 0 ? `${title}.` : detail;
		const where = / \S*\/v1\/v1\//.test(request) ? " Leave /v1 out of the service's URL." : "";
		super(`${request} → ${response.status}: ${what}${faults.slice(0, SHOWN_FAULTS).join("")}${where}`);
		this.status = response.status;
		this.type = problem?.type ?? "about:blank";
		this.code = problem === null ? "unknown" : this.type.slice(this.type.lastIndexOf("/") + 1);
		this.title = title;
		this.detail = detail;
		this.errors = errors;
		this.requestId = response.headers.get("x-request-id");
		this.retryAfter = retryAfter(response);
	}
}

/**
 * The log no longer holds what was read: after a failover or a restore it continues from an earlier event, and sequence
 * numbers that were seen belong to other events.
 */
export class LogBehindError extends ApiError {
	override readonly name = "LogBehindError";
	/** Continue from here: pass it as `from`. */
	readonly position: Position;
	/** The last sequence number of the log as it is now. */
	readonly lastSeq: number;

	constructor(request: string, response: Response, body: string) {
		super(request, response, body);
		const { continue_after = 0, last_seq = 0, epoch } = problemIn(body) ?? {};
		this.position = { after: continue_after, ...(epoch !== undefined && { epoch }) };
		this.lastSeq = last_seq;
	}
}

const SHOWN_FAULTS = 5;
const SHOWN_TEXT = 200;

/** The error for a response that isn't 2xx. Reads its body. */
export async function errorOf(request: string, response: Response): Promise<ApiError> {
	const body = await response.text().catch(() => "");
	const { type } = problemIn(body) ?? {};
	const Kind = type === "/problems/log-behind" ? LogBehindError : ApiError;
	return new Kind(request, response, body);
}

/** Seconds to wait, from `Retry-After` in either of its forms (RFC 9110, 10.2.3); null without a valid one. */
export function retryAfter({ headers }: Response): number | null {
	const value = headers.get("retry-after");
	if (value === null) return null;
	if (/^\d{1,9}$/.test(value.trim())) return Number(value);
	const at = Date.parse(value);
	return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

/** Null for other servers' problem documents, too, such as a proxy's: their types are URLs, and their members differ. */
function problemIn(body: string): ProblemBody | null {
	try {
		const parsed = JSON.parse(body) as Partial<ProblemBody> | null;
		const isOurs = String(parsed?.type).startsWith("/problems/") && typeof parsed?.detail === "string";
		const faults = parsed?.errors ?? [];
		const areOurs = Array.isArray(faults) && faults.every((fault) => typeof fault?.detail === "string");
		return isOurs && areOurs ? (parsed as ProblemBody) : null;
	} catch {
		return null;
	}
}

/** What a redirect means for the caller; undefined if the response isn't one. */
function redirect({ type, status, headers }: Response): string | undefined {
	const location = headers.get("location");
	// Browsers hide everything about it.
	if (type !== "opaqueredirect" && (location === null || status < 300 || status > 399)) return undefined;
	const where = location === null ? "" : ` to ${location.slice(0, SHOWN_TEXT)}`;
	return `The response is a redirect${where}, which isn't followed. Use a URL that leads to the service directly.`;
}

function foreign(body: string): string {
	const text = body.replaceAll(/\s+/g, " ").trim().slice(0, SHOWN_TEXT);
	return text === ""
		? "The response has no body. Does the URL lead to Posthorn?"
		: `The response isn't Posthorn's. Does the URL lead to it? It says: "${text}".`;
}
