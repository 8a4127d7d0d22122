import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { PROJECTS } from "../../base/budgets.ts";
import { FailureBackoff } from "./failure-backoff.ts";

test("a project rests twice as long each time, up to an hour, and the count restarts once it has run for an hour", () => {
	const clock = new VirtualClock();
	const backoff = new FailureBackoff(clock, 10_000);
	const rests: number[] = [];
	for (let i = 0; i < 12; i++) {
		rests.push(backoff.failed("a"));
		expect(backoff.resting).toBe(1);
		expect(backoff.restOf("a")).toBe(rests.at(-1));
		expect(backoff.restOf("b")).toBe(0);
		clock.advance(rests.at(-1)!);
		expect(backoff.restOf("a")).toBe(0);
		expect(backoff.resting).toBe(0);
	}
	expect(rests.map((ms) => ms / 1_000)).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600]);
	clock.advance(PROJECTS.longestRestMs - 1);
	expect(backoff.failed("a")).toBe(PROJECTS.longestRestMs);
	clock.advance(2 * PROJECTS.longestRestMs);
	expect(backoff.failed("a")).toBe(10_000);
});
