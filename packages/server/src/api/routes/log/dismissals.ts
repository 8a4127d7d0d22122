import { type DeliveryFilter, listDeliveries } from "../../../search/deliveries.ts";
import type { DeliveryKey } from "../../../storage/port.ts";
import { found, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { closed, cursor, Type } from "../../schema.ts";
import {
	auditedFilter,
	bodyFilters,
	cursorOf,
	logFilter,
	MAX_NAMED,
	namedDeliveries,
	positionOf,
	SearchedEvents,
} from "./log-filters.ts";

const route = routeIn("Delivery log");

/** Deliveries dismissed per transaction. */
const STEP = 50;
/** Pages of dead letters read per call by filter. */
const PAGES = 5;

const DismissalsRequest = Type.Object(
	{
		deliveries: Type.Optional(
			namedDeliveries("Dismisses these deliveries. Those that aren't dead-lettered are skipped."),
		),
		filter: Type.Optional(
			Type.Object(bodyFilters, {
				...closed,
				description: "Dismisses one step of the dead letters that match, newest first, without those of test events.",
			}),
		),
		cursor: Type.Optional(cursor("the previous step")),
	},
	{
		...closed,
		oneOf: [{ required: ["deliveries"] }, { required: ["filter"] }],
		dependentRequired: { cursor: ["filter"] },
		errorMessage: 'must have either "deliveries" or "filter"',
		title: "DismissalsRequest",
		examples: [{ filter: { type: "purchase.completed" } }],
	},
);
const Dismissals = Type.Object(
	{
		count: Type.Integer({ minimum: 0, description: "How many deliveries are dismissed." }),
		skipped: Type.Optional(
			Type.Integer({ minimum: 0, description: "With `deliveries`: how many aren't dead-lettered." }),
		),
		next_cursor: Type.Optional(
			Type.Union([Type.String(), Type.Null()], {
				description:
					"With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step.",
			}),
		),
		searched: Type.Optional(SearchedEvents),
	},
	{ title: "Dismissals" },
);
const Dismissed = Type.Object({ dismissed: Type.Boolean() }, { title: "Dismissed" });

/** Users decide that dead letters need nothing more. Nothing is deleted. */
export function dismissalRoutes({
	storage,
	clock,
	references,
}: Pick<ApiParts, "storage" | "clock" | "references">): Route[] {
	/** Calls `dismissed` after each step with how many it dismissed. */
	async function dismissThese(
		projectId: string,
		deliveries: readonly DeliveryKey[],
		dismissed: (count: number) => void,
	): Promise<void> {
		const at = clock.now();
		for (let from = 0; from < deliveries.length; from += STEP) {
			const these = deliveries.slice(from, from + STEP);
			const results = await storage.dismissDeliveries({ projectId, deliveries: these, at });
			dismissed(results.filter(Boolean).length);
		}
	}

	/** Returns where to continue, or null at the end. */
	async function dismissMatching(
		projectId: string,
		filter: DeliveryFilter,
		from: string | undefined,
		dismissed: (count: number) => void,
	): Promise<string | null> {
		let before = from;
		for (let page = 0; page < PAGES; page++) {
			const { rows, next } = await listDeliveries(storage, projectId, filter, { limit: MAX_NAMED, before });
			await dismissThese(projectId, rows, dismissed);
			if (next === null) return null;
			before = next;
		}
		return before ?? null;
	}

	return [
		route("POST", "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}/dismiss", "dismissDelivery", {
			summary: "Dismiss a dead letter",
			description:
				"Marks a dead-lettered delivery as needing no decision. It no longer counts in `dead_letters`, and replays by filter leave it out; it can still be replayed on its own. Nothing is deleted.",
			access: "developer",
			rate: "replays",
			success: { status: 200, description: "The delivery is dismissed.", schema: Dismissed },
			problems: { conflict: "The delivery isn't dead-lettered." },
			async handler({ params: { projectId, webhookId, eventId }, audit }) {
				const of = { webhookId, eventId };
				const [dismissed] = await storage.dismissDeliveries({
					...{ projectId, deliveries: [of], at: clock.now() },
				});
				if (!dismissed) {
					found("delivery", await storage.getDelivery({ projectId, ...of }));
					throw new Problem("conflict", "Only a dead-lettered delivery can be dismissed. This one isn't.");
				}
				const target = { kind: "event", id: eventId, name: eventId };
				audit({ projectId, action: "delivery.dismissed", target, detail: { webhook_id: webhookId } });
				return { dismissed: true };
			},
		}),
		route("POST", "/v1/projects/{project_id}/dismissals", "dismissMany", {
			summary: "Dismiss many dead letters",
			description:
				"Dismisses the given deliveries, or one step of those that match a filter. Call again with `cursor` from the response until `next_cursor` is null.",
			access: "developer",
			body: DismissalsRequest,
			rate: "bulkReplays",
			success: { status: 200, description: "How many deliveries are dismissed.", schema: Dismissals },
			async handler({ params: { projectId }, body, audit }) {
				const { deliveries, filter = {} } = body;
				let count = 0;
				const dismissed = (more: number) => {
					count += more;
				};
				try {
					if (deliveries) {
						const these = deliveries.map(({ webhook_id, event_id }) => ({ webhookId: webhook_id, eventId: event_id }));
						await dismissThese(projectId, these, dismissed);
						return { count, skipped: deliveries.length - count };
					}
					const { filter: matching, searched } = await logFilter(references, projectId, filter, 1);
					const failed = { ...matching, states: ["failed"] as const, tests: null, unhandled: true };
					const next = await dismissMatching(projectId, failed, positionOf(body.cursor, "/cursor"), dismissed);
					return { count, next_cursor: cursorOf(next), ...searched };
				} finally {
					// Even if a later step failed.
					const detail = { ...(body.filter && { filter: auditedFilter(filter) }), count };
					if (count > 0) audit({ projectId, action: "deliveries.dismissed", detail });
				}
			},
		}),
	];
}
