import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Generator, type Schema } from "../../test/api/generate.ts";

/** Requests per operation. */
const RUNS = 10;

/** Its response never ends; changes.test.ts reads it. */
const ENDLESS = "listenToChanges";

/** Operations that need a session, or a token that can't be guessed. */
const UNREACHABLE = new Set([
	"acceptInvitation",
	"changePassword",
	"endSession",
	"getSession",
	"listSessions",
	"lookAtInvitation",
	"setUp",
	"signIn",
	"signOut",
	"signOutEverywhere",
	"updateAccount",
]);

/** Operations on something that this test doesn't create first, such as a finished delivery. */
const NOTHING_THERE = new Set([
	"createSignInLink",
	"cancelTest",
	"checkSignature",
	"deleteApiKey",
	"dismissDelivery",
	"getApiKey",
	"getAttempt",
	"removeMember",
	"replayDelivery",
	"retryDelivery",
	"revokeInvitation",
	"updateMember",
]);

/** Reasons for refusing a valid request that the schema can't express, and how the operation's descriptions give them. */
const DESCRIBED: readonly (readonly [reason: RegExp, described: RegExp])[] = [
	[/^must be the next_cursor from/, /`next_cursor`/],
	[
		/^must be omitted if there is (cursor|after|after_event|since)$/,
		/Only one of `after`, `after_event`, `since` and `cursor`/,
	],
	[/^must not be a test event/, /Test events aren't part of the log/],
	[/percent-encoded as in a URL$/, /percent-encoded/],
	[/^is in the future/, /in the future/],
	[/^must be in the future$/, /in the future/],
	[/ISO 4217/, /ISO 4217/],
	[/written without a fraction or an exponent$/, /if an integer has a fraction, an exponent/],
	[/^is easy to guess/, /easy to guess/],
	[/^must be base64 with its padding$/, /base64 with its padding/],
	[/^must be a type that the webhook is subscribed to$/, /subscribed to/],
	[
		/^search either by text, or by order_id, customer_email or both$/,
		/either by `text`, or by `order_id`, `customer_email` or both/,
	],
	[/^\d+ combinations of webhooks, types and states, at most \d+ are possible/, /Webhooks × types × states/],
];

/** What an operation's first request needs in addition to its required parameters. */
const MORE: Readonly<Record<string, object>> = { searchEvents: { query: { text: "none" } } };

interface Parameter {
	readonly name: string;
	readonly in: "path" | "query";
	readonly required?: boolean;
	readonly schema: Schema;
}
interface Operation {
	readonly operationId: string;
	readonly parameters: readonly Parameter[];
	readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
}

const api = await TestApi.start();
afterAll(() => api.close());

const document = (await api.call("GET", "/openapi.json")).json as unknown as {
	paths: Record<string, Record<string, Operation>>;
	components: { schemas: Record<string, Schema> };
};
const generator = new Generator(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
	Object.entries(methods)
		.filter(([, { operationId }]) => operationId !== ENDLESS)
		.map(([method, operation]) => ({ method: method.toUpperCase(), path, operation, id: operation.operationId })),
);

test.each(operations)(
	"$id accepts requests that are valid by the document, or refuses them for a reason it gives",
	async ({ method, path, operation, id }) => {
		let isAccepted = false;
		const known = await somethingToNameIn(api);
		await fc.assert(
			fc.asyncProperty(validRequest(operation, known), async ({ params, query, body }) => {
				const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
				const { status, json } = await api.call(method, url + queryOf(query), { ...(body !== undefined && { body }) });
				// `call` has checked the response against the document.
				expect(status).toBeLessThan(500);
				expect([400, 405, 415]).not.toContain(status);
				isAccepted ||= status < 300;
				if (status === 422) expectDescribed(json.errors, operation);
			}),
			{ numRuns: RUNS, examples: [[{ ...exampleRequest(operation, known), ...MORE[id] }]] },
		);
		expect(isAccepted || UNREACHABLE.has(id) || NOTHING_THERE.has(id)).toBe(true);
	},
);

// For JSON Schema 1.0 is an integer, and JavaScript writes it as 1, so the generated requests don't have it.
test.each(["publishEvents", "publishSample"])(
	"%s refuses 1.0 as an integer, as its description says",
	async (named) => {
		const { method, path, operation } = operations.find(({ id }) => id === named)!;
		const url = path.replace("{project_id}", (await api.project()).split("/").at(-1)!);
		const data = `{"order_id":"o","customer_email":"a@example.com","amount_cents":1.0,"currency":"EUR","items":[]}`;
		const more = named === "publishSample" ? `,"webhooks":0` : "";
		const { status, json } = await api.call(method, url, {
			raw: `{"type":"purchase.completed","data":${data}${more}}`,
		});
		expect([status, json.errors.map(({ pointer }) => pointer)]).toEqual([422, ["/data/amount_cents"]]);
		expectDescribed(json.errors, operation);
	},
);

function expectDescribed(errors: readonly { readonly detail: string }[], operation: Operation): void {
	for (const { detail } of errors) {
		const reason = DESCRIBED.find(([reason]) => reason.test(detail));
		expect(reason, detail).toBeDefined();
		expect(descriptionsOf(operation)).toMatch(reason![1]);
	}
}

/** All that the document says about an operation, with the schemas that it refers to. */
function descriptionsOf(operation: Operation): string {
	const texts = [JSON.stringify({ ...operation, responses: {} })];
	const seen = new Set<string>();
	for (const text of texts)
		for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
			if (!seen.has(name!)) {
				seen.add(name!);
				texts.push(JSON.stringify(document.components.schemas[name!]));
			}
	return texts.join("\n");
}

type Names = Readonly<Record<string, string>>;

/** Creates a project, a webhook, an event and an order, and returns their ids by the names of path parameters. */
async function somethingToNameIn(api: TestApi): Promise<Names> {
	const project = await api.project();
	const webhook = await api.webhook(project, {
		url: "https://example.com/",
		events: ["delivery.success", "purchase.completed"],
	});
	const order = {
		order_id: "ord_1",
		customer_email: "a@example.com",
		amount_cents: 10_000,
		currency: "EUR",
		items: [],
	};
	await api.call("POST", `${project}/orders`, { body: order });
	const subscription = { subscription_id: "sub_1", customer_email: "a@example.com", plan: "VIP" };
	await api.call("POST", `${project}/subscriptions`, { body: subscription });
	return {
		project_id: project.split("/").at(-1)!,
		webhook_id: webhook.split("/").at(-1)!,
		event_id: await api.publish(project),
		order_id: order.order_id,
		subscription_id: subscription.subscription_id,
	};
}

/** The request made of the document's own examples, which must be accepted. */
function exampleRequest({ parameters, requestBody }: Operation, known: Names) {
	const inPath = parameters.filter((each) => each.in === "path");
	const inQuery = parameters.filter((each) => each.in === "query" && each.required);
	const examples = (all: readonly Parameter[]): Record<string, unknown> =>
		Object.fromEntries(all.map(({ name, schema }) => [name, known[name] ?? generator.example(schema)]));
	const body = requestBody && generator.example(requestBody.content["application/json"].schema);
	return { params: examples(inPath), query: examples(inQuery), body };
}

function validRequest({ parameters, requestBody }: Operation, known: Names) {
	const value = ({ name, schema }: Parameter) => {
		const valid = generator.valid(schema);
		return known[name] === undefined ? valid : fc.oneof({ weight: 4, arbitrary: fc.constant(known[name]) }, valid);
	};
	const values = (all: readonly Parameter[], requiredKeys: string[]) =>
		fc.record(Object.fromEntries(all.map((each) => [each.name, value(each)])), { requiredKeys });
	const inPath = parameters.filter((each) => each.in === "path");
	// new-events.test.ts waits for events.
	const inQuery = parameters.filter((each) => each.in === "query" && each.name !== "wait");
	return fc.record({
		params: values(
			inPath,
			inPath.map(({ name }) => name),
		),
		query: values(
			inQuery,
			inQuery.filter(({ required }) => required).map(({ name }) => name),
		),
		body: requestBody ? generator.valid(requestBody.content["application/json"].schema) : fc.constant(undefined),
	});
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
	const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)]));
	return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}
