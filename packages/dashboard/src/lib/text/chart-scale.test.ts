import { expect, it } from "vitest";
import { axisLabels, scaleTo } from "./chart-scale.ts";

it.each([
	[0, [0, 1]],
	[1, [0, 1]],
	[3, [0, 1, 2, 3]],
	[4, [0, 1, 2, 3, 4]],
	[7, [0, 2, 4, 6, 8]],
	[58, [0, 20, 40, 60]],
	[100, [0, 50, 100]],
	[742, [0, 200, 400, 600, 800]],
	[15_000, [0, 5_000, 10_000, 15_000]],
])("reaches %i in round steps", (largest, ticks) => {
	expect(scaleTo(largest)).toEqual({ max: ticks.at(-1), ticks });
});

it("labels the same times after the bars have moved on", () => {
	const times = Array.from({ length: 24 }, (_, hour) => new Date(2026, 10, 24, hour).getTime());
	const later = times.map((at) => at + 3_600_000);
	const labelled = (all: readonly number[]) => axisLabels(all, "day").map((index) => all[index]);
	expect(labelled(times)).toHaveLength(6);
	expect(labelled(times).filter((at) => later.includes(at ?? 0))).toEqual(
		labelled(later).filter((at) => times.includes(at ?? 0)),
	);
});
