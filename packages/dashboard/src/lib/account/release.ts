import { formatCount, plural } from "../text/numbers.ts";

/** The fields of a webhook in quarantine that the sentences need. */
export interface PendingFacts {
	readonly status: "active" | "paused";
	readonly backlog: { readonly events: number };
	readonly waiting: { readonly count: number };
}

/** How many pending deliveries a webhook has. */
const pendingCount = ({ backlog, waiting }: PendingFacts) => backlog.events + waiting.count;

/** What a release sends, and what it leaves out: the webhooks for which `isSkipped`, and paused ones. */
export function releaseOf<Webhook extends PendingFacts>(
	webhooks: readonly Webhook[],
	isSkipped: (webhook: Webhook) => boolean,
) {
	const active = webhooks.filter(({ status }) => status === "active");
	const skipped = active.filter(isSkipped);
	const sent = active.filter((webhook) => !isSkipped(webhook));
	const first = sent.reduce((sum, { backlog }) => sum + backlog.events, 0);
	const again = sent.reduce((sum, { waiting }) => sum + waiting.count, 0);
	return { skipped, total: first + again, words: sentWords(first, again, sent.length) + skippedWords(skipped) };
}

interface Named {
	readonly description: string;
	readonly url: string;
	readonly project: string;
}

/** Whether a webhook or its project is named like a text, in any case. */
export function namedLike(text: string, { description, url, project }: Named): boolean {
	const sought = text.trim().toLowerCase();
	return [description, url, project].some((name) => name.toLowerCase().includes(sought));
}

function sentWords(first: number, again: number, webhooks: number): string {
	if (first + again === 0) return "No pending delivery will be sent.";
	const parts = [
		first > 0 ? plural(first, "first attempt") : "",
		again > 0 ? plural(again, "retry or replay", "retries and replays") : "",
	].filter((part) => part !== "");
	return `${parts.join(" and ")} will be sent to ${plural(webhooks, "webhook")}, in order.`;
}

function skippedWords(skipped: readonly PendingFacts[]): string {
	if (skipped.length === 0) return "";
	const count = skipped.reduce((sum, webhook) => sum + pendingCount(webhook), 0);
	return ` ${formatCount(count)} won't be sent to ${plural(skipped.length, "webhook")}.`;
}
