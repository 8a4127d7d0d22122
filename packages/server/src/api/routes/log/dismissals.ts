/** Bulk dismissals of dead letters: of named deliveries, or of those that match a filter. */
import { BULK_ACTIONS } from "../../../base/budgets.ts";
import { chunksOf } from "../../../base/collections.ts";
import { listDeliveries } from "../../../search/deliveries.ts";
import type { DeliveryKey } from "../../../storage/port.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, count, cursor, optional, request, strictObject, Type } from "../../schema.ts";
import { searchedOf } from "./attempts.ts";
import {
	auditNaming,
	keysOf,
	MAX_NAMED,
	NAMED_OR_FILTERED,
	NextStep,
	namedDeliveries,
	type Rights,
	TYPES_POINTER,
} from "./bulk.ts";
import { bodyFilters, cursorOf, logFilter, positionOf } from "./log-filters.ts";

const route = routeIn("Delivery log", "developer");

/** Pages of dead letters that a call by filter reads. */
const DISMISSED_PAGES = 5;

const DismissalsRequest = request("DismissalsRequest", {
	...NAMED_OR_FILTERED,
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

export function dismissalRoutes({ storage, clock, references }: ApiParts): Route[] {
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

	return [
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
				const note = await auditNaming(
					storage,
					projectId,
					"deliveries.dismissed",
					deliveries ? { deliveries } : { filter },
				);
				const done = { all: [] as DeliveryKey[], now: [] as DeliveryKey[] };
				try {
					if (deliveries) {
						await dismissThese(projectId, deliveries, call, done);
						return { count: done.all.length, skipped: deliveries.length - done.all.length };
					}
					const { filter: matching, searched } = await logFilter(references, projectId, filter, 1, TYPES_POINTER);
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
