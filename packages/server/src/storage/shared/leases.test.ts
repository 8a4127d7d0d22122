import { expect, test } from "vitest";
import { ClockOffset } from "./leases.ts";

const HOUR = 3_600_000;

test("clocks that may be equal count as one: times come back exactly as stored", () => {
	const offset = new ClockOffset();
	offset.measured(1_000, 600, 1_400);
	offset.measured(1_400, 1_000, 1_100);
	offset.measured(1_000, 1_400, 1_450);
	expect([offset.toDatabase(7), offset.toNode(7)]).toEqual([7, 7]);
});

test("an offset between clocks is kept as precisely as measured, until measured again", () => {
	const offset = new ClockOffset();
	offset.measured(HOUR + 15, 10, 20);
	expect([offset.toDatabase(0), offset.toNode(HOUR)]).toEqual([HOUR, 0]);
	// A slow response doesn't contradict the measurement.
	offset.measured(HOUR + 2_000, 1_000, 9_000);
	offset.measured(HOUR + 100, 0, 50);
	expect(offset.toDatabase(0)).toBe(HOUR);
	offset.measured(15, 10, 20);
	expect(offset.toDatabase(0)).toBe(0);
});
