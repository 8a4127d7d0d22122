import { expect, it } from "vitest";
import { type RecoveryAttempt, recoveryAdvice, recoveryOf } from "./recovery.ts";

const NOW = new Date(2026, 10, 21, 14, 30).getTime();

type Status = RecoveryAttempt["status"] | "skipped";

/** Attempts a minute apart, the newest first and a minute ago. */
const course = (...statuses: readonly Status[]): RecoveryAttempt[] =>
	statuses.map((status, i) => ({
		...(status === "skipped" ? { status: "failed", error_code: "skipped" } : { status, error_code: null }),
		started_at: new Date(NOW - (i + 1) * 60_000).toISOString(),
	}));

const wordsOf = (...statuses: readonly Status[]) => recoveryOf(course(...statuses), NOW)?.words;

it("names the first attempt that was accepted after the last failure", () => {
	expect(wordsOf("delivered", "delivered", "retrying", "delivered")).toBe("It has been delivering since 14:28.");
	expect(wordsOf("delivered", "failed")).toBe("It has been delivering since 14:29.");
});

it("leaves out deliveries that were closed without a request", () => {
	expect(wordsOf("skipped", "delivered", "skipped", "delivered", "retrying")).toBe(
		"It has been delivering since 14:26.",
	);
});

it("counts the attempts if the failure is not among them", () => {
	expect(wordsOf("delivered", "delivered")).toBe("Its last 2 attempts were accepted.");
	expect(wordsOf("delivered")).toBe("Its last attempt was accepted.");
});

it("says nothing while the last attempt failed, or without attempts", () => {
	expect(recoveryOf(course("retrying", "delivered"), NOW)).toBeNull();
	expect(recoveryOf([], NOW)).toBeNull();
});

// After each success it said "There's nothing to fix unless it fails again", even next to "Failing".
it("says when a webhook will be healthy, or what to do about one that fails now and then", () => {
	const recent = { minutes: 15 };
	const since = "It has been delivering since 14:28.";
	const steady = recoveryOf(course("delivered", "delivered", "failed"), NOW);
	expect(recoveryAdvice(recent, steady)).toBe(
		`${since} Unless attempts fail again, it will be healthy within 15 minutes.`,
	);
	expect(recoveryAdvice(recent, null)).toBe(
		"Its last attempt was accepted. Unless attempts fail again, it will be healthy within 15 minutes.",
	);
	const flaky = recoveryOf(course("delivered", "retrying", "skipped", "delivered", "failed", "failed"), NOW);
	expect(flaky?.words).toBe("It fails now and then.");
	expect(recoveryAdvice(recent, flaky)).toBe(
		"It fails now and then. To find out why, compare failed attempts with accepted ones.",
	);
});
