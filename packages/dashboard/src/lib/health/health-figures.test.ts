import { describe, expect, it } from "vitest";
import { checklist, outcomesInWords, sumOutcomes } from "./health-figures.ts";

describe("figures", () => {
	it("adds up and says outcomes", () => {
		const sum = sumOutcomes([
			{ delivered: 310, retrying: 0, failed: 1 },
			{ delivered: 2, retrying: 3, failed: 0 },
		]);
		expect(sum).toEqual({ delivered: 312, retrying: 3, failed: 1 });
		expect(outcomesInWords(sum)).toBe(
			"312 attempts delivered, 3 attempts followed by a retry, 1 attempt failed for good",
		);
		expect(outcomesInWords(sumOutcomes([]))).toBe("no attempts");
	});
});

describe("checklist", () => {
	it("names the first step that is not done", () => {
		const none = { appInstalled: false, webhooks: 0, eventSeen: false, deliveryAccepted: false };
		expect(checklist(none).next).toBe("install");
		expect(checklist({ ...none, appInstalled: true }).next).toBe("webhook");
		expect(checklist({ ...none, appInstalled: true, eventSeen: true })).toEqual({
			done: new Set(["install", "event"]),
			next: "webhook",
		});
		expect(checklist({ appInstalled: true, webhooks: 2, eventSeen: true, deliveryAccepted: true }).next).toBeNull();
	});
});
