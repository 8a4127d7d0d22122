import { describe, expect, it } from "vitest";
import { webhook } from "./health.fixture.ts";
import { webhookName } from "./webhook-name.ts";

describe("webhookName", () => {
	it("is the description, or the host, or the URL's text", () => {
		expect(webhookName(webhook("a", "Accounting"))).toBe("Accounting");
		expect(webhookName(webhook("a", " "))).toBe("a.example");
		expect(webhookName({ description: "", url: "nonsense" })).toBe("nonsense");
	});
});
