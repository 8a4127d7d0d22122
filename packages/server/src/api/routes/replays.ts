import type { Static } from "typebox";
import { isId } from "../../base/ids.ts";
import { attemptFilter } from "../attempt-query.ts";
import { decodeCursor, encodeCursor } from "../pagination.ts";
import type { ApiParts } from "../parts.ts";
import { notFound } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { Replays, ReplaysRequest } from "../schemas/index.ts";
import { formatTime, parseTime } from "../time.ts";

/** Attempts that one call looks at: a short transaction, and a progress that moves. */
const STEP = 1_000;

type Request = Static<typeof ReplaysRequest>;
type Delivery = NonNullable<Request["deliveries"]>[number];

export function replayRoutes({ storage, engine, clock }: Pick<ApiParts, "storage" | "engine" | "clock">): Route[] {
	async function replayThese(projectId: string, deliveries: readonly Delivery[]) {
		const at = clock.now();
		const results = await Promise.all(
			deliveries.map(({ webhook_id, event_id }) => storage.replayDelivery(projectId, webhook_id, event_id, at)),
		);
		const count = results.filter(({ kind }) => kind === "queued").length;
		return { count, skipped: deliveries.length - count };
	}

	async function replayMatching(projectId: string, { filter = {}, dry_run = false, cursor, before }: Request) {
		const now = clock.now();
		const at = Math.min((before === undefined ? null : parseTime(before)) ?? now, now);
		const after = cursor === undefined ? {} : { after: decodeCursor(cursor, (text) => isId("attempt", text)) };
		const options = { dryRun: dry_run, ...after };
		const { count, next } = await storage.replayMatching(projectId, attemptFilter(filter), at, STEP, options);
		return { count, next_cursor: next === null ? null : encodeCursor(next), before: formatTime(at) };
	}

	return [
		defineRoute({
			method: "POST",
			path: "/v1/projects/{project_id}/replays",
			operationId: "replayMany",
			tag: "Delivery log",
			summary: "Replay many deliveries",
			description:
				"Either those that are named, or one step of those whose newest attempt a filter finds, oldest first: call again with `cursor` and `before` from the answer until `next_cursor` is null. Deliveries that are still attempting are left alone.",
			access: "developer",
			body: ReplaysRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many were begun again.", schema: Replays },
			async handler({ params: { project_id }, body, audit }) {
				const { deliveries, filter, dry_run } = body;
				if (deliveries?.some(({ webhook_id }) => !isId("webhook", webhook_id))) throw notFound("webhook");
				const answer = deliveries ? await replayThese(project_id, deliveries) : await replayMatching(project_id, body);
				if (dry_run === true || answer.count === 0) return answer;
				engine.wake(project_id);
				const detail = { ...(filter && { filter }), count: answer.count };
				audit({ projectId: project_id, action: "deliveries.replayed", detail });
				return answer;
			},
		}),
	];
}
