import fc from "fast-check";
import { expect, it } from "vitest";
import { scaleTo } from "./chart-scale.ts";
import {
	compactCount,
	formatAboutMs,
	formatAxisMs,
	formatBytes,
	formatCount,
	formatMs,
	formatRate,
	plural,
} from "./numbers.ts";

it("writes counts with separators, or in compact form", () => {
	expect(formatCount(1_234_567)).toBe("1,234,567");
	expect(compactCount(9_999)).toBe("9,999");
	expect(compactCount(12_345)).toBe("12.3K");
});

it.each([
	[84.4, "84 ms"],
	[999.6, "1.00 s"],
	[1_240, "1.24 s"],
	[9_996, "10.0 s"],
	[15_000, "15.0 s"],
	[59_970, "1 min"],
	[120_000, "2 min"],
	[125_000, "2 min 5 s"],
])("writes %d ms as %s", (ms, words) => {
	expect(formatMs(ms)).toBe(words);
});

// An axis said "1 min 40 s", which reached into its chart.
it("writes the times of any axis short, up to the longest attempt", () => {
	const labels = (longest: number) => scaleTo(longest).ticks.map(formatAxisMs);
	expect(labels(200_000)).toEqual(["0 ms", "50.0 s", "100 s", "150 s", "200 s"]);
	fc.assert(
		fc.property(fc.integer({ min: 0, max: 300_000 }), (longest) => {
			for (const label of labels(longest)) expect(label.length, label).toBeLessThanOrEqual("500 ms".length);
		}),
	);
});

// Response times are counted in buckets: a receiver that always took 8.00 s had one of 7.51 s.
it.each([
	[null, "–"],
	[1, "~1 ms"],
	[8.5, "~8.5 ms"],
	[394.6, "~390 ms"],
	[996, "~1 s"],
	[7_512.2, "~7.5 s"],
	[89_337, "~89 s"],
])("writes about %d ms as %s", (ms, words) => {
	expect(formatAboutMs(ms)).toBe(words);
});

it("only says 100% or 0% if it is exact", () => {
	expect(formatRate(null)).toBe("–");
	expect(formatRate(1)).toBe("100%");
	expect(formatRate(0)).toBe("0%");
	fc.assert(
		fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 1e6 }), (good, bad) => {
			const words = formatRate(good / (good + bad));
			expect(words).not.toBe("100%");
			expect(words).not.toBe("100.0%");
			expect(words).not.toBe("0%");
			expect(words).not.toBe("0.0%");
		}),
	);
});

it("counts in words", () => {
	expect(plural(1, "webhook")).toBe("1 webhook");
	expect(plural(0, "webhook")).toBe("0 webhooks");
	expect(plural(1, "delivery")).toBe("1 delivery");
	expect(plural(2, "failed delivery")).toBe("2 failed deliveries");
	expect(plural(3, "key")).toBe("3 keys");
	expect(plural(2, "person has", "people have")).toBe("2 people have");
});

it("writes bytes in the unit that fits", () => {
	expect(formatBytes(512)).toBe("512 B");
	expect(formatBytes(1_536)).toBe("1.5 KiB");
	expect(formatBytes(3 * 1_024 * 1_024)).toBe("3.0 MiB");
});
