import { expect, it } from "vitest";
import { expiryAfter, hasExpired } from "./key-scopes.ts";

const NOW = Date.parse("2026-11-23T12:00:00.000Z");

it("counts a key's lifetime in days from now", () => {
	expect(expiryAfter(null, NOW)).toEqual({});
	expect(expiryAfter(7, NOW)).toEqual({ expires_at: "2026-11-30T12:00:00.000Z" });
});

it("takes a key as expired from its time on", () => {
	expect(hasExpired("2026-11-23T12:00:00.001Z", NOW)).toBe(false);
	expect(hasExpired("2026-11-23T12:00:00.000Z", NOW)).toBe(true);
});
