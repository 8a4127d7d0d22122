import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { PasswordsBusy } from "../../accounts/index.ts";
import { REQUESTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { type Fault, grouped } from "../../base/text.ts";
import type { Busy } from "../../engine/engine.ts";
import { StorageError } from "../../storage/port.ts";
import { closeAfter, NOT_ONE_HOST, SMALL_CHUNKS } from "./connections.ts";
import type { FailureLog } from "./failure-log.ts";

/**
 * Every kind of error that the API returns (RFC 9457): its type, status and title, when it is returned, and what
 * to do. The last part of the type, `/problems/…`, is a stable code for programs; the path explains it.
 */
export const PROBLEMS = {
	"malformed-request": {
		status: 400,
		title: "The request is malformed",
		meaning:
			"The request isn't valid HTTP, its body isn't JSON in UTF-8, or the body is shorter or longer than its Content-Length.",
		action: "Correct the request. `detail` says what is wrong. Sending it again unchanged won't help.",
	},
	unauthorized: {
		status: 401,
		title: "A valid API key is needed",
		meaning: "There is no API key, or it is unknown, revoked or expired; or a session has ended.",
		action: "Send a valid key as `Authorization: Bearer KEY`. Sign in again if you use the dashboard.",
	},
	forbidden: {
		status: 403,
		title: "This key may not do that",
		meaning:
			"The key is valid, but lacks the scope or role for this call; or a browser's request came from another site.",
		action:
			"Use a key with the scope that the API reference names. A key's scopes can't be changed: create another. Some calls are only for members or the operator.",
	},
	"not-found": {
		status: 404,
		title: "Not found",
		meaning: "The path, or what it refers to, doesn't exist, or belongs to a project that this key can't see.",
		action: "Check the path, the ids and which project the key belongs to.",
	},
	"method-not-allowed": {
		status: 405,
		title: "Method not allowed",
		meaning: "The path exists, but not with this method.",
		action: "Use one of the methods in the header `Allow`.",
	},
	"request-timeout": {
		status: 408,
		title: "The request took too long",
		meaning: "The request didn't arrive completely in time.",
		action: "Send it again. If it happens often, check the network between client and service.",
	},
	conflict: {
		status: 409,
		title: "Conflict",
		meaning:
			"The request contradicts what is stored: for example, an event's `id` belongs to an event with different content.",
		action: "`detail` and `errors` name the contradiction. Choose another id, or send the original content.",
	},
	"log-behind": {
		status: 409,
		title: "The log does not reach that far",
		meaning:
			"A failover or a restore has lost events that you have read, and their sequence numbers now belong to other events.",
		action:
			"Continue with `after` set to `continue_after`, and with the `epoch` of this response. Events after it that you handled are no longer in the log.",
	},
	"app-not-installed": {
		status: 409,
		title: "The Developer app is not installed",
		meaning:
			"The project doesn't have the Developer app, which webhooks, API keys and the delivery log need. Publishing works without it.",
		action: "Install it under Apps in the dashboard, or with `PUT /v1/projects/{project_id}/apps/developer`.",
	},
	"too-large": {
		status: 413,
		title: "Too large",
		meaning: "The body, or one event's data, is larger than this call accepts.",
		action: "Send less, such as a reference to the rest, or split a batch. `detail` gives the limit.",
	},
	"unsupported-media-type": {
		status: 415,
		title: "Unsupported media type",
		meaning: "The `Content-Type` isn't JSON, or the body is compressed.",
		action: "Send `Content-Type: application/json`, and no `Content-Encoding`.",
	},
	invalid: {
		status: 422,
		title: "Some fields are not acceptable",
		meaning: "Some fields or query parameters are wrong, unknown or missing.",
		action:
			"`errors` lists each error: `pointer` says where (a JSON Pointer, or `?name` for a query parameter), `detail` says why.",
	},
	"too-many-requests": {
		status: 429,
		title: "Too many requests",
		meaning:
			"One of your budgets is used up: requests per minute, bodies in flight, waiting calls, or your share of the publish queue. Nothing was done.",
		action: "Wait for the number of seconds in `Retry-After`, then send the same request again.",
	},
	"header-too-large": {
		status: 431,
		title: "The request's header is too large",
		meaning: "The header of the request is larger than the service reads.",
		action: "Send fewer or shorter headers and cookies, or a shorter path.",
	},
	internal: {
		status: 500,
		title: "Something went wrong on our side",
		meaning: "The service failed. Its log has the details, under the response's `X-Request-Id`.",
		action: "Tell the operator the request id. An event with an `id` can be published again safely.",
	},
	unavailable: {
		status: 503,
		title: "Temporarily unavailable",
		meaning:
			"The node is at its limit, starting or stopping, or something it needs, such as its database, is unavailable.",
		action:
			"Wait for the number of seconds in `Retry-After`, then send the same request again. An event may have been published nevertheless; with its own `id` that does no harm.",
	},
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

/** A response lists at most this many faults, so checks may stop there. */
export const MAX_FAULTS = 1_000;

interface ProblemOptions {
	readonly errors?: readonly Fault[];
	readonly headers?: Readonly<Record<string, string>>;
	/** Additional members of the body, for programs. */
	readonly members?: Readonly<Record<string, string | number>>;
}

/** An error response, to be thrown. `detail` says what happened and what to do. */
export class Problem extends Error {
	override readonly name = "Problem";
	readonly kind: ProblemKind;
	readonly errors: readonly Fault[] | undefined;
	readonly headers: Readonly<Record<string, string>>;
	readonly #members: Readonly<Record<string, string | number>>;

	constructor(kind: ProblemKind, detail: string, { errors, headers = {}, members = {} }: ProblemOptions = {}) {
		super(detail);
		this.kind = kind;
		this.errors = errors;
		this.headers = headers;
		this.#members = members;
	}

	get statusCode(): number {
		return PROBLEMS[this.kind].status;
	}

	toJSON(): Record<string, unknown> {
		const { status, title } = PROBLEMS[this.kind];
		const body = { type: `/problems/${this.kind}`, title, status, detail: this.message, ...this.#members };
		return this.errors ? { ...body, errors: this.errors } : body;
	}
}

export const PROBLEM_TYPE = "application/problem+json";

/** 422 with every fault. */
export function invalid(faults: readonly Fault[]): Problem {
	const errors = faults.slice(0, MAX_FAULTS);
	const all = errors.length === faults.length;
	const count = all ? (faults.length === 1 ? "One field is" : `${faults.length} fields are`) : "Very many fields are";
	const listed = all ? "says where and why" : `names ${errors.length} of them`;
	return new Problem("invalid", `${count} not acceptable; "errors" ${listed}.`, { errors });
}

/** 404, the same whether it never existed or belongs to someone else. */
export function notFound(what: string): Problem {
	return new Problem("not-found", `There is no such ${what}, or this key may not see it.`);
}

/** The value, if there is one. @throws Problem 404 otherwise */
export function found<T>(what: string, value: T | null | undefined | false): T {
	if (value === null || value === undefined || value === false) throw notFound(what);
	return value;
}

/** Whose budget is used up: the caller's own, or the node's. */
type Whose = "own" | "node";

/** When to retry, in seconds. */
export const RETRY_S = {
	/** Requests and commits take moments. */
	soon: 1,
	/** Checking passwords takes longer. */
	passwords: 2,
	/** So do locks and outages of storage, and calls that wait for events. */
	later: 5,
	/** Streams stay open until their page is closed. */
	streams: 30,
} as const;

const OVER_ITS_SHARE = "This project publishes faster than its events can be written. Nothing was written.";

/**
 * "Not now": 429 if one of the caller's budgets is used up; 503 if one of the node's is, or something it needs is
 * unavailable. Says when to retry, in `Retry-After` and in the text.
 *
 * @param why complete sentences
 */
export function retryLater(whose: Whose, why: string, seconds: number = RETRY_S.soon): Problem {
	const kind = whose === "own" ? "too-many-requests" : "unavailable";
	return new Problem(kind, `${why} Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`, {
		headers: { "Retry-After": String(seconds) },
	});
}

/** Events, or facts with theirs, that the log can't take now. */
export function notWritten(refused: Busy | { readonly kind: "locked" }): Problem {
	if (refused.kind === "locked")
		return retryLater(
			"node",
			"A long transaction in the store's database holds this project's log. Nothing was written.",
			RETRY_S.later,
		);
	return retryLater(
		refused.whose,
		refused.whose === "own" ? OVER_ITS_SHARE : "The node's queue to the log is full. Nothing was written.",
	);
}

/** The same, for routes that write events or facts to the log. */
export const LOG_PROBLEMS = {
	"too-many-requests": OVER_ITS_SHARE,
	unavailable: "The node's queue to the log is full, the project's log is locked, or storage is unavailable.",
} as const;

const AWAY = "Storage is temporarily unavailable.";
const LOCKED =
	"Another transaction in the store's database holds this project's rows for too long. Nothing was changed.";
const FULL = "Storage is full: the operator must free some space. Nothing was stored.";

/** Sends any thrown value as a problem, and logs internal errors. */
export function sendProblem(
	error: unknown,
	request: FastifyRequest,
	reply: FastifyReply,
	failures: FailureLog,
): FastifyReply {
	const problem = problemOf(error);
	// The remainder isn't read: Node closes the connection after the response.
	if (!request.raw.complete && hasBody(request)) reply.header("Connection", "close");
	const isExpected = error instanceof Problem || error instanceof PasswordsBusy;
	if (problem.statusCode >= 500 && !isExpected) failures.add(error, request);
	return reply
		.code(problem.statusCode)
		.headers(problem.headers)
		.type(PROBLEM_TYPE)
		.serializer((body: string) => body)
		.send(JSON.stringify(problem));
}

function hasBody({ headers }: FastifyRequest): boolean {
	return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function problemOf(error: unknown): Problem {
	if (error instanceof Problem) return error;
	if (error instanceof PasswordsBusy)
		return retryLater("node", "Too many sign-ins are in progress.", RETRY_S.passwords);
	if (error instanceof StorageError && error.code === "busy")
		return retryLater("own", `${error.message} Nothing was changed.`);
	if (error instanceof StorageError)
		return retryLater("node", error.code === "full" ? FULL : error.code === "locked" ? LOCKED : AWAY, RETRY_S.later);
	const { code, statusCode } = error as { code?: string; statusCode?: number };
	const [kind, detail] = OF_FASTIFY[code ?? ""] ?? [];
	if (kind && detail) return new Problem(kind, detail);
	if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
		return new Problem("malformed-request", "The request could not be read.");
	return new Problem("internal", "The request failed because of an internal error; the service's log has the details.");
}

/** Errors that Fastify finds in a request before a route handles it. */
const OF_FASTIFY: Record<string, [ProblemKind, string]> = {
	FST_ERR_CTP_INVALID_MEDIA_TYPE: [
		"unsupported-media-type",
		"Send the body as JSON, with Content-Type: application/json.",
	],
	FST_ERR_BAD_URL: ["malformed-request", "The path is not validly percent-encoded."],
	FST_ERR_MAX_PARAM_LENGTH: [
		"not-found",
		"There is nothing at this path: one of its segments is longer than any identifier.",
	],
};

/** Errors that Node's parser finds in a request. */
const OF_NODE: Record<string, [ProblemKind, string]> = {
	HPE_HEADER_OVERFLOW: [
		"header-too-large",
		`The request's header is larger than ${grouped(REQUESTS.headerBytes)} bytes. Send fewer or shorter headers and cookies, or a shorter path.`,
	],
	[SMALL_CHUNKS]: ["malformed-request", "The body has too many small chunks. Send it in larger ones."],
	[NOT_ONE_HOST]: ["malformed-request", "The request must have exactly one Host header."],
	ERR_HTTP_REQUEST_TIMEOUT: ["request-timeout", "The request did not arrive in time."],
};
const NO_HTTP: [ProblemKind, string] = ["malformed-request", "This is not a valid HTTP request."];

/** Responds, on the bare socket, to input that didn't become an HTTP request. */
export function refuseConnection(
	error: Error & { code?: string },
	socket: Socket,
	clock: Pick<Clock, "setTimeout">,
): void {
	if (error.code === "ECONNRESET" || !socket.writable || socket.writableLength > 0) {
		socket.destroy();
		return;
	}
	const [kind, detail] = OF_NODE[error.code ?? ""] ?? NO_HTTP;
	const body = JSON.stringify(new Problem(kind, detail));
	const { status, title } = PROBLEMS[kind];
	closeAfter(
		socket,
		clock,
		`HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
	);
}
