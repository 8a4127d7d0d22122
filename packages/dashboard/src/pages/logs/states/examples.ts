import type { ListedAttempt } from "../../../api/attempts.ts";
import type { DeliverySummary } from "../../../api/deliveries.ts";
import type { EventType } from "../../../api/model.ts";
import type { AttemptStatus } from "../../../lib/attempts/attempt-words.ts";

const NOW = Date.now();
const MINUTE_MS = 60_000;
const ago = (ms: number) => new Date(NOW - ms).toISOString();

const example = (
	number: number,
	event_type: EventType,
	status: AttemptStatus,
	more: Partial<ListedAttempt>,
): ListedAttempt => ({
	id: `att_example_${number}`,
	webhook_id: "wh_example",
	event_id: `evt_example_${number}`,
	event_type,
	order_id: null,
	attempt: 1,
	replay: 0,
	test: false,
	method: "POST",
	url: "https://accounting.example.com/orders",
	status_code: 200,
	error_code: null,
	error: null,
	response_ms: 84,
	status,
	next_retry_at: null,
	followed: false,
	started_at: ago(number * MINUTE_MS),
	...more,
});

/** An example of the log, shown before anything was sent. */
export const EXAMPLE_ATTEMPTS: readonly ListedAttempt[] = [
	example(1, "purchase.completed", "delivered", { order_id: "ord_10482" }),
	example(2, "purchase.refunded", "retrying", {
		order_id: "ord_10391",
		status_code: 500,
		attempt: 3,
		response_ms: 212,
		next_retry_at: new Date(NOW + 2 * MINUTE_MS).toISOString(),
	}),
	example(3, "customer.created", "delivered", { attempt: 2, response_ms: 61 }),
];

/** The same in the list of deliveries. */
export const EXAMPLE_DELIVERIES: readonly DeliverySummary[] = EXAMPLE_ATTEMPTS.map(({ order_id, ...attempt }) => ({
	webhook_id: attempt.webhook_id,
	event_id: attempt.event_id,
	event_type: attempt.event_type,
	order_id,
	replay: attempt.replay,
	test: attempt.test,
	state: attempt.status === "retrying" ? "waiting" : attempt.status,
	attempts: attempt.attempt,
	last_attempt: attempt,
	next_retry_at: attempt.next_retry_at,
	handled: null,
}));

export const EXAMPLE_WEBHOOK_NAME = "Accounting";
