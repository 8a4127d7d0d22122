import type { ResponseFacts } from "../attempts/attempt-words.ts";
import type { Hold } from "../text/hold.ts";

interface AttemptFacts extends ResponseFacts {
	readonly started_at: string;
}

export type WebhookState = "paused" | "failing" | "unstable" | "healthy" | "idle";

/** How many retries and replays are pending; `tests` of them are of test events, which aren't deliveries. */
export interface Waiting {
	readonly count: number;
	readonly tests: number;
}

/** The fields of a webhook's health that the sentences need. */
export interface HealthFacts {
	readonly webhook_id: string;
	readonly state: WebhookState;
	readonly last_attempt: AttemptFacts | null;
	readonly failing_since: AttemptFacts | null;
	/** Whether it says since when, instead of how many. */
	readonly down: boolean;
	readonly recent: { readonly minutes: number; readonly delivered: number; readonly failed: number };
	readonly last_delivered_at: string | null;
	/** Since when the log has all of its attempts. */
	readonly logged_since: string;
	readonly waiting: Waiting & { readonly next_at: string | null };
	readonly dead_letters: number;
	readonly backlog: { readonly events: number; readonly oldest_at: string | null };
	readonly day: { readonly delivered: number };
}

/** The fields of a webhook that the sentences need. */
export interface WebhookFacts {
	readonly id: string;
	readonly url: string;
	readonly description: string;
	readonly created_at?: string;
	readonly status?: "active" | "paused";
	readonly secret_state?: "usable" | "unreadable" | "lost";
}

/** Whether nothing is sent to an active webhook, because nothing can be signed: its health is failing. */
export const lacksSecret = ({ status, secret_state = "usable" }: Pick<WebhookFacts, "status" | "secret_state">) =>
	status !== "paused" && secret_state !== "usable";

/** Why nothing is sent to a webhook; null if it's sent. */
export const holdOf = (webhook: Pick<WebhookFacts, "status" | "secret_state">): Hold | null =>
	webhook.status === "paused" ? "paused" : lacksSecret(webhook) ? "unsigned" : null;

/** Whether a webhook is older than what the log has of it. It may be, as long as its health isn't known. */
export const isOlderThanLog = (
	{ created_at }: Pick<WebhookFacts, "created_at">,
	health: Pick<HealthFacts, "logged_since"> | undefined,
): boolean =>
	created_at !== undefined && (health === undefined || Date.parse(health.logged_since) > Date.parse(created_at));

/** From this age of the oldest waiting event on, a webhook's lane is behind, in milliseconds. */
const BEHIND_MS = 60_000;

/** Whether events wait for their first attempt longer than they should, although the webhook is active. */
export const isBehind = ({ state, backlog }: Pick<HealthFacts, "state" | "backlog">, now: number) =>
	state !== "paused" && backlog.oldest_at !== null && now - Date.parse(backlog.oldest_at) >= BEHIND_MS;

/**
 * When each webhook's oldest waiting event began to wait, the latest of those times, in milliseconds since 1970; 0 if none
 * waits. Passed to `useNow`, it keeps sentences about backlogs up to date.
 */
export const waitingSince = (healths: readonly Pick<HealthFacts, "backlog">[]): number =>
	healths.reduce((newest, { backlog }) => Math.max(newest, Date.parse(backlog.oldest_at ?? "") || 0), 0);

/** How many deliveries wait for a retry or a replay. */
export const deliveriesWaiting = ({ count, tests }: Waiting): number => count - tests;
