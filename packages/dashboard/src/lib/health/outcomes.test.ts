import { expect, it } from "vitest";
import { outcomesInWords, sumOutcomes } from "./outcomes.ts";

it("adds up and says outcomes", () => {
	const sum = sumOutcomes([
		{ delivered: 310, retrying: 0, failed: 1 },
		{ delivered: 2, retrying: 3, failed: 0 },
	]);
	expect(sum).toEqual({ delivered: 312, retrying: 3, failed: 1 });
	expect(outcomesInWords(sum)).toBe(
		"312 attempts delivered, 3 attempts followed by a retry, 1 attempt failed for good",
	);
	expect(outcomesInWords(sumOutcomes([]))).toBe("no attempts");
});
