import { PROBLEM_TYPE, PROBLEMS, type ProblemKind } from "../problem.ts";
import type { Route } from "../route.ts";
import { EventId, factId, id, ProblemSchema } from "../schemas/index.ts";
import type { Components } from "./components.ts";

const PATH_PARAMETERS: Record<string, object> = {
	project_id: id("proj", "project"),
	key_id: id("key", "API key"),
	webhook_id: id("wh", "webhook"),
	event_id: EventId,
	attempt_id: id("att", "attempt"),
	account_id: id("acc", "member's account"),
	session_id: id("ses", "session"),
	invitation_id: id("inv", "invitation"),
	order_id: factId("order", "ord_10482"),
	deliverable_id: factId("deliverable", "dlv_1"),
	basket_id: factId("basket", "bsk_55310"),
	subscription_id: factId("subscription", "sub_3108"),
};

/** The problems that follow from the kind of route. */
function impliedProblems(route: Route): ProblemKind[] {
	const { access, method, path, peopleOnly } = route;
	const kinds: ProblemKind[] = ["malformed-request", "internal", "unavailable"];
	if (access !== "open") kinds.push("invalid", "unauthorized", "too-many-requests");
	// Requests with a session cookie are refused if they come from another site or lack the CSRF token.
	if (access === "operator" || access === "signed_in" || peopleOnly || method !== "GET") kinds.push("forbidden");
	if (path.includes("{")) kinds.push("not-found");
	if (access === "developer") kinds.push("app-not-installed");
	if (method !== "GET") kinds.push("unsupported-media-type", "too-large");
	return kinds;
}

export function operationOf(route: Route, components: Components): Record<string, unknown> {
	const { body, success } = route;
	return {
		operationId: route.operationId,
		tags: [route.tag],
		summary: route.summary,
		...(route.description !== undefined && { description: route.description }),
		...(route.access === "open" && { security: [] }),
		parameters: parametersOf(route, components),
		...(body && {
			requestBody: { required: true, content: { "application/json": { schema: components.schema(body) } } },
		}),
		responses: { [success.status]: successOf(route, components), ...problemsOf(route, components) },
	};
}

function parametersOf(route: Route, components: Components): unknown[] {
	const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
		name,
		in: "path",
		required: true,
		...described(PATH_PARAMETERS[name]!, components),
	}));
	const { properties = {} } = (route.query ?? {}) as { properties?: Record<string, { description?: string }> };
	const inQuery = Object.entries(properties).map(([name, property]) => ({
		name,
		in: "query",
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
	const described = Object.entries(headers).map(([name, text]) => [
		name,
		{ description: text, schema: { type: "string" } },
	]);
	return {
		description,
		...(described.length > 0 && { headers: Object.fromEntries(described) }),
		...(contentType !== undefined && { content: { [contentType]: { schema } } }),
	};
}

/** Problems by status. If several kinds have the same status, one response describes them all. */
function problemsOf(route: Route, components: Components): Record<string, unknown> {
	const given = route.problems ?? {};
	const kinds = new Set([...impliedProblems(route), ...(Object.keys(given) as ProblemKind[])]);
	const byStatus = new Map<number, ProblemKind[]>();
	for (const kind of kinds) {
		const { status } = PROBLEMS[kind];
		byStatus.set(status, [...(byStatus.get(status) ?? []), kind]);
	}
	return Object.fromEntries(
		[...byStatus]
			.sort(([a], [b]) => a - b)
			.map(([status, same]) => {
				if (!same.some((kind) => given[kind]))
					return [status, components.response(same.join("-or-"), () => problem(same, {}, components))];
				return [status, problem(same, given, components)];
			}),
	);
}

function problem(
	kinds: readonly ProblemKind[],
	said: Partial<Record<ProblemKind, string>>,
	components: Components,
): Record<string, unknown> {
	const descriptions = kinds.map((kind) => said[kind] ?? `${PROBLEMS[kind].title}.`);
	const examples = kinds.map((kind) => [kind, { value: example(kind, said[kind]) }]);
	return {
		description: descriptions.join(" Or: "),
		...headersOf(kinds),
		content: { [PROBLEM_TYPE]: { schema: components.schema(ProblemSchema), examples: Object.fromEntries(examples) } },
	};
}

function example(kind: ProblemKind, said: string | undefined): Record<string, unknown> {
	const { title, status } = PROBLEMS[kind];
	const body = { type: `/problems/${kind}`, title, status, detail: said ?? `${title}.` };
	return kind === "invalid" ? { ...body, errors: [{ pointer: "/name", detail: "must not be empty" }] } : body;
}

function headersOf(kinds: readonly ProblemKind[]): Record<string, unknown> {
	const header = (name: string, description: string) => ({
		headers: { [name]: { description, schema: { type: "string" } } },
	});
	if (kinds.includes("unauthorized")) return header("WWW-Authenticate", "RFC 6750.");
	if (kinds.includes("too-many-requests") || kinds.includes("unavailable"))
		return header("Retry-After", "When to try again, in seconds.");
	return {};
}
