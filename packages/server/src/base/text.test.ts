import { expect, test } from "vitest";
import { durationWords } from "./text.ts";

test.each([
	[86_400_000, "24 hours"],
	[172_800_000, "2 days"],
	[3_600_000, "60 minutes"],
	[5_400_000, "90 minutes"],
	[90_000, "90 seconds"],
	[1_500, "1.5 seconds"],
	[1_000, "1 second"],
])("%i ms are %s", (ms, words) => expect(durationWords(ms)).toBe(words));
