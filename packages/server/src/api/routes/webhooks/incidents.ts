import { isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { rowsOf } from "../../../base/collections.ts";
import { type FoundIncident, INCIDENT, LIMITS, listIncidents } from "../../../registry/incidents.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	count,
	id,
	orNull,
	soughtId,
	strictObject,
	Time,
	TimeOrNull,
	Type,
	wholeList,
} from "../../schema.ts";
import { soughtWebhookId } from "./webhooks.ts";

const route = routeIn("Insight", "developer");

const Incident = component("Incident")({
	webhook_id: id("webhook"),
	state: Type.Enum(["ongoing", "over"], {
		description: "`ongoing`: nothing has been delivered since its last failed attempt.",
	}),
	started_at: Type.Union([Time], {
		description:
			"The beginning of the first minute in which more attempts failed than were delivered, or of the minute before it if attempts failed in that, too.",
	}),
	ended_at: orNull(
		Time,
		"The end of the last such minute, or of the next one if attempts failed in it, too; null if ongoing.",
	),
	failures_since: Type.Union([Time], {
		description: "Its deliveries have a failed attempt that started at or after this time. The same as `started_at`.",
	}),
	failures_until: orNull(Time, "Such an attempt started before this time. The same as `ended_at`; null if ongoing."),
	failed_attempts: count("Attempts that failed meanwhile."),
	delivered_attempts: count("Attempts that were delivered meanwhile."),
	status_code: orNull(Type.Integer(), "The status code of the most frequent response."),
	error_code: orNull(Type.String(), "The most frequent reason for no response."),
	deliveries: Type.Object(
		{
			count: count(
				"How many had a failed attempt between `failures_since` and `failures_until`. The counts below add up to it.",
			),
			capped: Type.Boolean({
				description: `Whether there are more: only the newest ${LIMITS.deliveries} deliveries of an incident are examined.`,
			}),
			delivered: count("Delivered by now."),
			waiting: count("Waiting for a retry or a replay."),
			failed: count("Dead-lettered and neither replayed nor dismissed."),
			dismissed: count("Dead-lettered and dismissed."),
		},
		{ description: "What has become of the deliveries that it held up." },
	),
	last_delivered_at: orNull(Time, "When the last of them was delivered."),
	next_retry_at: TimeOrNull,
});

const IncidentQuery = strictObject({
	webhook_id: Type.Optional(soughtId("Only this webhook's.")),
	limit: Type.Integer({ minimum: 1, maximum: 20, default: 5, description: "How many incidents to list." }),
});

function presentIncident(found: FoundIncident): Static<typeof Incident> {
	const { response, isOngoing, held } = found;
	return {
		webhook_id: found.webhookId,
		state: isOngoing ? "ongoing" : "over",
		started_at: isoTime(found.from),
		ended_at: isOngoing ? null : isoTime(found.until),
		failures_since: isoTime(found.from),
		failures_until: isOngoing ? null : isoTime(found.until),
		failed_attempts: found.failed,
		delivered_attempts: found.delivered,
		status_code: response?.statusCode ?? null,
		error_code: response?.errorCode ?? null,
		deliveries: { ...held },
		last_delivered_at: isoTimeOrNull(found.lastDeliveredAt),
		next_retry_at: isoTimeOrNull(found.nextRetryAt),
	};
}

export function incidentRoutes({ storage, clock }: ApiParts): Route[] {
	return [
		route("GET", "/v1/projects/{project_id}/incidents", "listIncidents", {
			summary: "List incidents",
			description: `Outages of receivers in the last ${INCIDENT.hours} hours, newest first: from the first minute in which most attempts failed to the last, with the minute before and the minute after if attempts failed in them, too. It continues if most fail again within ${INCIDENT.againWithinMinutes} minutes, and needs at least ${INCIDENT.failedAttempts} failed attempts. Test events and deliveries closed without a request don't count. Only the ${LIMITS.webhooks} webhooks that failed most recently are examined.`,
			query: IncidentQuery,
			heavy: true,
			success: { status: 200, description: "The incidents.", schema: wholeList("IncidentList", Incident) },
			async handler({ params: { projectId }, query: { webhook_id, limit } }) {
				const webhookId = soughtWebhookId(webhook_id);
				const ids: string[] = [];
				if (webhookId !== undefined) ids.push(webhookId);
				else for await (const { id } of rowsOf((page) => storage.listWebhooks({ projectId, ...page }))) ids.push(id);
				const found = await listIncidents(storage, projectId, ids, { now: clock.now(), limit });
				return { data: found.map(presentIncident) };
			},
		}),
	];
}
