import { describe, expect, it } from "vitest";
import { DEFAULT_BRAND, headerNames, isBrand, requestHeaders } from "./headers.ts";

const signature = "0123456789abcdef".repeat(4);
const request = { eventType: "purchase.completed", eventId: "evt_1", timestamp: 1795232856, signature };

describe("requestHeaders", () => {
	it("are the specification's six, in its order", () => {
		expect(Object.entries(requestHeaders({ brand: DEFAULT_BRAND, ...request }))).toEqual([
			["Content-Type", "application/json"],
			["User-Agent", "Service-Webhooks/1.0"],
			["X-Service-Event", "purchase.completed"],
			["X-Service-Event-Id", "evt_1"],
			["X-Service-Signature", signature],
			["X-Service-Timestamp", "1795232856"],
		]);
	});

	it("are followed by those of Standard Webhooks, if they are signed as well", () => {
		const headers = requestHeaders({ brand: DEFAULT_BRAND, ...request, standardSignature: "c2ln" });
		expect(Object.entries(headers).slice(6)).toEqual([
			["webhook-id", "evt_1"],
			["webhook-timestamp", "1795232856"],
			["webhook-signature", "v1,c2ln"],
		]);
	});

	it("carry the brand", () => {
		const headers = requestHeaders({ brand: "Acme-2", ...request });
		expect(headers["User-Agent"]).toBe("Acme-2-Webhooks/1.0");
		expect(Object.keys(headers).slice(2)).toEqual([
			"X-Acme-2-Event",
			"X-Acme-2-Event-Id",
			"X-Acme-2-Signature",
			"X-Acme-2-Timestamp",
		]);
		expect(headerNames("Acme-2").eventId).toBe("X-Acme-2-Event-Id");
	});
});

describe("isBrand", () => {
	it.each([DEFAULT_BRAND, "a", "A1", "my-Shop-2", "a--b", "x".repeat(32)])("accepts %j", (text) => {
		expect(isBrand(text)).toBe(true);
	});

	it.each(["", "1a", "-a", "a-", "a b", "a_b", "é", "a\n", "a\r\nX: y", "x".repeat(33)])("refuses %j", (text) => {
		expect(isBrand(text)).toBe(false);
	});
});
