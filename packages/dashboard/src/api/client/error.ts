/** One fault in an input: its location, as a JSON Pointer into the body (or `?name`), and what is wrong. */
export interface Fault {
	readonly pointer: string;
	readonly detail: string;
}

export interface ProblemBody {
	readonly type: string;
	readonly title: string;
	readonly status: number;
	readonly detail: string;
	readonly errors: readonly Fault[];
}

/** A response other than success (RFC 9457), or status 0 if there was no response at all. */
export class ApiError extends Error {
	override readonly name = "ApiError";
	/** The stable code: the last part of the problem's type, such as `not-found`; `unreachable` or `offline` without a response. */
	readonly code: string;
	readonly status: number;
	readonly title: string;
	readonly detail: string;
	readonly errors: readonly Fault[];
	/** Seconds until a retry makes sense, if the response says so. */
	readonly retryAfter: number | null;

	constructor(problem: ProblemBody, retryAfter: number | null = null) {
		super(problem.detail);
		this.code = problem.type.split("/").at(-1) ?? "";
		this.status = problem.status;
		this.title = problem.title;
		this.detail = problem.detail;
		this.errors = problem.errors;
		this.retryAfter = retryAfter;
	}
}

export const isStatus = (error: unknown, ...statuses: number[]): error is ApiError =>
	error instanceof ApiError && statuses.includes(error.status);

/** For `catch`: `value` in place of an error with that status. Other errors are thrown again. */
export const ifStatus =
	<Value>(status: number, value: Value) =>
	(error: unknown): Value => {
		if (isStatus(error, status)) return value;
		throw error;
	};

/** Whether the service, or a proxy in front of it, couldn't handle the request for now. */
export const isUnavailable = (error: unknown): error is ApiError => isStatus(error, 0, 502, 503, 504);

export const UNREACHABLE: ProblemBody = {
	type: "/problems/unreachable",
	title: "The service isn't responding",
	status: 0,
	detail: "There was no response. Check your connection and that the service is running, then try again.",
	errors: [],
};

export const OFFLINE: ProblemBody = {
	type: "/problems/offline",
	title: "You're offline",
	status: 0,
	detail: "Your browser has no connection. Once it's back, the page updates.",
	errors: [],
};

/** As {@link OFFLINE}, for calls that change something. */
export const OFFLINE_CHANGE: ProblemBody = {
	...OFFLINE,
	detail: "Your browser has no connection. Try again once it's back.",
};
