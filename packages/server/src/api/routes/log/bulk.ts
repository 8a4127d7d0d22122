/** Bulk retries and dismissals of named deliveries or those that match a filter, and what they share with replays. */
import type { Static } from "typebox";
import type { AuditNote } from "../../../accounts/index.ts";
import { BULK_ACTIONS } from "../../../base/budgets.ts";
import { chunksOf } from "../../../base/collections.ts";
import { isId } from "../../../base/ids.ts";
import { listDeliveries } from "../../../search/deliveries.ts";
import type { DeliveryKey, RetryPosition, WebhookRef } from "../../../storage/port.ts";
import { found, notFound } from "../../http/problem.ts";
import { type ApiParts, type Call, type Route, routeIn } from "../../route.ts";
import { component, count, cursor, optional, orNull, request, soughtId, strictObject, Type } from "../../schema.ts";
import { noteOf } from "../webhooks/webhooks.ts";
import { searchedOf } from "./attempts.ts";
import {
	auditedDeliveries,
	auditedFilter,
	bodyFilters,
	cursorOf,
	type GivenFilter,
	logFilter,
	positionOf,
} from "./log-filters.ts";

const route = routeIn("Delivery log", "developer");

const MAX_NAMED = 200;
/** Where a body has the types that it filters by. */
export const TYPES = "/filter/type";
/** Pages of dead letters that a call by filter reads. */
const DISMISSED_PAGES = 5;

export const namedDeliveries = (description: string) =>
	Type.Array(strictObject({ webhook_id: soughtId("The webhook."), event_id: soughtId("The event.") }), {
		...{ minItems: 1, maxItems: MAX_NAMED, description },
	});
export const NAMED = { webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7" };

export const EITHER = {
	oneOf: [{ required: ["deliveries"] }, { required: ["filter"] }],
	errorMessage: 'must have either "deliveries" or "filter"',
};
export const NextStep = Type.Optional(
	orNull(
		Type.String(),
		"With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step.",
	),
);
export const ReplayedCount = component("ReplayedCount")({ count: Type.Integer() });

const RetriesRequest = request("RetriesRequest", {
	examples: [{ deliveries: [NAMED] }],
})({
	deliveries: namedDeliveries("Retries these deliveries. Those without a pending attempt are skipped."),
});
const Retries = component("Retries")({
	count: count("How many deliveries are retried now."),
	skipped: count("How many had no pending attempt."),
});

const DismissalsRequest = request("DismissalsRequest", {
	...EITHER,
	dependentRequired: { cursor: ["filter"] },
	examples: [{ filter: { type: "purchase.completed" } }],
})({
	...optional({
		deliveries: namedDeliveries("Dismisses these deliveries. Those that aren't dead-lettered are skipped."),
		filter: strictObject(bodyFilters, {
			description: "Dismisses one step of the dead letters that match, newest first, without those of test events.",
		}),
		cursor: cursor("the previous step"),
	}),
});
const Dismissals = component("Dismissals")({
	count: count("How many deliveries are dismissed."),
	skipped: Type.Optional(count("With `deliveries`: how many aren't dead-lettered.")),
	next_cursor: NextStep,
	...searchedOf,
});

type NamedDeliveries = Static<ReturnType<typeof namedDeliveries>>;

/** With the names that storage gives the ids. */
const keysOf = (deliveries: NamedDeliveries): DeliveryKey[] =>
	deliveries.map(({ webhook_id, event_id }) => ({ webhookId: webhook_id, eventId: event_id }));

/** @throws Problem 404 if a `webhook_id` isn't a webhook's id */
export function knownKeys(deliveries: NamedDeliveries): DeliveryKey[] {
	if (deliveries.some(({ webhook_id }) => !isId("webhook", webhook_id))) throw notFound("webhook");
	return keysOf(deliveries);
}

/**
 * The caller's rights during a bulk action, which is done in pieces. Storage checks `by` again with each piece, and does
 * nothing once the right has ended. `authorizeAgain` is called before each piece, and after one that did nothing.
 */
export type Rights = Pick<Call<unknown, unknown>, "by" | "authorizeAgain">;

/**
 * How the audit log names deliveries that are given or selected by a filter: by their webhook, if it is a single one,
 * and by the filter or the first of them. Call before the action, because it reads.
 */
export async function naming(
	storage: ApiParts["storage"],
	projectId: string,
	action: AuditNote["action"],
	given: { readonly deliveries: readonly DeliveryKey[] } | { readonly filter: GivenFilter },
): Promise<(done: readonly DeliveryKey[], count?: number) => AuditNote> {
	const ids = "filter" in given ? [given.filter.webhook_id ?? []].flat() : given.deliveries.map((key) => key.webhookId);
	const [first, ...others] = new Set(ids);
	const isOne = first !== undefined && others.length === 0;
	const webhook = isOne ? await storage.getWebhook({ projectId, webhookId: first }) : null;
	return (done, count = done.length) => {
		const which = "filter" in given ? { filter: auditedFilter(given.filter) } : { deliveries: auditedDeliveries(done) };
		const detail = { ...which, count };
		return webhook === null ? { projectId, action, detail } : noteOf(action, webhook, detail);
	};
}

export function bulkRoutes({ storage, engine, clock, references }: ApiParts): Route[] {
	const webhook = "/v1/projects/{project_id}/webhooks/{webhook_id}";

	/** @param done gets those that are dismissed, after each step, and of them those that weren't before */
	async function dismissThese(
		projectId: string,
		deliveries: readonly DeliveryKey[],
		{ by, authorizeAgain }: Rights,
		done: { readonly all: DeliveryKey[]; readonly now: DeliveryKey[] },
	): Promise<void> {
		const at = clock.now();
		for (const these of chunksOf(deliveries, BULK_ACTIONS.dismissals)) {
			await authorizeAgain();
			const results = await storage.dismissDeliveries({ projectId, deliveries: these, at, by });
			if (results.every((result) => result === null)) await authorizeAgain();
			done.all.push(...these.filter((_, i) => results[i] !== null));
			done.now.push(...these.filter((_, i) => results[i] === "dismissed"));
		}
	}

	async function countWaiting(of: WebhookRef & { readonly at: number }): Promise<number> {
		let count = 0;
		let after: RetryPosition | undefined;
		do {
			const step = await storage.countRetries({ ...of, limit: BULK_ACTIONS.retriesCounted, after });
			count += step.count;
			after = step.next ?? undefined;
		} while (after !== undefined);
		return count;
	}

	return [
		route("POST", `${webhook}/retry`, "retryWebhook", {
			summary: "Retry a webhook's pending deliveries now",
			description:
				"Makes the next attempt of every delivery to this webhook that waits for a retry due now. They are sent in the order in which they were due, within the webhook's limit on retries in flight.",
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are retried now.", schema: ReplayedCount },
			async handler({ params: { projectId, webhookId }, by, audit, authorizeAgain }) {
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				const at = clock.now();
				// No more than wait now, so that this ends even if they fail again meanwhile.
				const waiting = await countWaiting({ projectId, webhookId, at });
				let count = 0;
				let after: RetryPosition | null | undefined;
				try {
					while (count < waiting && after !== null) {
						await authorizeAgain();
						const limit = Math.min(BULK_ACTIONS.retries, waiting - count);
						const retrying = storage.retryWaiting({ projectId, webhookId, at, limit, after, by });
						const step = await engine.wakeAfter(projectId, retrying, ({ seqs }) => seqs.length > 0);
						if (step.seqs.length === 0) await authorizeAgain();
						count += step.seqs.length;
						after = step.next;
					}
				} finally {
					if (count > 0) audit(noteOf("deliveries.retried", webhook, { count }));
				}
				return { count };
			},
		}),
		route("POST", "/v1/projects/{project_id}/retries", "retryMany", {
			summary: "Retry many deliveries now",
			description: "Makes the next attempt of each of these deliveries due now.",
			body: RetriesRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are retried now.", schema: Retries },
			async handler({ params: { projectId }, body, by, audit, authorizeAgain }) {
				const keys = knownKeys(body.deliveries);
				const note = await naming(storage, projectId, "deliveries.retried", { deliveries: keys });
				const at = clock.now();
				const done: DeliveryKey[] = [];
				try {
					for (const these of chunksOf(keys, BULK_ACTIONS.namedRetries)) {
						await authorizeAgain();
						const retrying = storage.retryDeliveries({ projectId, deliveries: these, at, by });
						const isQueued = ({ kind }: Awaited<typeof retrying>[number]) => kind === "queued";
						const results = await engine.wakeAfter(projectId, retrying, (some) => some.some(isQueued));
						if (!results.some(isQueued)) await authorizeAgain();
						done.push(...these.filter((_, i) => isQueued(results[i]!)));
					}
				} finally {
					if (done.length > 0) audit(note(done));
				}
				return { count: done.length, skipped: keys.length - done.length };
			},
		}),
		route("POST", "/v1/projects/{project_id}/dismissals", "dismissMany", {
			summary: "Dismiss many dead letters",
			description:
				"Dismisses the given deliveries, or one step of those that match a filter. Call again with `cursor` from the response until `next_cursor` is null.",
			body: DismissalsRequest,
			rate: "bulkReplays",
			success: { status: 200, description: "How many deliveries are dismissed.", schema: Dismissals },
			async handler(call) {
				const { params, body, audit } = call;
				const { projectId } = params;
				const { filter = {} } = body;
				const deliveries = body.deliveries && keysOf(body.deliveries);
				const note = await naming(storage, projectId, "deliveries.dismissed", deliveries ? { deliveries } : { filter });
				const done = { all: [] as DeliveryKey[], now: [] as DeliveryKey[] };
				try {
					if (deliveries) {
						await dismissThese(projectId, deliveries, call, done);
						return { count: done.all.length, skipped: deliveries.length - done.all.length };
					}
					const { filter: matching, searched } = await logFilter(references, projectId, filter, 1, TYPES);
					// Before anything is done, so that what was done isn't reported as an error.
					const about = await searched();
					const failed = { ...matching, states: ["failed"] as const, tests: null, unhandled: true };
					let before = positionOf(body.cursor, "/cursor");
					for (let page = 0; page < DISMISSED_PAGES; page++) {
						const { rows, next } = await listDeliveries(storage, projectId, failed, { limit: MAX_NAMED, before });
						await dismissThese(projectId, rows, call, done);
						before = next ?? undefined;
						if (next === null) break;
					}
					return { count: done.all.length, next_cursor: cursorOf(before ?? null), ...about };
				} finally {
					// Even if a later step failed.
					if (done.now.length > 0) audit(note(done.now));
				}
			},
		}),
	];
}
