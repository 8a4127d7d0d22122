import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { Deadlines } from "./deadlines.ts";

test("each attempt is cut when its own time is up, and none that is over", () => {
	const clock = new VirtualClock();
	const deadlines = new Deadlines(clock, 1_000);
	const begun = clock.elapsed();
	const cuts: [name: string, afterMs: number][] = [];
	const attempts = ["a", "b", "c", "d"].map((name) => ({
		cut: () => void cuts.push([name, clock.elapsed() - begun]),
	}));
	for (const attempt of attempts) {
		deadlines.add(attempt);
		clock.advance(300);
	}
	deadlines.remove(attempts[1]!);
	clock.advance(2_000);
	expect(cuts).toEqual([
		["a", 1_000],
		["c", 1_600],
		["d", 1_900],
	]);
	expect(clock.nextAt).toBeNull();
});

test("one timer is enough for all, and none is left when all are over", () => {
	const clock = new VirtualClock();
	let timers = 0;
	const counting = {
		elapsed: () => clock.elapsed(),
		setTimeout: (fire: () => void, ms: number) => {
			timers += 1;
			return clock.setTimeout(fire, ms);
		},
	};
	const deadlines = new Deadlines(counting, 1_000);
	const attempts = Array.from({ length: 100 }, () => ({ cut: () => expect.unreachable() }));
	for (const attempt of attempts) deadlines.add(attempt);
	expect(timers).toBe(1);
	for (const attempt of attempts) deadlines.remove(attempt);
	expect(clock.nextAt).toBeNull();
});

test("an attempt that ends while another is cut is not cut", () => {
	const clock = new VirtualClock();
	const deadlines = new Deadlines(clock, 1_000);
	const other = { cut: () => expect.unreachable() };
	let wasCut = false;
	deadlines.add({
		cut: () => {
			wasCut = true;
			deadlines.remove(other);
		},
	});
	deadlines.add(other);
	clock.advance(5_000);
	expect(wasCut).toBe(true);
});
