import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Outcome } from "../send/outcome.ts";
import { afterAttempt, LIFECYCLE, resultOf } from "./lifecycle.ts";

const DELAYS = [30, 60, 120, 300, 600, 1800, 3600].map((s) => s * 1000);

const answered = (status: number): Outcome => ({
	kind: "answered",
	status,
	body: new Uint8Array(0),
	truncated: false,
	request: { url: "https://a.example/", brand: "Service", timestamp: 1, signature: "0".repeat(64) },
	startedAt: 0,
	endedAt: 1,
	waitedMs: 0,
});

test("the documentation has the same table as the code", () => {
	const page = readFileSync(new URL("../../../../../docs/concepts/lifecycle.md", import.meta.url), "utf8");
	const rows = page
		.split("\n")
		.filter((line) => /^\| (attempting|delivered|dead_lettered) \|/.test(line))
		.map((line) =>
			line
				.split("|")
				.slice(1, -1)
				.map((cell) => cell.trim()),
		);
	const inCode = LIFECYCLE.map((t) => [
		t.from,
		t.on,
		t.attemptsLeft === undefined ? "" : t.attemptsLeft ? "yes" : "no",
		t.to,
		t.logged ?? "",
	]);
	expect(rows).toEqual(inCode);
});

test("only 2xx status codes are a success", () => {
	for (let status = 200; status <= 599; status++) {
		expect(resultOf(answered(status)), String(status)).toBe(status < 300 ? "success" : "failure");
	}
});

test("seven failures are retried after the spec's delays, the eighth is final", () => {
	const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => afterAttempt(attempt, "failure", DELAYS));
	expect(delays.map((next) => next.delayMs)).toEqual([
		30_000,
		60_000,
		120_000,
		300_000,
		600_000,
		1_800_000,
		3_600_000,
		null,
	]);
	expect(delays.map((next) => next.status)).toEqual([...Array(7).fill("retrying"), "failed"]);
});

test("success or closing ends the series at any attempt", () => {
	for (let attempt = 1; attempt <= 8; attempt++) {
		expect(afterAttempt(attempt, "success", DELAYS)).toEqual({ status: "delivered", delayMs: null });
		expect(afterAttempt(attempt, "closed", DELAYS)).toEqual({ status: "failed", delayMs: null });
	}
});
