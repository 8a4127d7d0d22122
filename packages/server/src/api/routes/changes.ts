import { WAITERS } from "../../base/budgets.ts";
import { principalName } from "../auth/owner.ts";
import { comeAgain, RETRY_S } from "../http/problem.ts";
import { EVENT_STREAM } from "../live/changes.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, RawResponse, type Route } from "../route.ts";
import { Type } from "../schemas/type.ts";

export function changeRoutes({ changes }: Pick<ApiParts, "changes">): Route[] {
	return [
		defineRoute({
			method: "GET",
			path: "/v1/projects/{project_id}/changes",
			operationId: "listenToChanges",
			tag: "Insight",
			summary: "Listen to changes",
			description:
				"A stream of server-sent events for live pages. `attempts` and `webhooks` are hints, each sent at most twice a second, that there is something new to fetch. They carry no data, and one may be lost when a connection breaks, so fetch once after each connect.",
			access: "developer",
			success: {
				status: 200,
				description: "The stream, which lasts until either side closes it.",
				schema: Type.String(),
				contentType: "text/event-stream",
			},
			handler({ params: { project_id }, principal, request, isStillAllowed }) {
				// A HEAD request would neither read nor close it.
				if (request.method === "HEAD") return new RawResponse("", EVENT_STREAM);
				const stream = changes.listen(project_id, principalName(principal), isStillAllowed);
				if (!stream) throw comeAgain("own", `${WAITERS.streams} streams are already open.`, RETRY_S.streams);
				// Asks proxies not to buffer.
				return new RawResponse(stream, EVENT_STREAM, { "X-Accel-Buffering": "no" });
			},
		}),
	];
}
