import type { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { Accounts, ApiKeys, AuditNote, Person, Principal } from "../accounts/index.ts";
import type { RateName } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import { EVENT_ID, type IdSource, isId } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { Fault } from "../base/text.ts";
import type { Pause } from "../base/turns.ts";
import type { Config } from "../config/index.ts";
import type { Engine } from "../engine/engine.ts";
import type { Quarantine } from "../engine/quarantine.ts";
import type { RetentionClock } from "../engine/retention-clock.ts";
import type { Shortages } from "../net/shortages.ts";
import type { HealthCount } from "../registry/health-count.ts";
import type { Projects } from "../registry/projects.ts";
import type { UrlCheck } from "../registry/url-check.ts";
import type { Webhooks } from "../registry/webhooks.ts";
import type { References } from "../search/references.ts";
import type { Actor, KeyScope, Role, StillAllowed, StillMember, Storage } from "../storage/port.ts";
import type { Store } from "../store/index.ts";
import type { SessionCookie } from "./auth/authorize.ts";
import type { Changes, LongPolls } from "./changes.ts";
import type { ConnectionLimits } from "./http/connections.ts";
import type { BodyList } from "./http/json-body.ts";
import { notFound, type ProblemKind } from "./http/problem.ts";
import type { Metrics } from "./metrics.ts";

/** Who may call a route. If a path names a project, callers without access to it get 404. */
export type Access =
	/** Anyone, without a key. */
	| "open"
	/** Any key, and any signed-in user. */
	| "any"
	/** Any signed-in user, but no key. */
	| "signed_in"
	/** The operator, by key or signed in. */
	| "operator"
	/** The operator, the project's own key, and members of the project (see {@link RouteRow.role}). */
	| "project"
	/** The same, and the project must have the Developer app (409 otherwise). */
	| "developer";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Success<R extends TSchema> {
	readonly status: 200 | 201 | 202 | 204;
	readonly description: string;
	readonly schema?: R;
	/** `application/json` by default. */
	readonly contentType?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

/** Identifiers in paths that this service made: their name in code, their kind, and what they name. */
export const PATH_IDS = {
	project_id: { name: "projectId", kind: "project", what: "project" },
	key_id: { name: "keyId", kind: "apiKey", what: "API key" },
	webhook_id: { name: "webhookId", kind: "webhook", what: "webhook" },
	attempt_id: { name: "attemptId", kind: "attempt", what: "attempt" },
	account_id: { name: "accountId", kind: "account", what: "member" },
	session_id: { name: "sessionId", kind: "session", what: "session" },
	invitation_id: { name: "invitationId", kind: "invitation", what: "invitation" },
} as const;

/** The others, which publishers and the store platform choose: their names in code. */
const GIVEN_IDS = {
	event_id: "eventId",
	event_type: "eventType",
	problem: "problem",
	order_id: "orderId",
	deliverable_id: "deliverableId",
	basket_id: "basketId",
	subscription_id: "subscriptionId",
} as const;

type Named<Table> = Table[keyof Table];
export type PathParams = Readonly<Record<Named<typeof PATH_IDS>["name"] | Named<typeof GIVEN_IDS>, string>>;

/** A path's parameters by their names in code. Throws 404 if an identifier doesn't have the form of those that exist. */
export function readPathParams(given: Readonly<Record<string, string>>): Partial<PathParams> {
	const params: Record<string, string> = {};
	for (const name in given) {
		const value = given[name]!;
		const known = PATH_IDS[name as keyof typeof PATH_IDS];
		if (known !== undefined && !isId(known.kind, value)) throw notFound(known.what);
		params[known?.name ?? GIVEN_IDS[name as keyof typeof GIVEN_IDS]] = value;
	}
	if (params.eventId !== undefined && !EVENT_ID.test(params.eventId)) throw notFound("event");
	return params;
}

export interface Call<Q, B> {
	readonly params: PathParams;
	readonly query: Q;
	readonly body: B;
	readonly request: FastifyRequest;
	readonly reply: FastifyReply;
	/** The caller. @throws Error on open routes, whose callers aren't authenticated */
	readonly principal: Principal;
	/** Whose right storage checks again with a change: null for the operator. @throws like {@link principal} */
	readonly by: StillAllowed | null;
	/** The same on routes that no project's key may call. @throws like {@link principal} */
	readonly byMember: StillMember | null;
	/** The caller on `signed_in` routes. @throws Error on others */
	readonly person: Person;
	/**
	 * Records the action in the audit log, when the handler is done and before the response is sent. By default, the
	 * caller did it; open routes have to name the actor.
	 */
	audit(note: AuditNote, by?: Actor): void;
	/** Creates a large response in the principal's turn; for routes that wait before, and so aren't `heavy` as a whole. */
	heavy<T>(make: () => Promise<T>): Promise<T>;
	/** Call before each piece of work on a large body: waits for the next turn if this one has done enough. */
	readonly pause: Pause;
	/** Whether the caller still has access: for long responses. */
	isStillAllowed(): Promise<boolean>;
	/** Throws what the caller would get now, if that is a refusal: for handlers that wait before they read. */
	authorizeAgain(): Promise<void>;
	/**
	 * For a change that storage didn't make, because its target is gone or the caller has lost the right to make it.
	 * Throws what the caller would get now if that is a refusal, else 404 for `what`.
	 */
	gone(what: string): Promise<never>;
}

/** A route is a row of data; the server, the documentation and tests are built from it. */
export interface RouteRow<Q extends TSchema, B extends TSchema, R extends TSchema> {
	readonly summary: string;
	readonly description?: string;
	/** By default, the one given to {@link routeIn}. */
	readonly access?: Access;
	/** The lowest role that a member needs. By default, viewer for GET and developer for other methods. */
	readonly role?: Role;
	/**
	 * The scope that a project's key needs. By default, `read` for GET and `manage` for other methods, or none if any key
	 * has access.
	 */
	readonly scope?: KeyScope;
	/** A project's own key isn't enough: only members and the operator may call it. Implied by `role: "owner"`. */
	readonly peopleOnly?: boolean;
	readonly query?: Q;
	readonly body?: B;
	/** The handler checks the body itself; the schema only describes it. */
	readonly checksOwnBody?: boolean;
	/** Bytes. */
	readonly bodyLimit?: number;
	/** The list that the body may have: a {@link JsonList} for the handler, which then checks the body itself. */
	readonly list?: BodyList;
	/** What the response says about each of its elements that is accepted, at most, bytes. */
	readonly resultBytes?: number;
	/** Checks that a schema can't express; called with the fields that have the right type. */
	readonly faults?: (body: Partial<Static<B>>) => readonly Fault[];
	/** Its response may be large or take a while to create, so few such requests of one principal are processed at a time. */
	readonly heavy?: boolean;
	/**
	 * How often it may be called. By default GET counts as a lookup, or as a read if it is `heavy`. Others also count as a
	 * change, unless they report facts, only record a read, or name `none`.
	 */
	readonly rate?: RateName | "none";
	readonly success: Success<R>;
	/** Responses beyond those that follow from the rest of the row, and when they are sent. */
	readonly problems?: Partial<Record<ProblemKind, string>>;
	readonly handler: (call: Call<Static<Q>, Static<B>>) => Promise<HandlerResult<R>> | HandlerResult<R>;
}

type HandlerResult<R extends TSchema> = Static<R> | RawResponse;

/** A response whose bytes are already encoded, or arrive over time. */
export class RawResponse {
	readonly body: string | Uint8Array | Readable;
	readonly contentType: string;
	readonly headers: Readonly<Record<string, string>>;

	constructor(body: RawResponse["body"], contentType: string, headers: RawResponse["headers"] = {}) {
		this.body = body;
		this.contentType = contentType;
		this.headers = headers;
	}
}

/** A row whose types have been checked against each other, as the server uses it. */
export interface Route extends Omit<RouteRow<TSchema, TSchema, TSchema>, "handler" | "faults"> {
	readonly method: Method;
	readonly access: Access;
	/** In OpenAPI's form, `/v1/projects/{project_id}`. */
	readonly path: string;
	readonly operationId: string;
	readonly tag: string;
	readonly handler: (call: Call<never, never>) => unknown;
	readonly faults?: (body: never) => readonly Fault[];
}

/**
 * Defines routes that the document lists under a tag.
 *
 * @param access of those whose row names no other
 */
export const routeIn =
	(tag: string, access: Access) =>
	<Q extends TSchema = TSchema, B extends TSchema = TSchema, R extends TSchema = TSchema>(
		method: Method,
		path: string,
		operationId: string,
		row: RouteRow<Q, B, R>,
	): Route => {
		const implied = { ...(row.role === "owner" && { peopleOnly: true }), ...(row.heavy && { rate: "reads" as const }) };
		return { method, path, operationId, tag, access, ...implied, ...row };
	};

export function roleFor(route: Pick<Route, "role" | "method">): Role {
	return route.role ?? (route.method === "GET" ? "viewer" : "developer");
}

/** The scope that a project's key needs for a route; null if a key of any scope may call it, or no key may. */
export function scopeFor({ access, peopleOnly, scope, method }: Omit<Route, "handler">): KeyScope | null {
	if (peopleOnly) return null;
	switch (access) {
		case "any":
			return scope ?? null;
		case "project":
		case "developer":
			return scope ?? (method === "GET" ? "read" : "manage");
		default:
			return null;
	}
}

/** The rates that requests of a route count to, unless it is open. */
export function ratesOf({ method, rate }: Pick<Route, "method" | "rate">): RateName[] {
	if (rate === "none") return [];
	if (method === "GET") return [rate ?? "lookups"];
	if (rate === "facts" || rate === "recordedReads") return [rate];
	return rate === undefined ? ["changes"] : [rate, "changes"];
}

/** The methods that a path takes; none if no route has the path. GET includes HEAD. */
export function allowedMethods(path: string, routes: readonly Pick<Route, "method" | "path">[]): string[] {
	const matching = routes.filter((route) => matchesPath(route.path, path));
	const own = matching.filter((route) => !matching.some((other) => isMoreSpecific(other.path, route.path)));
	return own.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

/**
 * Paths that this route's path matches as well, but that others serve: `/webhooks/health` isn't the webhook named
 * "health". The router chooses by method, so it would send them here with methods that the other routes don't have.
 */
export function pathsOfOthers(path: string, routes: readonly Pick<Route, "method" | "path">[]): ReadonlySet<string> {
	const others = routes.filter((route) => isMoreSpecific(route.path, path) && matchesPath(path, route.path));
	return new Set(others.map((route) => route.path));
}

/** Whether a route's path matches the path of a URL. */
export function matchesPath(path: string, url: string): boolean {
	const [pattern, parts] = [path.split("/"), url.split("/")];
	return (
		pattern.length === parts.length &&
		pattern.every((part, i) => (part.startsWith("{") ? parts[i] !== "" : part === parts[i]))
	);
}

/** Whether `one` has a name where `other` has its first parameter that differs. */
function isMoreSpecific(one: string, other: string): boolean {
	let at = 0;
	while (at < one.length && one[at] === other[at]) at++;
	return other[at] === "{" && one[at - 1] === "/";
}

type ConfigKey = "brand" | "retryDelaysMs" | "attemptTimeoutMs" | "basketIdleMs" | "logRetentionMs" | "trustProxy";
type LimitKey = "maxEventBytes" | "maxBatchBytes" | "maxBodyBytesInFlight" | "maxDescriptionLength";

/** What the API is built from. */
export interface ApiParts extends Omit<Accounts, "close"> {
	readonly config: Pick<Config, ConfigKey | LimitKey>;
	readonly storage: Storage;
	readonly engine: Engine;
	readonly store: Store;
	readonly projects: Projects;
	readonly webhooks: Webhooks;
	readonly urlCheck: UrlCheck;
	readonly apiKeys: ApiKeys;
	readonly cookie: SessionCookie;
	/** Where users reach the dashboard: an origin, such as `https://hooks.example.com`. */
	readonly publicUrl: () => string;
	/** The folder of the built dashboard; null if it wasn't built. */
	readonly dashboardFolder: string | null;
	readonly changes: Changes;
	readonly longPolls: LongPolls;
	readonly references: Pick<References, "find" | "findAttempted" | "isCapped">;
	readonly metrics: Metrics;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
	/** By default, those of base/budgets.ts. */
	readonly connectionLimits?: Partial<ConnectionLimits>;
	/** This node's current shortages, for readiness. */
	readonly shortages: Pick<Shortages, "current">;
	/** Whether retention trusts the clock. */
	readonly retention: Pick<RetentionClock, "hold" | "notice" | "confirm">;
	/** Webhooks by their health, for the metrics. */
	readonly health: Pick<HealthCount, "read">;
	/** Whether a restored database waits for an operator. */
	readonly quarantine: Pick<Quarantine, "mark" | "read" | "release">;
	/** Whether the database has too few connections for this node. */
	readonly lacksConnections?: (() => boolean) | undefined;
	/** Whether the engine accepts work. */
	readonly ready: () => boolean;
}
