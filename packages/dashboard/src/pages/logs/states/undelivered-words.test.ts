import { expect, test } from "vitest";
import { undeliveredWords } from "./undelivered-words.ts";

test("says which types no webhook receives, and what may have kept the others", () => {
	const webhooks = [{ events: ["purchase.completed" as const] }, { events: ["delivery.success" as const] }];
	expect(undeliveredWords(new Set(["purchase.refunded"]), webhooks)).toBe(
		"No webhook receives purchase.refunded. A webhook receives the event types selected in its settings, from then on.",
	);
	expect(undeliveredWords(new Set(["purchase.completed"]), webhooks)).toBe(
		"purchase.completed waits for its first attempt, or was published before a webhook received it.",
	);
	expect(
		undeliveredWords(
			new Set(["purchase.refunded", "chargeback.created", "purchase.completed", "delivery.success"]),
			webhooks,
		),
	).toBe(
		"No webhook receives purchase.refunded or chargeback.created. A webhook receives the event types selected in its settings, from then on. purchase.completed and delivery.success wait for their first attempt, or were published before a webhook received them.",
	);
	expect(undeliveredWords(new Set(["purchase.refunded"]), undefined)).toBe("");
});
