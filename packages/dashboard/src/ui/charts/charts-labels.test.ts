import { afterEach, expect, it } from "vitest";
import { bucketLabel } from "./charts-labels.ts";

const HOUR = 3_600_000;
const zone = process.env.TZ;
afterEach(() => {
	if (zone === undefined) delete process.env.TZ;
	else process.env.TZ = zone;
});

/** The labels of the hours around a time. */
const around = (time: string) =>
	[-2, -1, 0, 1, 2].map((hours) => bucketLabel(new Date(Date.parse(time) + hours * HOUR).toISOString(), "day", HOUR));

// A bar said "02:00 to 02:00", and the next one began at the same time.
it("tells the hours apart when clocks are set back", () => {
	process.env.TZ = "Europe/Berlin";
	expect(around("2026-10-25T00:00:00.000Z")).toEqual([
		"00:00 to 01:00",
		"01:00 to 02:00",
		"02:00 (UTC+2) to 02:00 (UTC+1)",
		"02:00 (UTC+1) to 03:00 (UTC+1)",
		"03:00 to 04:00",
	]);
});

it("shows why an hour seems to last two when clocks are set forward", () => {
	process.env.TZ = "America/New_York";
	expect(around("2026-03-08T06:00:00.000Z")).toEqual([
		"23:00 to 00:00",
		"00:00 to 01:00",
		"01:00 (UTC−5) to 03:00 (UTC−4)",
		"03:00 (UTC−4) to 04:00 (UTC−4)",
		"04:00 to 05:00",
	]);
});

it("says of days that they are UTC's", () => {
	expect(bucketLabel("2026-10-25T00:00:00.000Z", "month", 24 * HOUR)).toBe("25 Oct (UTC)");
});
