/** Bulk replays: of all that failed of a webhook, of named deliveries, or of those that match a filter. */
import { type EventType, isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { BULK_ACTIONS } from "../../../base/budgets.ts";
import type { DeliveryKey, MatchingReplays } from "../../../storage/port.ts";
import { found } from "../../http/problem.ts";
import { givenMs } from "../../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	count,
	cursor,
	EventTypeName,
	givenTime,
	id,
	optional,
	orNull,
	request,
	strictObject,
	Time,
	TimeOrNull,
	Type,
} from "../../schema.ts";
import { noteOf } from "../webhooks/webhooks.ts";
import { AttemptStatusName, attemptFilter, searchedOf } from "./attempts.ts";
import {
	auditNaming,
	EXAMPLE_DELIVERY,
	knownKeys,
	NAMED_OR_FILTERED,
	NextStep,
	namedDeliveries,
	ReplayedCount,
	type Rights,
	TYPES_POINTER,
} from "./bulk.ts";
import { bodyFilters, cursorOf, positionOf } from "./log-filters.ts";

const route = routeIn("Delivery log", "developer");

const ReplayRequest = request("ReplayRequest", { examples: [{ status: "failed" }] })({
	status: Type.Enum(["failed"]),
	since: Type.Optional(givenTime("Attempts that started at this time or later.")),
	until: Type.Optional(givenTime("Attempts that started before this time.")),
});

const ReplayFilter = strictObject(
	{
		...bodyFilters,
		status: Type.Optional(Type.Union([AttemptStatusName, Type.Array(AttemptStatusName, { minItems: 1, maxItems: 3 })])),
	},
	{
		description:
			"As for the list of attempts. A delivery matches if its newest attempt does. Test events never match: replay those one by one.",
	},
);

const ReplaysRequest = request("ReplaysRequest", {
	...NAMED_OR_FILTERED,
	dependentRequired: { dry_run: ["filter"], cursor: ["filter"], before: ["filter"] },
	examples: [
		{ filter: { status: "failed", type: "purchase.completed" }, dry_run: true },
		{ deliveries: [EXAMPLE_DELIVERY] },
	],
})({
	...optional({
		deliveries: namedDeliveries(
			"Replays these deliveries. Those that are still being attempted or don't exist are skipped.",
		),
		filter: ReplayFilter,
		dry_run: Type.Boolean({ description: "With `filter`: only count." }),
		cursor: cursor("the previous step"),
		before: givenTime(
			"With `filter`: the `before` from the first step. Later attempts are left alone, so that the replay ends.",
		),
	}),
});

const Replays = component("Replays")({
	count: count("How many deliveries are replayed, or would be."),
	...optional({
		skipped: count("With `deliveries`: how many are still attempting or don't exist."),
		left: count(
			"With `deliveries`: how many of the last of them weren't reached, because storage failed. Call again with these. Absent if there are none.",
		),
		groups: Type.Array(
			Type.Object({
				webhook_id: id("webhook"),
				type: EventTypeName,
				count: Type.Integer({ minimum: 1 }),
			}),
			{ description: "With `dry_run`: how many of this step, by webhook and event type." },
		),
		oldest_at: orNull(Time, "With `dry_run`: when the last attempts of the first and last of this step started."),
		newest_at: TimeOrNull,
	}),
	next_cursor: NextStep,
	before: Type.Optional(Time),
	...searchedOf,
});

type Matching = Omit<MatchingReplays, "limit">;

export function replayRoutes({ storage, engine, clock, logger, references }: ApiParts): Route[] {
	/**
	 * One after the other, each in its own transaction. If one fails, those before it stay replayed.
	 *
	 * @param done gets those that are replayed
	 */
	async function replayThese(
		projectId: string,
		deliveries: readonly DeliveryKey[],
		{ by, authorizeAgain }: Rights,
		done: DeliveryKey[],
	) {
		const at = clock.now();
		let skipped = 0;
		for (const [i, key] of deliveries.entries()) {
			try {
				if (i % BULK_ACTIONS.namedReplays === 0) await authorizeAgain();
				const { kind } = await storage.replayDelivery({ projectId, ...key, at, by });
				if (kind === "queued") done.push(key);
				else skipped++;
			} catch (error) {
				const count = done.length;
				if (count === 0) throw error;
				logger.warn({ err: error, projectId, count }, "failed to replay all of a selection");
				return { count, skipped, left: deliveries.length - count - skipped };
			}
		}
		if (done.length === 0) await authorizeAgain();
		return { count: done.length, skipped };
	}

	async function replayMatching(
		projectId: string,
		{ filter = {}, dry_run = false, cursor, before }: Static<typeof ReplaysRequest>,
		rights: Rights,
	) {
		const now = clock.now();
		const at = Math.min(givenMs(before) ?? now, now);
		const after = positionOf(cursor, "/cursor");
		const { filter: selection, searched } = await attemptFilter(references, projectId, filter, TYPES_POINTER);
		const matching = { projectId, selection, at, after };
		const about = await searched();
		const rest = (next: string | null) => ({ next_cursor: cursorOf(next), before: isoTime(at), ...about });
		if (!dry_run) {
			const { count, next } = await replayStep(matching, rights);
			return { count, ...rest(next) };
		}
		const limit = BULK_ACTIONS.replayTransactions * BULK_ACTIONS.replays;
		const { count, next, groups, oldestAt, newestAt } = await storage.countMatching({ ...matching, limit });
		return {
			count,
			groups: groups.map((of) => ({ webhook_id: of.webhookId, type: of.eventType as EventType, count: of.count })),
			oldest_at: isoTimeOrNull(oldestAt),
			newest_at: isoTimeOrNull(newestAt),
			...rest(next),
		};
	}

	/** Replays some in one transaction, and has them sent, even if it failed: it may have been committed. */
	async function replaySome(matching: Matching, { by, authorizeAgain }: Rights) {
		await authorizeAgain();
		const call = storage.replayMatching({ ...matching, limit: BULK_ACTIONS.replays, by });
		const replayed = await engine.wakeAfter(matching.projectId, call, ({ count }) => count > 0);
		if (replayed.count === 0) await authorizeAgain();
		return replayed;
	}

	/** If a transaction fails, those before it stay replayed, and the next step continues after them. */
	async function replayStep(matching: Matching, rights: Rights) {
		let [count, after] = [0, matching.after];
		for (let transaction = 0; transaction < BULK_ACTIONS.replayTransactions; transaction++) {
			try {
				const replayed = await replaySome({ ...matching, after }, rights);
				count += replayed.count;
				if (replayed.next === null) return { count, next: null };
				after = replayed.next;
			} catch (error) {
				if (transaction === 0) throw error;
				logger.warn({ err: error, projectId: matching.projectId, count }, "failed to replay all of a step");
				break;
			}
		}
		return { count, next: after ?? null };
	}

	return [
		route("POST", "/v1/projects/{project_id}/webhooks/{webhook_id}/replay", "replayFailed", {
			summary: "Replay everything that failed",
			description:
				"Starts a new series for each dead-lettered delivery of the webhook, oldest first, without test events. `since` and `until` limit when the failed attempt started.",
			body: ReplayRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are replayed.", schema: ReplayedCount },
			async handler(call) {
				const { params, body, audit } = call;
				const { projectId, webhookId } = params;
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				const at = clock.now();
				const range = { since: givenMs(body.since), until: givenMs(body.until) };
				const selection = { ...range, webhookIds: [webhookId], statuses: [body.status] };
				let count = 0;
				let after: string | undefined;
				const note = () => audit(noteOf("deliveries.replayed", webhook, { filter: body, count }));
				try {
					do {
						// Attempts that fail again meanwhile are left alone, so that this ends.
						const step = await replaySome({ projectId, selection, at, after }, call);
						count += step.count;
						after = step.next ?? undefined;
					} while (after !== undefined);
				} catch (error) {
					if (count > 0) note();
					throw error;
				}
				note();
				return { count };
			},
		}),
		route("POST", "/v1/projects/{project_id}/replays", "replayMany", {
			summary: "Replay many deliveries",
			description:
				"Replays the given deliveries, or one step of those whose newest attempt matches a filter, oldest first. Call again with `cursor` and `before` from the response until `next_cursor` is null. Deliveries that are still being attempted are skipped.",
			body: ReplaysRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are replayed.", schema: Replays },
			async handler(call) {
				const { params, body, audit } = call;
				const { projectId } = params;
				const { filter = {}, dry_run = false } = body;
				if (body.deliveries) {
					const deliveries = knownKeys(body.deliveries);
					const note = await auditNaming(storage, projectId, "deliveries.replayed", { deliveries });
					const done: DeliveryKey[] = [];
					const replaying = replayThese(projectId, deliveries, call, done);
					const result = await engine.wakeAfter(projectId, replaying, ({ count }) => count > 0);
					if (done.length > 0) audit(note(done));
					return result;
				}
				if (dry_run) return await replayMatching(projectId, body, call);
				const note = await auditNaming(storage, projectId, "deliveries.replayed", { filter });
				const result = await replayMatching(projectId, body, call);
				if (result.count > 0) audit(note([], result.count));
				return result;
			},
		}),
	];
}
