import fc from "fast-check";
import { expect, it } from "vitest";
import { fromLocalField, toLocalField } from "./local-time.ts";

const MINUTE = 60_000;

it("keeps every minute through the field, in any time zone", () => {
	const from = Date.parse("2020-01-01T00:00:00Z") / MINUTE;
	fc.assert(
		fc.property(fc.integer({ min: from, max: from + 20 * 366 * 24 * 60 }), (minutes) => {
			const iso = new Date(minutes * MINUTE).toISOString();
			const back = Date.parse(fromLocalField(toLocalField(iso)) ?? "");
			// In the hour that daylight saving repeats, a local time means two moments.
			expect([0, 60, -60]).toContain((back - minutes * MINUTE) / MINUTE);
			expect(toLocalField(new Date(back).toISOString())).toBe(toLocalField(iso));
		}),
	);
});

// Applying a new start moved the end of an incident to the minute before it, and hid its last attempts.
it("keeps a time that wasn't changed to the millisecond", () => {
	const iso = "2026-11-21T14:02:11.123Z";
	expect(fromLocalField(toLocalField(iso), iso)).toBe(iso);
	expect(fromLocalField(toLocalField("2026-11-21T14:03:00.000Z"), iso)).toBe("2026-11-21T14:03:00.000Z");
	expect(fromLocalField("", iso)).toBeUndefined();
});

it("is empty if nothing is set", () => {
	expect(toLocalField(undefined)).toBe("");
	expect(fromLocalField("")).toBeUndefined();
	expect(fromLocalField("2026-11-")).toBeUndefined();
});
