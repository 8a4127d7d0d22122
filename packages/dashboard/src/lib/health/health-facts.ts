import type { ResponseFacts } from "../attempts/attempt-words.ts";

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
