import { afterEach, expect, it } from "vitest";
import { axisLabels, scaleTo } from "./chart-scale.ts";
import { timeOfDay } from "./time.ts";

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

const zone = process.env.TZ;
afterEach(() => {
	if (zone === undefined) delete process.env.TZ;
	else process.env.TZ = zone;
});

// In India, Nepal and parts of Australia, a day's chart had no times.
it.each([
	["Europe/Berlin", ["00:00", "04:00", "08:00", "12:00", "16:00", "20:00"]],
	["Asia/Kolkata", ["00:30", "04:30", "08:30", "12:30", "16:30", "20:30"]],
	["Asia/Kathmandu", ["00:45", "04:45", "08:45", "12:45", "16:45", "20:45"]],
	["America/St_Johns", ["00:30", "04:30", "08:30", "12:30", "16:30", "20:30"]],
])("labels six hours of a day in %s", (name, labels) => {
	process.env.TZ = name;
	const times = Array.from({ length: 24 }, (_, hour) => Date.UTC(2026, 10, 24, hour));
	expect(
		axisLabels(times, "day")
			.map((index) => timeOfDay(times[index] ?? 0))
			.sort(),
	).toEqual(labels);
	const minutes = Array.from({ length: 60 }, (_, minute) => Date.UTC(2026, 10, 24, 7, minute));
	expect(axisLabels(minutes, "hour")).toHaveLength(6);
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
