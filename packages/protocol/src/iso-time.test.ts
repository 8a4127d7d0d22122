import { expect, it } from "vitest";
import { isoTime } from "./iso-time.ts";

it("formats each time regardless of previous calls", () => {
	const first = Date.UTC(2026, 10, 21, 3, 47, 36, 123);
	expect(isoTime(first)).toBe("2026-11-21T03:47:36.123Z");
	expect(isoTime(first)).toBe("2026-11-21T03:47:36.123Z");
	expect(isoTime(first + 1)).toBe("2026-11-21T03:47:36.124Z");
	expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
	expect(() => isoTime(Number.NaN)).toThrow(RangeError);
	expect(() => isoTime(9e15)).toThrow(RangeError);
	expect(isoTime(0)).toBe("1970-01-01T00:00:00.000Z");
	expect(isoTime(first)).toBe("2026-11-21T03:47:36.123Z");
});
