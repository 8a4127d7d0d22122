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

function logged(isFailure?: (error: unknown) => boolean) {
	const clock = new VirtualClock();
	const lines: string[] = [];
	const line = ({ err, ...fields }: { err?: Away }, text: string) =>
		void lines.push(`${text} ${err?.code ?? ""} ${JSON.stringify(fields)}`);
	const logger = { ...silentLogger, error: line, warn: line };
	const failure = new RepeatedFailure(
		{ logger, clock },
		{ failed: "failed", over: "over", ...(isFailure && { isFailure }) },
	);
	return { clock, lines, failure };
}

test("logs every bug, and counts none as an outage", () => {
	const { lines, failure } = logged((error) => error instanceof Away);
	for (let n = 0; n < 3; n++) failure.failed(new TypeError("bug"), { projectId: "proj_1" });
	failure.succeeded();
	expect(lines).toEqual(Array(3).fill('failed  {"projectId":"proj_1"}'));
});

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

// Only the first one was named, and the others' lines were held back like its own.
test("each project that fails is named within ten seconds, and a line names only a few", () => {
	const { clock, lines, failure } = logged();
	const at = (projectId: string) => failure.failed(new Away("unusable"), { projectId });
	const second = () => clock.advance(1_000);
	for (let n = 0; n < 25; n++) at(`proj_${n}`);
	for (let n = 0; n < 10; n++) second();
	at("proj_0");
	at("proj_late");
	for (let n = 0; n < 100; n++) {
		second();
		at("proj_0");
		at("proj_late");
	}
	const first = Array.from({ length: 20 }, (_, n) => `proj_${n + 1}`);
	const of = (project: string, fields: object) =>
		`failed unusable ${JSON.stringify({ projectId: project, ...fields })}`;
	expect(lines).toEqual([
		of("proj_0", {}),
		of("proj_0", { failures: 26, forMs: 10_000, otherProjects: { count: 24, first } }),
		of("proj_0", { failures: 46, forMs: 20_000, otherProjects: { count: 1, first: ["proj_late"] } }),
		of("proj_0", { failures: 66, forMs: 30_000 }),
		of("proj_0", { failures: 146, forMs: 70_000 }),
	]);
	clock.advance(20_000);
	failure.succeeded();
	at("proj_late");
	expect(lines.slice(5)).toEqual(['over  {"failures":227,"forMs":130000}']);
	clock.advance(10_000);
	at("proj_late");
	expect(lines.at(-1)).toBe(of("proj_late", { failures: 229, forMs: 140_000 }));
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
