import type { RateName } from "../../base/budgets.ts";
import { type Config, readConfig } from "../../config/index.ts";
import { VERSION } from "../../version.ts";
import { tooMany } from "../http/admission.ts";
import { PROBLEM_TYPE, PROBLEMS, type ProblemKind } from "../http/problem.ts";
import { mustBeGiven, type QuerySchema } from "../http/validate.ts";
import { type ApiParts, PATH_IDS, type Route, ratesOf, scopeFor } from "../route.ts";
import { apiRoutes } from "../routes/index.ts";
import { factId } from "../routes/publishing/facts.ts";
import { component, EventId, EventTypeName, id, optional, Type } from "../schema.ts";
import { receiverWebhooks } from "./receivers.ts";

const ProblemSchema = component("Problem", { description: "RFC 9457." })({
	type: Type.String({ description: "A stable code, as a relative URI." }),
	title: Type.String(),
	status: Type.Integer(),
	detail: Type.String({ description: "What happened and what to do." }),
	...optional({
		last_seq: Type.Integer({ description: "With `log-behind`: the last `seq` of the log." }),
		continue_after: Type.Integer({ description: "With `log-behind`: pass it as `after` to continue." }),
		epoch: Type.String({ description: "With `log-behind`: pass it along with `continue_after`." }),
		errors: Type.Array(
			Type.Object({
				pointer: Type.String({
					description: "A JSON Pointer into the body (empty for the whole body), or `?name` for a query parameter.",
				}),
				detail: Type.String(),
			}),
		),
	}),
});

const TAGS = [
	{ name: "Projects", description: "Stores whose events are published; each is separate from all others." },
	{ name: "API keys", description: "Keys that can access a single project." },
	{ name: "Events", description: "Publishing events, and reading the log by polling." },
	{
		name: "Store facts",
		description:
			"Reports of what happened in the store. The service publishes the events that follow, each once and in order.",
	},
	{ name: "Webhooks", description: "Where events are sent." },
	{ name: "Delivery log", description: "Every attempt, and replays." },
	{ name: "Insight", description: "Statistics, health, incidents, pending retries, and live changes." },
	{ name: "Account", description: "The account and sessions of a dashboard user." },
	{ name: "Members", description: "Members and their roles, invitations, and the audit log." },
	{ name: "System", description: "Health, metrics and this document." },
];

const DESCRIPTION = `Posthorn pushes a store's events to HTTPS endpoints: signed, in order, retried, with every attempt on record.

Send an API key as \`Authorization: Bearer KEY\`. The operator's key sees every project. A project's key sees only its own: other projects get 404, and calls reserved for members or the operator get 403. Its scopes (\`publish\`, \`read\`, \`manage\`) limit what it may do there; a request beyond them gets 403. The operator's key and members aren't limited by scopes. Errors are \`application/problem+json\` (RFC 9457). For invalid input, \`errors\` lists what is wrong: only the first error of a list inside an event's or order's data, and only some if there are very many. Each response to valid HTTP has \`Posthorn-Api: v1\`, and an \`X-Request-Id\`: yours, if you sent one.

Strings are well-formed Unicode. In addition to the schemas, there are limits on sizes and nesting; a request beyond them gets 413, 422 or 431.`;

/** This API as an OpenAPI 3.1 document, built from the routes that the server registers. */
export function openApiDocument(routes: readonly Route[], { brand }: Pick<Config, "brand">): Record<string, unknown> {
	const components = new Components();
	const paths: Record<string, Record<string, unknown>> = {};
	for (const route of routes) {
		paths[route.path] ??= {};
		paths[route.path]![route.method.toLowerCase()] = operationOf(route, components);
	}
	const webhooks = receiverWebhooks(brand, (schema) => components.schema(schema));
	return {
		openapi: "3.1.0",
		info: {
			title: "Posthorn",
			version: VERSION,
			description: DESCRIPTION,
			license: { name: "Apache-2.0", identifier: "Apache-2.0" },
		},
		servers: [{ url: "/" }],
		tags: TAGS,
		security: [{ apiKey: [] }, { session: [] }],
		paths,
		webhooks,
		components: {
			schemas: components.schemas,
			responses: components.responses,
			securitySchemes: {
				session: {
					type: "apiKey",
					in: "cookie",
					name: "posthorn_session",
					description:
						"The session cookie of a signed-in user. Over https its name begins with `__Host-`, and with a port in the URL it ends with `_` and that port. Changes also need the header `X-CSRF-Token`.",
				},
				apiKey: {
					type: "http",
					scheme: "bearer",
					description: "The operator's key (`pho_…`) or a project's (`phk_…`).",
				},
			},
		},
	};
}

/** The document of a service with default settings, made without a service: routes use their parts only when called. */
export function documentedApi(): Record<string, unknown> {
	const defaults = readConfig({ env: {} });
	if (!defaults.ok) throw new Error(`The default settings are invalid: ${defaults.faults.join(" ")}`);
	const { config } = defaults;
	return openApiDocument(
		apiRoutes({ config } as Partial<ApiParts> as ApiParts, () => ""),
		config,
	);
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Collects the schemas that have a title under that name, so that each is in the document once. */
class Components {
	readonly schemas: Record<string, Json> = {};
	readonly responses: Record<string, unknown> = {};

	/** The schema as it appears in the document, with references to those that have a title. */
	schema(schema: object): Json {
		return this.#resolve(JSON.parse(JSON.stringify(schema)) as Json);
	}

	/** A reference to a response that many operations share, created at first use. */
	response(name: string, make: () => object): { $ref: string } {
		this.responses[name] ??= make();
		return { $ref: `#/components/responses/${name}` };
	}

	#resolve(schema: Json): Json {
		if (typeof schema !== "object" || schema === null) return schema;
		if (Array.isArray(schema)) return schema.map((item: Json) => this.#resolve(item));
		const members = schema as { readonly [name: string]: Json };
		const { title, ...rest } = members;
		// In `properties`, `title` is a schema like the others.
		if (typeof title !== "string") return this.#members(members);
		this.schemas[title] ??= this.#members(rest);
		return { $ref: `#/components/schemas/${title}` };
	}

	/** Examples hold data, in which a title isn't a schema's name. Error messages aren't part of the document. */
	#members(schema: { readonly [name: string]: Json }): Json {
		return Object.fromEntries(
			Object.entries(schema)
				.filter(([name]) => name !== "errorMessage")
				.map(([name, value]) => [name, name === "examples" ? value : this.#resolve(value)]),
		);
	}
}

const PATH_PARAMETERS: Record<string, object> = {
	...Object.fromEntries(Object.entries(PATH_IDS).map(([name, { kind, what }]) => [name, id(kind, what)])),
	event_id: EventId,
	event_type: EventTypeName,
	problem: Type.Enum(Object.keys(PROBLEMS), { description: "The last part of the problem's type." }),
	order_id: factId("order", "ord_10482"),
	deliverable_id: factId("deliverable", "dlv_1"),
	basket_id: factId("basket", "bsk_55310"),
	subscription_id: factId("subscription", "sub_3108"),
};

/** The problems that follow from the kind of route. */
function impliedProblems(route: Route): ProblemKind[] {
	const { access, method, path, peopleOnly, query, body } = route;
	const kinds: ProblemKind[] = ["malformed-request", "internal", "unavailable"];
	if (access !== "open") kinds.push("unauthorized", "too-many-requests");
	if (access !== "open" || body !== undefined) kinds.push("invalid");
	// Requests with a session cookie are refused if they come from another site or lack the CSRF token.
	const hasScope = scopeFor(route) !== null;
	if (access === "operator" || access === "signed_in" || peopleOnly || hasScope || method !== "GET")
		kinds.push("forbidden");
	if (path.includes("{")) kinds.push("not-found");
	// The values of a filter may be longer together than a request's header.
	if (query !== undefined) kinds.push("header-too-large");
	if (access === "developer") kinds.push("app-not-installed");
	if (method !== "GET") kinds.push("unsupported-media-type", "too-large");
	return kinds;
}

function operationOf(route: Route, components: Components): Record<string, unknown> {
	const { operationId, tag, summary, description, body, success } = route;
	return {
		operationId,
		tags: [tag],
		summary,
		...(description !== undefined && { description }),
		...securityOf(route),
		parameters: parametersOf(route, components),
		...(body && {
			requestBody: { required: true, content: { "application/json": { schema: components.schema(body) } } },
		}),
		responses: { [success.status]: successOf(route, components), ...problemsOf(route, components) },
	};
}

/** For a project's key, the scope it needs (which OpenAPI calls a role); none for open routes. */
function securityOf(route: Route): { readonly security?: readonly object[] } {
	if (route.access === "open") return { security: [] };
	const scope = scopeFor(route);
	return scope === null ? {} : { security: [{ apiKey: [scope] }, { session: [] }] };
}

function parametersOf(route: Route, components: Components): unknown[] {
	const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
		name,
		in: "path",
		required: true,
		...described(PATH_PARAMETERS[name]!, components),
	}));
	const query = (route.query ?? {}) as QuerySchema;
	const inQuery = Object.entries(query.properties ?? {}).map(([name, property]) => ({
		name,
		in: "query",
		...(mustBeGiven(query, name) && { required: true }),
		...described(property, components),
	}));
	return [...inPath, ...inQuery];
}

function described(property: { readonly description?: string }, components: Components) {
	const { description, ...schema } = property;
	return { ...(description !== undefined && { description }), schema: components.schema(schema) };
}

function successOf({ success }: Route, components: Components): Record<string, unknown> {
	const { description, headers = {}, contentType = success.schema ? "application/json" : undefined } = success;
	const schema = success.schema ? components.schema(success.schema) : { type: "string" };
	return {
		description,
		...headersOf(headers),
		...(contentType !== undefined && { content: { [contentType]: { schema } } }),
	};
}

/** Problems by status. If several kinds have the same status, one response describes them all. */
function problemsOf(route: Route, components: Components): Record<string, unknown> {
	const given = route.problems ?? {};
	const kinds = new Set([...impliedProblems(route), ...(Object.keys(given) as ProblemKind[])]);
	const rates = route.access === "open" ? [] : ratesOf(route);
	const byStatus = Map.groupBy(kinds, (kind) => PROBLEMS[kind].status);
	return Object.fromEntries(
		[...byStatus]
			.sort(([a], [b]) => a - b)
			.map(([status, same]) => {
				if (same.includes("too-many-requests") && rates.length > 0)
					return [status, tooManyOf(rates, given["too-many-requests"], components)];
				if (same.some((kind) => given[kind])) return [status, problem(same, given, components)];
				return [status, components.response(same.join("-or-"), () => problem(same, {}, components))];
			}),
	);
}

/** 429 of a route that has rates: which, and what else the route says. */
function tooManyOf(rates: readonly RateName[], own: string | undefined, components: Components): object {
	const kind = "too-many-requests";
	const said = [...(own === undefined ? [] : [own]), ...rates.map(tooMany)].join(" ");
	const made = () => problem([kind], { [kind]: said }, components);
	return own === undefined ? components.response([kind, ...rates].join("-"), made) : made();
}

function problem(
	kinds: readonly ProblemKind[],
	said: Partial<Record<ProblemKind, string>>,
	components: Components,
): object {
	const descriptions = kinds.map((kind) => said[kind] ?? `${PROBLEMS[kind].title}.`);
	const examples = kinds.map((kind) => [kind, { value: example(kind, said[kind]) }]);
	return {
		description: descriptions.join(" Or: "),
		...headersOf(problemHeaders(kinds)),
		content: { [PROBLEM_TYPE]: { schema: components.schema(ProblemSchema), examples: Object.fromEntries(examples) } },
	};
}

function example(kind: ProblemKind, said: string | undefined): Record<string, unknown> {
	const { title, status } = PROBLEMS[kind];
	const body = { type: `/problems/${kind}`, title, status, detail: said ?? `${title}.` };
	return kind === "invalid" ? { ...body, errors: [{ pointer: "/name", detail: "must not be empty" }] } : body;
}

function problemHeaders(kinds: readonly ProblemKind[]): Record<string, string> {
	if (kinds.includes("unauthorized")) return { "WWW-Authenticate": "RFC 6750." };
	const isLater = kinds.includes("too-many-requests") || kinds.includes("unavailable");
	return isLater ? { "Retry-After": "When to try again, in seconds." } : {};
}

/** @param descriptions by the headers' names */
function headersOf(descriptions: Readonly<Record<string, string>>): { headers?: Record<string, unknown> } {
	const headers = Object.entries(descriptions).map(([name, description]) => [
		name,
		{ description, schema: { type: "string" } },
	]);
	return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) };
}
