import { expect, it } from "vitest";
import { failedTestOf, failedTestWords, type TestedAttempt } from "./failed-test.ts";

const NOW = Date.parse("2026-11-21T14:30:00.000Z");
const FAILED: TestedAttempt = {
	...{ test: true, status: "retrying", attempt: 1, started_at: "2026-11-21T14:28:00.000Z" },
	...{ status_code: 500, error_code: null },
};

it("says that the last test failed, unless something was sent since", () => {
	expect(failedTestOf([FAILED])).toBe(FAILED);
	expect(failedTestWords(FAILED, NOW)).toBe(
		"Its last test failed 2 min ago. The receiver returned 500 (Internal Server Error).",
	);
	expect(failedTestWords({ ...FAILED, status: "failed", status_code: null, error_code: "timeout" }, NOW)).toBe(
		"Its last test failed 2 min ago. The receiver didn't respond in time.",
	);
	const cancelled = { ...FAILED, status: "failed" as const, status_code: null, error_code: "test_cancelled" };
	expect(failedTestOf([cancelled, FAILED])).toBe(FAILED);
	const delivered = { ...FAILED, status: "delivered" as const, status_code: 200 };
	for (const since of [delivered, { ...delivered, test: false }, { ...FAILED, test: false }])
		expect(failedTestOf([since, FAILED])).toBeNull();
	expect(failedTestOf([])).toBeNull();
});
