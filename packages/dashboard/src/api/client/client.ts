import { parseJson } from "../../lib/text/parse-json.ts";
import { noteServerTime } from "../../lib/text/server-time.ts";
import { csrfToken, forgetSession, refreshSession } from "../session-cache.ts";
import { ApiError, type Fault, OFFLINE, OFFLINE_CHANGE, type ProblemBody, UNREACHABLE } from "./error.ts";
import { holding } from "./gate.ts";
import type { Arguments, PathWith, ResponseOf, Verb } from "./operation.ts";

type Scalar = string | number | boolean;

export interface CallOptions {
	/** Fills the `{names}` of the path. */
	readonly path?: Readonly<Record<string, string>>;
	/** Undefined, null and empty values are left out; a list is several parameters of one name. */
	readonly query?: Readonly<Record<string, Scalar | readonly Scalar[] | null | undefined>>;
	readonly body?: unknown;
	readonly signal?: AbortSignal;
	/** Is given the headers of a successful response. */
	readonly onHeaders?: (headers: Headers) => void;
}

/** Paths whose data follows a stream of hints. */
const OF_PROJECT = "/v1/projects/{project_id}/";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** `/v1/projects/{project_id}` with its parameters filled in and the query appended. */
export function callUrl(template: string, { path = {}, query = {} }: Pick<CallOptions, "path" | "query">): string {
	const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
		const value = path[name];
		if (value === undefined) throw new TypeError(`The path ${template} needs a value for ${name}.`);
		return encodeURIComponent(value);
	});
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) {
		for (const one of [value ?? []].flat() as readonly Scalar[]) if (one !== "") search.append(name, String(one));
	}
	return search.size === 0 ? filled : `${filled}?${search}`;
}

/**
 * Codes of refusals after which the session is refetched: the user's role or the project's apps have changed, and so has
 * what pages may offer. A proxy's 403 has no code; if it refused the session itself, refetching would never end.
 */
const RIGHTS_CHANGED: ReadonlySet<string> = new Set(["forbidden", "app-not-installed"]);

/**
 * One API call with the session's cookie, and with its CSRF token if it changes something. Returns the JSON body, or
 * undefined for 204. Throws {@link ApiError} for anything but success; a 401 also ends the session here, unless another
 * one has begun, and one about a missing right or app refetches it.
 */
export async function callApi<Body>(method: Method, template: string, options: CallOptions = {}): Promise<Body> {
	const headers = new Headers({ accept: "application/json" });
	const session = csrfToken();
	if (method !== "GET" && session !== null) headers.set("x-csrf-token", session);
	if (options.body !== undefined) headers.set("content-type", "application/json");
	if (method === "GET" && template.startsWith(OF_PROJECT)) await holding();
	const sentAt = Date.now();
	const broken = (error: unknown): never => {
		if (options.signal?.aborted === true) throw error;
		throw new ApiError(navigator.onLine !== false ? UNREACHABLE : method === "GET" ? OFFLINE : OFFLINE_CHANGE);
	};
	const response = await fetch(callUrl(template, options), {
		method,
		headers,
		credentials: "same-origin",
		cache: "no-store",
		...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
		...(options.signal === undefined ? {} : { signal: options.signal }),
	}).catch(broken);
	noteServerTime(response.headers.get("date"), sentAt, Date.now());
	const text = await response.text().catch(broken);
	if (!response.ok) {
		if (response.status === 401 && session !== null && session === csrfToken()) forgetSession();
		const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
		const error = new ApiError(problemOf(text, response), Number.isFinite(wait) ? wait : null);
		if (RIGHTS_CHANGED.has(error.code)) void refreshSession();
		throw error;
	}
	options.onHeaders?.(response.headers);
	return (response.status === 204 ? undefined : JSON.parse(text)) as Body;
}

function problemOf(text: string, { status, statusText }: Response): ProblemBody {
	const fallback: ProblemBody = {
		type: "about:blank",
		title: status >= 502 ? "The service isn't available" : statusText === "" ? `HTTP ${status}` : statusText,
		status,
		detail: `The service returned ${status} without an explanation. Try again. If it keeps happening, check the service's log.`,
		errors: [],
	};
	// A proxy may have responded with its own page.
	const body = parseJson(text);
	if (typeof body !== "object" || body === null) return fallback;
	const { type, title, detail, errors } = body as Record<string, unknown>;
	return {
		type: typeof type === "string" ? type : fallback.type,
		title: typeof title === "string" ? title : fallback.title,
		status,
		detail: typeof detail === "string" ? detail : fallback.detail,
		errors: Array.isArray(errors) ? errors.filter(isFault) : [],
	};
}

const isFault = (value: unknown): value is Fault =>
	typeof value === "object" &&
	value !== null &&
	typeof (value as Fault).pointer === "string" &&
	typeof (value as Fault).detail === "string";

type Caller<V extends Verb> = <P extends PathWith<V>>(
	template: P,
	...options: Arguments<P, V>
) => Promise<ResponseOf<P, V>>;

const caller =
	<V extends Verb>(verb: V): Caller<V> =>
	(template, ...[options]) =>
		callApi(verb.toUpperCase() as Method, template, options as CallOptions | undefined);

/** The API by method, typed by its OpenAPI document: `api.get("/v1/projects/{project_id}", { path: { project_id } })`. */
export const api = {
	get: caller("get"),
	post: caller("post"),
	put: caller("put"),
	patch: caller("patch"),
	delete: caller("delete"),
};
