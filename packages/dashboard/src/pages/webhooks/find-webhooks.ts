import type { WebhookState } from "../../lib/health/health-facts.ts";
import { listSentence } from "../../lib/health/project-words.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { typedName } from "../../lib/text/names.ts";
import { matchSentence } from "../../lib/text/numbers.ts";
import { WEBHOOK_STATES, type WebhooksSearch } from "./search.ts";
import type { WebhookRow } from "./webhook-cells.tsx";

/** A webhook's state in the list. One without health was just created. */
export const stateOf = ({ webhook, health }: WebhookRow): WebhookState =>
	webhook.status === "paused" ? "paused" : (health?.state ?? "idle");

/** A webhook's position in the list by its id. */
export type Order = ReadonlyMap<string, number>;

/** Those that need attention first, and otherwise in the order of creation. */
export function orderOf(rows: readonly WebhookRow[]): Order {
	const rank = (row: WebhookRow) => {
		const state = stateOf(row);
		return state === "failing" || state === "unstable" ? WEBHOOK_STATES.indexOf(state) : WEBHOOK_STATES.length;
	};
	const sorted = rows.toSorted((a, b) => rank(a) - rank(b));
	return new Map(sorted.map(({ webhook }, index) => [webhook.id, index]));
}

/** The webhooks in that order, new ones last, if they match. */
export function findWebhooks(
	rows: readonly WebhookRow[],
	order: Order,
	{ text = "", state }: WebhooksSearch,
): readonly WebhookRow[] {
	const sought = typedName(text).toLowerCase();
	const matches = (row: WebhookRow) => {
		const { webhook } = row;
		const words = [webhookName(webhook), webhook.url, webhook.id];
		return (state === undefined || stateOf(row) === state) && words.some((word) => word.toLowerCase().includes(sought));
	};
	const indexOf = ({ webhook }: WebhookRow) => order.get(webhook.id) ?? rows.length;
	return rows.filter(matches).sort((a, b) => indexOf(a) - indexOf(b));
}

/** The first line of the list: `4 webhooks, 1 is failing.`, or with a filter `3 of 40 webhooks match.` */
export function foundSentence(
	all: readonly WebhookRow[],
	found: readonly WebhookRow[],
	search: WebhooksSearch,
): string {
	const isFiltered = (search.text ?? "").trim() !== "" || search.state !== undefined;
	if (!isFiltered || found.length === all.length) return listSentence(all.map((row) => ({ state: stateOf(row) })));
	return matchSentence(found.length, all.length, "webhook");
}
