import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { forgetServerTime, noteServerTime, serverNow } from "./server-time.ts";

const NOW = Date.parse("2026-11-21T14:02:11.400Z");
const dateOf = (at: number) => new Date(at).toUTCString();

beforeEach(() => {
	vi.useFakeTimers({ now: NOW });
	forgetServerTime();
});
afterEach(() => {
	vi.useRealTimers();
});

test("a browser whose clock is right is believed", () => {
	expect(serverNow()).toBe(NOW);
	noteServerTime(dateOf(NOW), NOW - 80, NOW);
	noteServerTime(null, NOW, NOW);
	noteServerTime("yesterday", NOW, NOW);
	expect(serverNow()).toBe(NOW);
});

test("a wrong clock is corrected to within a second and the request's time, and better with each response", () => {
	const anyOffset = fc.integer({ min: -86_400_000, max: 86_400_000 });
	const anyRequest = fc.record({ at: fc.integer({ min: 0, max: 100_000 }), there: fc.nat(500), back: fc.nat(500) });
	fc.assert(
		fc.property(anyOffset, fc.array(anyRequest, { minLength: 1 }), (offset, requests) => {
			forgetServerTime();
			let error = Number.POSITIVE_INFINITY;
			for (const { at, there, back } of requests) {
				noteServerTime(dateOf(NOW + at + offset), NOW + at - there, NOW + at + back);
				const now = Math.abs(serverNow() - (NOW + offset));
				expect(now).toBeLessThanOrEqual(1_000 + there + back);
				expect(now).toBeLessThanOrEqual(error);
				error = now;
			}
		}),
	);
});

test("a clock that was set in the meantime is noticed", () => {
	noteServerTime(dateOf(NOW + 600_000), NOW - 80, NOW);
	expect(serverNow() - NOW).toBeGreaterThan(598_000);
	noteServerTime(dateOf(NOW), NOW - 80, NOW);
	expect(Math.abs(serverNow() - NOW)).toBeLessThan(2_000);
});
