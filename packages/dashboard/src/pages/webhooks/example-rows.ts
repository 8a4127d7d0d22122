import type { EventType } from "../../api/model.ts";
import type { WebhookRow } from "./webhook-cells.tsx";

const NOW = Date.now();
const HOUR_MS = 3_600_000;

function example(
	id: string,
	description: string,
	url: string,
	events: EventType[],
	delivered: readonly number[],
): WebhookRow {
	const hours = delivered.map((count, index) => ({
		at: new Date(NOW - (delivered.length - index) * HOUR_MS).toISOString(),
		delivered: count,
		retrying: 0,
		failed: 0,
	}));
	return {
		webhook: {
			id,
			url,
			description,
			events,
			status: "active",
			max_in_flight: 1,
			standard_webhooks: false,
			secret_state: "usable",
			created_at: new Date(NOW).toISOString(),
			backlog: { events: 0, oldest_seq: null, oldest_at: null },
		},
		health: {
			webhook_id: id,
			state: "healthy",
			last_attempt: null,
			failing_since: null,
			failed_in_a_row: 0,
			down: false,
			recent: { since: new Date(NOW).toISOString(), minutes: 15, delivered: 1, failed: 0 },
			last_delivered_at: null,
			logged_since: new Date(NOW).toISOString(),
			waiting: { count: 0, tests: 0, next_at: null },
			dead_letters: 0,
			backlog: { events: 0, oldest_seq: null, oldest_at: null },
			day: { delivered: 1, retrying: 0, failed: 0, success_rate: 1, p95_ms: 84 },
			hours,
		},
	};
}

/** An example of the list, for a project without webhooks. */
export const EXAMPLE_ROWS: readonly WebhookRow[] = [
	example(
		"wh_example_1",
		"Accounting",
		"https://accounting.example.com/orders",
		["purchase.completed", "purchase.refunded"],
		[4, 6, 5, 3, 2, 1, 1, 2, 3, 5, 8, 9, 11, 12, 10, 9, 11, 13, 12, 9, 8, 7, 6, 5],
	),
	example(
		"wh_example_2",
		"Chat",
		"https://chat.example.com/hooks/sales",
		["customer.created"],
		[1, 2, 1, 0, 0, 0, 0, 1, 1, 2, 3, 2, 3, 4, 3, 2, 3, 4, 3, 3, 2, 2, 1, 1],
	),
];
