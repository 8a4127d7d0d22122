import { EVENT_TYPES, type EventType, requestHeaders } from "@posthorn/protocol";
import type { Static } from "typebox";
import type { WebhookView } from "../registry/index.ts";
import type * as port from "../storage/port.ts";
import type * as schemas from "./schemas/index.ts";
import { formatTime, formatTimeOrNull } from "./time.ts";

export function presentProject({ id, name, apps, createdAt }: port.Project): Static<typeof schemas.Project> {
	return { id, name, apps: apps as "developer"[], created_at: formatTime(createdAt) };
}

export function presentApiKey(key: port.ApiKey): Static<typeof schemas.ApiKey> {
	const { id, name, prefix, createdAt, lastUsedAt } = key;
	return { id, name, prefix, created_at: formatTime(createdAt), last_used_at: formatTimeOrNull(lastUsedAt) };
}

export function presentWebhook({ webhook, backlog }: WebhookView): Static<typeof schemas.Webhook> {
	const { id, url, description, events, status, maxInFlight, createdAt } = webhook;
	return {
		id,
		url,
		description,
		// Always in the order of the catalogue.
		events: EVENT_TYPES.map(({ type }) => type).filter((type) => events.includes(type)),
		status,
		max_in_flight: maxInFlight,
		created_at: formatTime(createdAt),
		backlog: { events: backlog.events, oldest_at: formatTimeOrNull(backlog.oldestAt) },
	};
}

/** Bytes that are not UTF-8 become U+FFFD, and a byte order mark stays. */
const text = new TextDecoder("utf-8", { ignoreBOM: true });

export function presentAttempt(attempt: port.Attempt): Static<typeof schemas.Attempt> {
	const { sent, eventType, eventId } = attempt;
	return {
		...presentAttemptSummary(attempt),
		request_headers: sent ? requestHeaders({ ...sent, eventType, eventId }) : {},
		request_body: text.decode(attempt.requestBody),
		response_body: text.decode(attempt.responseBody),
		response_truncated: attempt.responseTruncated,
	};
}

export function presentAttemptSummary(attempt: port.AttemptSummary): Static<typeof schemas.AttemptSummary> {
	return {
		id: attempt.id,
		webhook_id: attempt.webhookId,
		event_id: attempt.eventId,
		event_type: attempt.eventType as EventType,
		attempt: attempt.attempt,
		replay: attempt.replay,
		method: "POST",
		url: attempt.url,
		status_code: attempt.statusCode,
		error_code: attempt.errorCode,
		error: attempt.error,
		response_ms: attempt.responseMs,
		status: attempt.status,
		next_retry_at: formatTimeOrNull(attempt.nextRetryAt),
		started_at: formatTime(attempt.startedAt),
	};
}
