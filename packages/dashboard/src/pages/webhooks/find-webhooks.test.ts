import { expect, test } from "vitest";
import type { WebhookState } from "../../lib/health/health-facts.ts";
import { findWebhooks, foundSentence, orderOf } from "./find-webhooks.ts";
import { validateWebhooksSearch } from "./search.ts";
import type { WebhookRow } from "./webhook-cells.tsx";

const row = (id: string, description: string, state: WebhookState) =>
	({
		webhook: {
			id,
			description,
			url: `https://${id}.example.com/hooks`,
			status: state === "paused" ? "paused" : "active",
		},
		health: { webhook_id: id, state },
	}) as unknown as WebhookRow;

const ROWS = [
	row("wh_a", "Accounting", "healthy"),
	row("wh_b", "", "unstable"),
	row("wh_c", "Chat", "paused"),
	row("wh_d", "Shipping", "failing"),
];
const ids = (rows: readonly WebhookRow[]) => rows.map(({ webhook }) => webhook.id).join(" ");

test("failing and unstable webhooks come first", () => {
	expect(ids(findWebhooks(ROWS, orderOf(ROWS), {}))).toBe("wh_d wh_b wh_a wh_c");
});

test("a change of state moves no row, and a new webhook comes last", () => {
	const order = orderOf(ROWS);
	const later = [...ROWS.slice(1), row("wh_a", "Accounting", "failing"), row("wh_e", "New", "failing")];
	expect(ids(findWebhooks(later, order, {}))).toBe("wh_d wh_b wh_a wh_c wh_e");
});

test("finds by name, URL, id and state", () => {
	const find = (search: object) => ids(findWebhooks(ROWS, orderOf(ROWS), validateWebhooksSearch({ ...search })));
	expect(find({ text: " account " })).toBe("wh_a");
	expect(find({ text: "B.EXAMPLE" })).toBe("wh_b");
	expect(find({ text: "wh_c" })).toBe("wh_c");
	expect(find({ state: "unstable" })).toBe("wh_b");
	expect(find({ state: "unstable", text: "chat" })).toBe("");
	expect(find({ state: "nonsense" })).toBe("wh_d wh_b wh_a wh_c");
});

test("says how many match, in words that suit their number", () => {
	const say = (rows: readonly WebhookRow[], search: object) =>
		foundSentence(rows, findWebhooks(rows, orderOf(rows), search), search);
	expect(say(ROWS, {})).toBe("4 webhooks, 1 is failing, 1 is unstable, 1 is paused.");
	expect(say(ROWS, { text: "chat" })).toBe("1 of 4 webhooks matches.");
	// Nothing is left out.
	expect(say(ROWS, { text: "example" })).toBe(say(ROWS, {}));
	expect(say(ROWS, { text: "nothing" })).toBe("None of 4 webhooks matches.");
	expect(say(ROWS.slice(0, 1), { text: "a" })).toBe(say(ROWS.slice(0, 1), {}));
	// It said "None of 0 webhooks matches."
	expect(say([], { state: "failing" })).toBe(say([], {}));
});

test("finds a name that was pasted as the page shows it", () => {
	const rows = [...ROWS, row("wh_e", "הנהלת חשבונות", "healthy")];
	expect(ids(findWebhooks(rows, orderOf(rows), { text: "\u2068הנהלת חשבונות\u2069" }))).toBe("wh_e");
});
