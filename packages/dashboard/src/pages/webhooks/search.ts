import type { WebhookState } from "../../lib/health/health-facts.ts";

/** In the order of the list. */
export const WEBHOOK_STATES = [
	"failing",
	"unstable",
	"healthy",
	"idle",
	"paused",
] as const satisfies readonly WebhookState[];

/** What the address bar says about the list of webhooks. */
export interface WebhooksSearch {
	/** In the name, the URL or the id. */
	readonly text?: string;
	/** All by default. */
	readonly state?: WebhookState;
}

export function validateWebhooksSearch({ text, state }: Record<string, unknown>): WebhooksSearch {
	const found = WEBHOOK_STATES.find((one) => one === state);
	// The router reads a number as such.
	const sought = typeof text === "string" || typeof text === "number" ? String(text) : "";
	return { ...(sought === "" ? {} : { text: sought }), ...(found === undefined ? {} : { state: found }) };
}
