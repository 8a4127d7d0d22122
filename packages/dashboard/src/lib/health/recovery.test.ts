import { expect, it } from "vitest";
import { type RecoveryAttempt, recoveryAdvice, recoveryWords } from "./recovery.ts";

const NOW = new Date(2026, 10, 21, 14, 30).getTime();

/** Attempts a minute apart, the newest first and a minute ago. */
const course = (...statuses: readonly (RecoveryAttempt["status"] | "skipped")[]): RecoveryAttempt[] =>
	statuses.map((status, i) => ({
		...(status === "skipped" ? { status: "failed", error_code: "skipped" } : { status, error_code: null }),
		started_at: new Date(NOW - (i + 1) * 60_000).toISOString(),
	}));

it("names the first attempt that was accepted after the last failure", () => {
	expect(recoveryWords(course("delivered", "delivered", "retrying", "delivered"), NOW)).toBe(
		"It has been delivering since 14:28.",
	);
	expect(recoveryWords(course("delivered", "failed"), NOW)).toBe("It has been delivering since 14:29.");
});

it("leaves out deliveries that were closed without a request", () => {
	expect(recoveryWords(course("skipped", "delivered", "skipped", "delivered", "retrying"), NOW)).toBe(
		"It has been delivering since 14:26.",
	);
});

it("counts the attempts if the failure is not among them", () => {
	expect(recoveryWords(course("delivered", "delivered"), NOW)).toBe("Its last 2 attempts were accepted.");
	expect(recoveryWords(course("delivered"), NOW)).toBe("Its last attempt was accepted.");
});

it("says nothing while the last attempt failed, or without attempts", () => {
	expect(recoveryWords(course("retrying", "delivered"), NOW)).toBeNull();
	expect(recoveryWords([], NOW)).toBeNull();
});

// After each success it said "There's nothing to fix unless it fails again", even next to "Failing".
it("says when a webhook will be healthy, or what to do about one that fails now and then", () => {
	const recent = { minutes: 15 };
	const since = "It has been delivering since 14:28.";
	expect(recoveryAdvice(recent, since)).toBe(`${since} Unless attempts fail again, it's healthy within 15 minutes.`);
	expect(recoveryAdvice(recent, null)).toBe(
		"Its last attempt was accepted. Unless attempts fail again, it's healthy within 15 minutes.",
	);
	const flaky = recoveryWords(course("delivered", "retrying", "skipped", "delivered", "failed", "failed"), NOW);
	expect(flaky).toBe("It fails now and then.");
	expect(recoveryAdvice(recent, flaky)).toBe(
		"It fails now and then. To find out why, compare failed attempts with accepted ones.",
	);
});
