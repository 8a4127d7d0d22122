import { expect, test } from "vitest";
import { RateLimit } from "./throttle.ts";

test("a later charge must be refilled before more is available", () => {
	let now = 0;
	const limit = new RateLimit({ burst: 3, perMinute: 6 }, { elapsed: () => now });
	expect(limit.take("a")).toBeNull();
	limit.charge("a", 5);
	expect(limit.take("a")).toBe(40);
	expect(limit.take("b")).toBeNull();
	now += 40_000;
	expect([limit.take("a"), limit.take("a")]).toEqual([null, 10]);
});

test("gives each owner its burst, then its rate, and says when to retry", () => {
	let now = 5_000;
	const limit = new RateLimit({ burst: 3, perMinute: 6 }, { elapsed: () => now });
	expect([1, 2, 3].map(() => limit.take("a"))).toEqual([null, null, null]);
	expect(limit.take("a")).toBe(10);
	expect(limit.take("b")).toBeNull();
	now += 9_500;
	expect(limit.take("a")).toBe(1);
	now += 500;
	expect([limit.take("a"), limit.take("a")]).toEqual([null, 10]);
	now += 3_600_000;
	expect([1, 2, 3, 4].map(() => limit.take("a"))).toEqual([null, null, null, 10]);
});
