import type { HealthFacts } from "./health-facts.ts";

/** 14:30 local time, so that times of that day appear without a date. */
export const NOW = new Date(2026, 10, 21, 14, 30).getTime();
export const at = (hour: number, minute: number) => new Date(2026, 10, 21, hour, minute).toISOString();
export const answered = (status_code: number, started_at: string) => ({ status_code, error_code: null, started_at });
export const unanswered = (error_code: string, started_at: string) => ({ status_code: null, error_code, started_at });

export const HEALTHY: HealthFacts = {
	webhook_id: "wh_1",
	state: "healthy",
	last_attempt: answered(200, at(14, 28)),
	failing_since: null,
	down: false,
	recent: { minutes: 15, delivered: 40, failed: 0 },
	last_delivered_at: at(14, 28),
	logged_since: at(4, 0),
	waiting: { count: 0, tests: 0, next_at: null },
	dead_letters: 0,
	backlog: { events: 0, oldest_at: null },
	day: { delivered: 1_204 },
};
export const FAILING: HealthFacts = {
	...HEALTHY,
	state: "failing",
	last_attempt: answered(500, at(14, 25)),
	failing_since: answered(500, at(14, 2)),
	down: true,
	recent: { minutes: 15, delivered: 0, failed: 9 },
	waiting: { count: 37, tests: 0, next_at: at(14, 42) },
};
export const UNSTABLE: HealthFacts = {
	...HEALTHY,
	state: "unstable",
	recent: { minutes: 15, delivered: 51, failed: 9 },
};
export const webhook = (id: string, description = "") => ({ id, description, url: `https://${id}.example/hooks` });
export const health = (id: string, facts: HealthFacts): HealthFacts => ({ ...facts, webhook_id: id });
