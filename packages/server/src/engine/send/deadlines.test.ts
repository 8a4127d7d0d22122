import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { SENDS } from "../../base/budgets.ts";
import { Deadlines, type HasDeadline } from "./deadlines.ts";

const cutBy = (cut: () => void): HasDeadline => ({ cut, dueAt: 0, previous: null, next: null });

test("cuts each attempt at its own deadline, and none that has ended", () => {
	const clock = new VirtualClock();
	const deadlines = new Deadlines(clock, 1_000);
	const begun = clock.elapsed();
	const cuts: [name: string, afterMs: number][] = [];
	const attempts = ["a", "b", "c", "d"].map((name) => cutBy(() => void cuts.push([name, clock.elapsed() - begun])));
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

test("uses one timer for all attempts, and leaves none when all have ended", () => {
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
	const attempts = Array.from({ length: 100 }, () => cutBy(() => expect.unreachable()));
	for (const attempt of attempts) deadlines.add(attempt);
	expect(timers).toBe(1);
	for (const attempt of attempts) deadlines.remove(attempt);
	expect(clock.nextAt).toBeNull();
});

test("attempts that are due together are cut in several turns of the event loop, in order", () => {
	const clock = new VirtualClock();
	const turns: number[][] = [];
	let workedMs = 0;
	const byTurn = {
		elapsed: () => clock.elapsed() + workedMs,
		setTimeout: (fire: () => void, ms: number) =>
			clock.setTimeout(() => {
				turns.push([]);
				fire();
			}, ms),
	};
	const deadlines = new Deadlines(byTurn, 1_000);
	const cutMs = SENDS.cutMsPerTurn / 4;
	const all = Array.from({ length: 9 }, (_, n) => n);
	for (const n of all)
		deadlines.add(
			cutBy(() => {
				turns.at(-1)!.push(n);
				workedMs += cutMs;
			}),
		);
	clock.advance(1_001);
	expect(turns.map((turn) => turn.length)).toEqual([4, 4, 1]);
	expect(turns.flat()).toEqual(all);
	expect(clock.nextAt).toBeNull();
});

test("doesn't cut an attempt that ends while another is being cut", () => {
	const clock = new VirtualClock();
	const deadlines = new Deadlines(clock, 1_000);
	const other = cutBy(() => expect.unreachable());
	let wasCut = false;
	const first = cutBy(() => {
		wasCut = true;
		deadlines.remove(other);
	});
	deadlines.add(first);
	deadlines.add(other);
	clock.advance(5_000);
	expect(wasCut).toBe(true);
});

test("attempts that end in any order don't change the others' deadlines", () => {
	const clock = new VirtualClock();
	const deadlines = new Deadlines(clock, 1_000);
	const cut: number[] = [];
	const attempts = Array.from({ length: 6 }, (_, n) => cutBy(() => void cut.push(n)));
	for (const attempt of attempts) deadlines.add(attempt);
	for (const n of [2, 0, 5, 2]) deadlines.remove(attempts[n]!);
	clock.advance(1_000);
	expect(cut).toEqual([1, 3, 4]);
	expect(attempts.every(({ previous, next }) => previous === null && next === null)).toBe(true);
});

// The new attempt set a timer that the deadlines then lost: it fired as well, and each such loss left one more.
test("keeps one timer if an attempt begins while another is being cut", () => {
	const clock = new VirtualClock();
	const pending = new Set<() => void>();
	const tracking = {
		elapsed: () => clock.elapsed(),
		setTimeout: (fire: () => void, ms: number) => {
			pending.add(tracked);
			function tracked(): void {
				pending.delete(tracked);
				fire();
			}
			const timer = clock.setTimeout(tracked, ms);
			return {
				cancel() {
					pending.delete(tracked);
					timer.cancel();
				},
			};
		},
	};
	const deadlines = new Deadlines(tracking, 1_000);
	const begun = clock.elapsed();
	const cuts: [name: string, afterMs: number][] = [];
	const cut = (name: string) => () => void cuts.push([name, clock.elapsed() - begun]);
	const next = cutBy(cut("next"));
	deadlines.add(
		cutBy(() => {
			cut("first")();
			deadlines.add(next);
		}),
	);
	clock.advance(400);
	deadlines.add(cutBy(cut("second")));
	clock.advance(600);
	expect(pending.size).toBe(1);
	clock.advance(5_000);
	expect(cuts).toEqual([
		["first", 1_000],
		["second", 1_400],
		["next", 2_000],
	]);
	expect(pending.size).toBe(0);
});
