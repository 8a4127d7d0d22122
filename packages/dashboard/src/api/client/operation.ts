import type { components, paths } from "@posthorn/api-types";
import type { CallOptions } from "./client.ts";

/** The schemas of the API's OpenAPI document, by name. */
export type Schemas = components["schemas"];

export type Verb = "get" | "post" | "put" | "patch" | "delete";

/** The paths that take a method. */
export type PathWith<V extends Verb> = {
	[P in keyof paths]: paths[P][V] extends { readonly responses: unknown } ? P : never;
}[keyof paths];

type JsonOf<Content> = Content extends { readonly content: { readonly "application/json": infer Json } }
	? Json
	: undefined;

/** A call's response if it succeeds. */
export type ResponseOf<P extends PathWith<V>, V extends Verb> = paths[P][V] extends {
	readonly responses: infer Responses;
}
	? JsonOf<Responses[Extract<keyof Responses, 200 | 201 | 202 | 204>]>
	: never;

type PathOf<Operation> = Operation extends { readonly parameters: { readonly path: infer Names } }
	? { readonly path: Names }
	: { readonly path?: undefined };

type QueryOf<Operation> = Operation extends { readonly parameters: { readonly query?: infer Query } }
	? { readonly query?: { readonly [K in keyof Query]?: Given<Query[K]> | null | undefined } }
	: { readonly query?: undefined };

/** Lists may be read-only. */
type Given<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;

type BodyOf<Operation> = Operation extends {
	readonly requestBody: { readonly content: { readonly "application/json": infer Json } };
}
	? { readonly body: Json }
	: { readonly body?: undefined };

/** A call's parameters; undefined, null and empty query values are omitted. */
export type CallOf<P extends PathWith<V>, V extends Verb> = PathOf<paths[P][V]> &
	QueryOf<paths[P][V]> &
	BodyOf<paths[P][V]> &
	Pick<CallOptions, "signal" | "onHeaders">;

/** The options may be omitted if none are required. */
export type Arguments<P extends PathWith<V>, V extends Verb> =
	Record<never, never> extends CallOf<P, V> ? [options?: CallOf<P, V>] : [options: CallOf<P, V>];
