import { eventTypeEntry, isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { TSchema } from "typebox";
import { REQUESTS } from "../../../base/budgets.ts";
import type { Fault } from "../../../base/text.ts";
import { type BasketInput, type FactRecorded, type FactRefused, ID_LENGTH } from "../../../store/index.ts";
import { invalid, LOG_PROBLEMS, notFound, notWritten, Problem } from "../../http/problem.ts";
import { faultsBySchema, isObject } from "../../http/validate.ts";
import { type ApiParts, type Method, type Route, type RouteRow, routeIn } from "../../route.ts";
import { component, orNull, request, strictObject, Time, Type, text } from "../../schema.ts";
import { PublishedEvent, presentPublished } from "./publish.ts";

/** Members that a report may have before each of them is checked. */
const MAX_MEMBERS = 20;

/** The faults in a report's form. A report may be large, so checks stop at the most that a valid one can have. */
export function formFaults(schema: TSchema, report: unknown): Fault[] {
	if (isObject(report) && Object.keys(report).length > MAX_MEMBERS)
		return [{ pointer: "", detail: `must have at most ${MAX_MEMBERS} members` }];
	return faultsBySchema(schema, report);
}

/** The report, in the form of the schema. Throws 422 otherwise. */
export function readReport<T>(schema: TSchema, report: unknown): T {
	const faults = formFaults(schema, report);
	if (faults.length > 0) throw invalid(faults);
	return report as T;
}

const route = routeIn("Store facts", "project");

/** A route by which the store platform reports a fact. */
export function fact<B extends TSchema = TSchema, R extends TSchema = TSchema>(
	method: Method,
	path: string,
	operationId: string,
	row: Omit<RouteRow<TSchema, B, R>, "scope" | "rate">,
): Route {
	const problems = { ...LOG_PROBLEMS, ...row.problems };
	return route(method, path, operationId, { ...row, scope: "publish", rate: "facts", problems });
}

export function presentFact(projectId: string, { at, events }: Pick<FactRecorded, "at" | "events">) {
	return { recorded_at: isoTime(at), events: events.map((event) => presentPublished(projectId, event)) };
}

type Refused = FactRefused | { readonly kind: "no_order" | "no_subscription" };

/** The response to a fact. Throws the reason if it wasn't recorded; `what` names it, such as "order". */
export function factResponse(what: string, projectId: string, result: FactRecorded | Refused) {
	if (result.kind !== "recorded" && result.kind !== "repeated") throw refusedFact(what, result);
	return presentFact(projectId, result);
}

export function refusedFact(what: string, result: Refused): Problem {
	switch (result.kind) {
		case "invalid":
			return invalid(result.faults);
		case "too_large":
			return new Problem(
				"too-large",
				`The event's data would have ${result.bytes} bytes; ${result.limit} are allowed. Report less of the items.`,
			);
		case "conflict":
			return new Problem(
				"conflict",
				`This ${what} was recorded before with different content, which remains. Nothing was recorded now.`,
			);
		case "no_project":
			return notFound("project");
		case "busy":
			return notWritten(result);
		case "no_order":
			return new Problem(
				"not-found",
				`There is no such order, or this key may not see it. Report the order first. Nothing was recorded now.`,
			);
		case "no_subscription":
			return notFound("subscription");
	}
}

export const factId = (what: string, example: string) =>
	Type.String({
		minLength: 1,
		maxLength: ID_LENGTH,
		...text,
		not: { enum: [".", ".."] },
		description: `The ${what}'s identifier at the store platform: at most ${ID_LENGTH} characters, percent-encoded as in a URL.`,
		errorMessage: "must be text without control characters, other than . and ..",
		examples: [example],
	});

export const email = Type.String({
	maxLength: 320,
	pattern: "^\\s*[^\\s@\\x00-\\x1f\\x7f-\\x9f]+@[^\\s@\\x00-\\x1f\\x7f-\\x9f]+\\s*$",
	description: "The buyer's e-mail address. Spaces around it are dropped.",
	errorMessage: "must be an e-mail address",
	examples: ["ada@example.com"],
});

export const amountCents = (least: number, description: string) =>
	Type.Integer({ minimum: least, maximum: Number.MAX_SAFE_INTEGER, description });

const { schema, sample } = eventTypeEntry("purchase.completed");

/** Its elements are checked one by one up to the first that is wrong, since there may be very many. */
export const itemsForm = Type.Array(Type.Unknown());

export const items = Type.Array((schema as { properties: { items: { items: TSchema } } }).properties.items.items, {
	description:
		"What was ordered. Other properties may be added. Integers beyond 2^53 have to be strings, and nesting is limited to 32 levels.",
	examples: [sample.items],
});

const NewSubscription = request("NewSubscription", {
	examples: [{ ...eventTypeEntry("subscription.created").sample }],
})({
	subscription_id: factId("subscription", "sub_3108"),
	customer_email: email,
	plan: Type.String({ minLength: 1, maxLength: 200, ...text, description: "The plan." }),
});

const basketFields = { items, customer_email: Type.Optional(email) };

/** The form that the API checks; the store checks the items. */
const BasketForm = strictObject({ ...basketFields, items: itemsForm });

const BasketContents = request("BasketContents", {
	examples: [{ customer_email: "grace@example.com", items: eventTypeEntry("basket.abandoned").sample.items }],
})(basketFields);

export const Fact = component("Fact", { description: "A recorded fact. A repeated report gets the same response." })({
	recorded_at: Time,
	events: Type.Array(PublishedEvent, { description: "The events it created, in log order." }),
});

const Basket = component("Basket")({
	basket_id: Type.String(),
	touched_at: Time,
	abandoned_at: orNull(
		Time,
		"When `basket.abandoned` fires unless the basket is touched before then; null if it is empty.",
	),
});

export function factRoutes({ store, config }: ApiParts): Route[] {
	const basket = "/v1/projects/{project_id}/baskets/{basket_id}";
	const subscriptions = "/v1/projects/{project_id}/subscriptions";
	return [
		fact("PUT", basket, "touchBasket", {
			summary: "Report a basket's contents",
			description:
				"Every report counts as activity, even with the same contents. `basket.abandoned` is published once after POSTHORN_BASKET_IDLE (24 hours) without activity if the basket has items; another report restarts the timer. An order that names the basket ends it permanently.",
			body: BasketContents,
			checksOwnBody: true,
			bodyLimit: config.maxEventBytes + REQUESTS.envelopeBytes,
			success: { status: 200, description: "The basket, with its timer restarted.", schema: Basket },
			problems: { conflict: "The basket was bought." },
			async handler({ params: { projectId, basketId }, body }) {
				const input = readReport<BasketInput>(BasketForm, body);
				const result = await store.baskets.touch(projectId, basketId, input);
				if (result.kind === "bought")
					throw new Problem("conflict", "This basket was bought by an order. Use another id for the next basket.");
				if (result.kind !== "touched") throw refusedFact("basket", result);
				const { at, dueAt } = result;
				return { basket_id: basketId, touched_at: isoTime(at), abandoned_at: isoTimeOrNull(dueAt) };
			},
		}),
		fact("DELETE", basket, "removeBasket", {
			summary: "Report that a basket is gone",
			description: "The basket won't be abandoned. The response is the same if it doesn't exist.",
			success: { status: 204, description: "It was deleted." },
			async handler({ params: { projectId, basketId } }) {
				const result = await store.baskets.remove(projectId, basketId);
				if (result.kind !== "removed" && result.kind !== "absent") throw refusedFact("basket", result);
			},
		}),
		fact("POST", subscriptions, "recordSubscription", {
			summary: "Report a recurring subscription",
			description: "Publishes `subscription.created`.",
			body: NewSubscription,
			success: { status: 201, description: "The subscription is recorded.", schema: Fact },
			problems: { conflict: "The subscription was recorded before with different content." },
			async handler({ params: { projectId }, body }) {
				const result = await store.subscriptions.record(projectId, body);
				return factResponse("subscription", projectId, result);
			},
		}),
		fact("POST", `${subscriptions}/{subscription_id}/cancel`, "cancelSubscription", {
			summary: "Report that a subscription was canceled",
			description: "Publishes `subscription.canceled`, once.",
			success: { status: 200, description: "The subscription is canceled.", schema: Fact },
			async handler({ params: { projectId, subscriptionId } }) {
				const result = await store.subscriptions.cancel(projectId, subscriptionId);
				return factResponse("subscription", projectId, result);
			},
		}),
	];
}
