import type { Fault } from "../../base/text.ts";
import type { Busy } from "../../engine/engine.ts";

/**
 * Every kind of error that the API returns (RFC 9457): its type, status and title. The last part of the type,
 * `/problems/…`, is a stable code for programs.
 */
export const PROBLEMS = {
	"malformed-request": { status: 400, title: "The request is malformed" },
	unauthorized: { status: 401, title: "A valid API key is needed" },
	forbidden: { status: 403, title: "This key may not do that" },
	"not-found": { status: 404, title: "Not found" },
	"method-not-allowed": { status: 405, title: "Method not allowed" },
	"request-timeout": { status: 408, title: "The request took too long" },
	conflict: { status: 409, title: "Conflict" },
	"log-behind": { status: 409, title: "The log does not reach that far" },
	"app-not-installed": { status: 409, title: "The Developer app is not installed" },
	"too-large": { status: 413, title: "Too large" },
	"unsupported-media-type": { status: 415, title: "Unsupported media type" },
	invalid: { status: 422, title: "Some fields are not acceptable" },
	"too-many-requests": { status: 429, title: "Too many requests" },
	"header-too-large": { status: 431, title: "The request's header is too large" },
	internal: { status: 500, title: "Something went wrong on our side" },
	unavailable: { status: 503, title: "Temporarily unavailable" },
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

/** A response lists at most this many faults, so checks may stop there. */
export const MAX_FAULTS = 1_000;

export interface ProblemOptions {
	readonly errors?: readonly Fault[];
	/** Headers sent with the response. */
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
	const told = all ? "says where and why" : `names ${errors.length} of them`;
	return new Problem("invalid", `${count} not acceptable; "errors" ${told}.`, { errors });
}

/** 404, the same whether it never existed or belongs to someone else. */
export function notFound(what: string): Problem {
	return new Problem("not-found", `There is no such ${what}, or this key may not see it.`);
}

/** Whose budget is used up: the caller's own, or the node's. */
export type Whose = "own" | "node";

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
export function comeAgain(whose: Whose, why: string, seconds: number = RETRY_S.soon): Problem {
	const kind = whose === "own" ? "too-many-requests" : "unavailable";
	return new Problem(kind, `${why} Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`, {
		headers: { "Retry-After": String(seconds) },
	});
}

/** Events, or facts with theirs, that the log can't take now. */
export function notWritten(refused: Busy | { readonly kind: "locked" }): Problem {
	if (refused.kind === "locked")
		return comeAgain(
			"node",
			"A long transaction in the store's database holds this project's log. Nothing was written.",
			RETRY_S.later,
		);
	return comeAgain(
		refused.whose,
		refused.whose === "own" ? OVER_ITS_SHARE : "The node's queue to the log is full. Nothing was written.",
	);
}

/** The same, for routes that write events or facts to the log. */
export const LOG_PROBLEMS = {
	"too-many-requests": OVER_ITS_SHARE,
	unavailable: "The node's queue to the log is full, the project's log is locked, or storage is unavailable.",
} as const;
