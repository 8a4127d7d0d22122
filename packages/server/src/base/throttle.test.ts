import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { beforeEach, expect, test } from "vitest";
import { Throttle } from "./throttle.ts";

const WINDOW_MS = 60_000;

let clock: VirtualClock;
let throttle: Throttle;
beforeEach(() => {
	clock = new VirtualClock();
	throttle = new Throttle(clock, 3, WINDOW_MS);
});

function fail(name: string, times: number): void {
	for (let i = 0; i < times; i++) throttle.failed(name);
}

test("allows a number of failures per name", () => {
	fail("a", 2);
	expect(throttle.wait("a")).toBeNull();
	fail("a", 1);
	expect(throttle.wait("a")).toBe(60);
	expect(throttle.wait("b")).toBeNull();
});

test("the wait ends with the window, which starts with the first failure and isn't extended", () => {
	fail("a", 1);
	clock.advance(30_000);
	fail("a", 5);
	expect(throttle.wait("a")).toBe(30);
	clock.advance(29_001);
	expect(throttle.wait("a")).toBe(1);
	clock.advance(998);
	expect(throttle.wait("a")).toBe(1);
	clock.advance(1);
	expect(throttle.wait("a")).toBeNull();
	fail("a", 2);
	expect(throttle.wait("a")).toBeNull();
});

// A person who mistyped a password while the clock was ahead would have been throttled until that time came.
test("a clock that was ahead and is set back doesn't extend the wait", () => {
	clock.set(86_400_000);
	fail("a", 3);
	clock.set(-86_400_000);
	expect(throttle.wait("a")).toBe(60);
	clock.advance(60_000);
	expect(throttle.wait("a")).toBeNull();
});

test("failures can be taken back, and names cleared", () => {
	fail("a", 3);
	throttle.takeBack("a");
	expect(throttle.wait("a")).toBeNull();
	fail("a", 1);
	expect(throttle.wait("a")).toBe(60);
	throttle.forget("a");
	expect(throttle.wait("a")).toBeNull();
	fail("a", 2);
	expect(throttle.wait("a")).toBeNull();
});

test("taking back too much gives no credit", () => {
	fail("a", 1);
	clock.advance(WINDOW_MS);
	throttle.takeBack("a");
	throttle.takeBack("b");
	for (const name of ["a", "b"]) {
		fail(name, 3);
		expect(throttle.wait(name)).toBe(60);
	}
});

test("limits the number of names, and drops the oldest first", () => {
	fail("first", 3);
	fail("second", 3);
	for (let i = 0; i < 9_999; i++) fail(`other ${i}`, 1);
	expect(throttle.wait("first")).toBeNull();
	expect(throttle.wait("second")).toBe(60);
});
