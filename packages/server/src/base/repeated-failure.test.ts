import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { silentLogger } from "./logger.ts";
import { RepeatedFailure } from "./repeated-failure.ts";

class Away extends Error {
	readonly code: string;
	constructor(code: string) {
		super("away");
		this.code = code;
	}
}

function logged() {
	const clock = new VirtualClock();
	const lines: string[] = [];
	const line = ({ err, ...fields }: { err?: Away }, text: string) =>
		void lines.push(`${text} ${err?.code ?? ""} ${JSON.stringify(fields)}`);
	const logger = { ...silentLogger, error: line, warn: line };
	const failure = new RepeatedFailure({ logger, clock }, { failed: "failed", over: "over" });
	return { clock, lines, failure };
}

test("an outage is logged when it begins, at growing intervals, and when it is over", () => {
	const { clock, lines, failure } = logged();
	for (let second = 0; second < 100; second++) {
		failure.failed(new Away("lost"), { retryInMs: 1_000 });
		clock.advance(1_000);
	}
	failure.succeeded();
	failure.succeeded();
	expect(lines).toEqual([
		'failed lost {"retryInMs":1000}',
		'failed lost {"retryInMs":1000,"failures":11,"forMs":10000}',
		'failed lost {"retryInMs":1000,"failures":31,"forMs":30000}',
		'failed lost {"retryInMs":1000,"failures":71,"forMs":70000}',
		'over  {"failures":100,"forMs":100000}',
	]);
	clock.advance(10_000);
	failure.failed(new Away("lost"));
	expect(lines.at(-1)).toBe("failed lost {}");
});

test("a long outage is logged every ten minutes", () => {
	const { clock, lines, failure } = logged();
	for (let minute = 0; minute < 24 * 60; minute++) {
		failure.failed(new Away("lost"));
		clock.advance(60_000);
	}
	expect(lines.length).toBeGreaterThan(24 * 6);
	expect(lines.length).toBeLessThan(24 * 6 + 10);
});

test("another kind of failure is logged immediately, once", () => {
	const { lines, failure } = logged();
	for (const code of ["lost", "unusable", "lost", "unusable"]) failure.failed(new Away(code));
	failure.failed(null);
	expect(lines).toEqual([
		"failed lost {}",
		'failed unusable {"failures":2,"forMs":0}',
		'failed  {"failures":5,"forMs":0}',
	]);
});

// Each success of another project ended the outage, so each failure of this one was the first again: four lines a
// second, with a stack each.
test("what fails for one of those who share it is logged at growing intervals, too", () => {
	const { clock, lines, failure } = logged();
	for (let half = 0; half < 200; half++) {
		failure.failed(new Away("unusable"));
		failure.succeeded();
		clock.advance(500);
	}
	expect(lines).toEqual([
		"failed unusable {}",
		'over  {"failures":1,"forMs":0}',
		'failed unusable {"failures":21,"forMs":10000}',
		'over  {"failures":21,"forMs":10000}',
		'failed unusable {"failures":61,"forMs":30000}',
		'over  {"failures":61,"forMs":30000}',
		'failed unusable {"failures":141,"forMs":70000}',
		'over  {"failures":141,"forMs":70000}',
	]);
	failure.failed(new Away("lost"));
	expect(lines.at(-1)).toBe('failed lost {"failures":201,"forMs":100000}');
});

test("a failure soon after an outage is logged within seconds if everything fails", () => {
	const { clock, lines, failure } = logged();
	for (let second = 0; second < 600; second++) {
		failure.failed(new Away("lost"));
		clock.advance(1_000);
	}
	failure.succeeded();
	clock.advance(1_000);
	const before = lines.length;
	for (let second = 0; second < 11; second++) {
		failure.failed(new Away("lost"));
		clock.advance(1_000);
	}
	failure.succeeded();
	expect(lines.slice(before)).toEqual([
		'failed lost {"failures":611,"forMs":611000}',
		'over  {"failures":611,"forMs":612000}',
	]);
});
