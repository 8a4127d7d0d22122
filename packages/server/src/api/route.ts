import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import type { Fault } from "../registry/index.ts";
import type { ProblemKind } from "./problem.ts";

/** Who may call a route. */
export type Access =
	/** Anyone, without a key. */
	| "open"
	/** Any key. */
	| "any"
	/** The operator's key. A project's key gets 403, and 404 for a project that is not its own. */
	| "operator"
	/** The operator's key or the project's own. */
	| "project"
	/** The same, and the project must have the Developer app (409 otherwise). */
	| "developer";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Success<R extends TSchema> {
	readonly status: 200 | 201 | 202 | 204;
	readonly description: string;
	readonly schema?: R;
	/** `application/json` unless said. */
	readonly contentType?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

export interface PathParams {
	readonly project_id: string;
	readonly key_id: string;
	readonly webhook_id: string;
	readonly event_id: string;
	readonly attempt_id: string;
}

/** What a handler works with. */
export interface Call<Q, B> {
	/** Those that the path names. */
	readonly params: PathParams;
	readonly query: Q;
	readonly body: B;
	readonly request: FastifyRequest;
	readonly reply: FastifyReply;
}

/** A route is a row: server, documentation and tests are made from it. */
export interface RouteRow<Q extends TSchema, B extends TSchema, R extends TSchema> {
	readonly method: Method;
	/** In OpenAPI's form, `/v1/projects/{project_id}`. */
	readonly path: string;
	readonly operationId: string;
	readonly tag: string;
	readonly summary: string;
	readonly description?: string;
	readonly access: Access;
	readonly query?: Q;
	readonly body?: B;
	/** The handler checks the body itself; the schema only describes it. */
	readonly checksOwnBody?: boolean;
	/** Bytes. */
	readonly bodyLimit?: number;
	/** What a schema cannot say of the body; called with whatever fields have the right type. */
	readonly faults?: (body: Partial<Static<B>>) => readonly Fault[];
	readonly success: Success<R>;
	/** Answers beyond those that follow from the rest of the row, and when they come. */
	readonly problems?: Partial<Record<ProblemKind, string>>;
	readonly handler: (call: Call<Static<Q>, Static<B>>) => Promise<Answer<R>> | Answer<R>;
}

export type Answer<R extends TSchema> = Static<R> | RawAnswer;

/** An answer whose bytes are already made. */
export class RawAnswer {
	readonly body: string | Uint8Array;
	readonly contentType: string;
	readonly headers: Readonly<Record<string, string>>;

	constructor(body: string | Uint8Array, contentType: string, headers: Readonly<Record<string, string>> = {}) {
		this.body = body;
		this.contentType = contentType;
		this.headers = headers;
	}
}

/** A row whose types have been checked against each other, as the server takes it. */
export interface Route extends Omit<RouteRow<TSchema, TSchema, TSchema>, "handler" | "faults"> {
	readonly handler: (call: Call<never, never>) => unknown;
	readonly faults?: (body: never) => readonly Fault[];
}

export function defineRoute<Q extends TSchema = TSchema, B extends TSchema = TSchema, R extends TSchema = TSchema>(
	row: RouteRow<Q, B, R>,
): Route {
	return row;
}
