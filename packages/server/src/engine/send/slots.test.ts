import fc from "fast-check";
import { expect, test } from "vitest";
import type { Clock } from "../../base/clock.ts";
import { createSlots, type Slot, type Slots } from "./slots.ts";

/** A clock whose hands are moved by the test. */
class ManualClock implements Clock {
	#now = 1_800_000_000_000;
	readonly #timers = new Set<{ at: number; fn: () => void }>();

	now(): number {
		return this.#now;
	}

	elapsed(): number {
		return this.#now;
	}

	setTimeout(fn: () => void, ms: number) {
		const timer = { at: this.#now + ms, fn };
		this.#timers.add(timer);
		return { cancel: () => void this.#timers.delete(timer) };
	}

	get timers(): number {
		return this.#timers.size;
	}

	advance(ms: number): void {
		const until = this.#now + ms;
		for (;;) {
			const due = [...this.#timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
			if (due === undefined) break;
			this.#timers.delete(due);
			this.#now = Math.max(this.#now, due.at);
			due.fn();
		}
		this.#now = until;
	}
}

function acquire(slots: Slots, project: string, count: number): Slot[] {
	const taken: Slot[] = [];
	for (let i = 0; i < count; i++) {
		const slot = slots.tryAcquire(project);
		if (slot === null) break;
		taken.push(slot);
	}
	return taken;
}

test("no more sends are fast at once than the bound, and one that ends makes room for the next", () => {
	const slots = createSlots({ clock: new ManualClock(), fastInFlight: 3, totalInFlight: 100 });
	const taken = acquire(slots, "a", 5);
	expect(taken).toHaveLength(3);
	taken[1]!.release();
	expect(slots.tryAcquire("b")).not.toBeNull();
	expect(slots.tryAcquire("b")).toBeNull();
});

test("sends that hang stop counting as fast, the oldest first, and others go on", () => {
	const clock = new ManualClock();
	const slots = createSlots({ clock, fastInFlight: 2, fastForMs: 250, totalInFlight: 100 });
	acquire(slots, "hanging", 1);
	clock.advance(100);
	acquire(slots, "hanging", 1);
	clock.advance(149);
	expect(slots.tryAcquire("other")).toBeNull();
	clock.advance(1);
	expect(acquire(slots, "other", 2)).toHaveLength(1);
	expect(slots.inFlight).toBe(3);
});

test("whoever waits is woken when sends have become old, though none of them ends", () => {
	const clock = new ManualClock();
	const slots = createSlots({ clock, fastInFlight: 2, fastForMs: 250, totalInFlight: 100 });
	acquire(slots, "hanging", 2);
	const got: (Slot | null)[] = [];
	slots.onFree(() => got.push(slots.tryAcquire("other")));
	clock.advance(249);
	expect(got).toEqual([]);
	clock.advance(1);
	expect(got).toHaveLength(1);
	expect(got[0]).not.toBeNull();
});

test("a project holds at most as many as are left free, so one alone gets half and the next half of the rest", () => {
	const slots = createSlots({ clock: new ManualClock(), fastInFlight: 1_000, totalInFlight: 100 });
	expect(acquire(slots, "greedy", 1_000)).toHaveLength(50);
	expect(acquire(slots, "second", 1_000)).toHaveLength(25);
	expect(acquire(slots, "third", 1_000)).toHaveLength(13);
	expect(slots.tryAcquire("fresh")).not.toBeNull();
});

test("every project gets one as long as any is free, and none beyond the bound", () => {
	const slots = createSlots({ clock: new ManualClock(), fastInFlight: 1_000, totalInFlight: 10 });
	const taken = Array.from({ length: 12 }, (_, i) => slots.tryAcquire(`p${i}`));
	expect(taken.filter((slot) => slot !== null)).toHaveLength(10);
	expect(slots.inFlight).toBe(10);
});

test("those who wait are called in turn, once, and only while there is room", () => {
	const slots = createSlots({ clock: new ManualClock(), fastInFlight: 2, totalInFlight: 100 });
	const [first, second] = acquire(slots, "a", 2);
	const order: string[] = [];
	const waiter = (name: string) => () => {
		order.push(name);
		slots.tryAcquire(name);
	};
	const x = waiter("x");
	slots.onFree(x);
	slots.onFree(waiter("y"));
	slots.onFree(waiter("z"));
	slots.onFree(x);
	first!.release();
	expect(order).toEqual(["x"]);
	second!.release();
	expect(order).toEqual(["x", "y"]);
});

test("much room at once is shared in rounds among those who want more", () => {
	const clock = new ManualClock();
	const slots = createSlots({ clock, fastInFlight: 6, fastForMs: 250, totalInFlight: 1_000 });
	acquire(slots, "hanging", 6);
	const order: string[] = [];
	const greedy = (name: string) => {
		const wake = () => {
			if (slots.tryAcquire(name) !== null) order.push(name);
			slots.onFree(wake);
		};
		return wake;
	};
	slots.onFree(greedy("a"));
	slots.onFree(greedy("b"));
	clock.advance(250);
	expect(order).toEqual(["a", "b", "a", "b", "a", "b"]);
});

test("a waiter over its project's share steps aside for the others and is called again later", () => {
	const slots = createSlots({ clock: new ManualClock(), fastInFlight: 1_000, totalInFlight: 4 });
	const held = acquire(slots, "a", 2);
	const b = slots.tryAcquire("b")!;
	const other = slots.tryAcquire("c")!;
	const calls: string[] = [];
	slots.onFree(() => {
		calls.push("a");
		if (slots.tryAcquire("a") === null) slots.onFree(() => calls.push("a again"));
	});
	slots.onFree(() => {
		calls.push("d");
		slots.tryAcquire("d");
	});
	other.release();
	expect(calls).toEqual(["a", "d"]);
	b.release();
	expect(calls).toEqual(["a", "d", "a again"]);
	expect(held).toHaveLength(2);
});

test("a callback taken back is not called, and releasing twice frees once", () => {
	const slots = createSlots({ clock: new ManualClock(), fastInFlight: 1, totalInFlight: 10 });
	const slot = slots.tryAcquire("a")!;
	let called = 0;
	const callback = () => {
		called++;
	};
	slots.onFree(callback);
	slots.forget(callback);
	slot.release();
	slot.release();
	expect(called).toBe(0);
	expect([slots.inFlight, slots.fast]).toEqual([0, 0]);
});

test("no timer runs while nobody waits", () => {
	const clock = new ManualClock();
	const slots = createSlots({ clock, fastInFlight: 1, totalInFlight: 10 });
	slots.tryAcquire("a");
	slots.tryAcquire("a");
	expect(clock.timers).toBe(0);
	slots.onFree(() => undefined);
	expect(clock.timers).toBe(1);
});

test("whatever is taken, kept and given back: no bound is passed, counts are true, and all is free in the end", () => {
	const step = fc.oneof(
		fc.record({ take: fc.integer({ min: 0, max: 4 }) }),
		fc.record({ give: fc.nat() }),
		fc.record({ wait: fc.integer({ min: 0, max: 300 }) }),
	);
	fc.assert(
		fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
			const clock = new ManualClock();
			const slots = createSlots({ clock, fastInFlight: 5, fastForMs: 250, totalInFlight: 20 });
			const held: { slot: Slot; at: number }[] = [];
			for (const step of steps) {
				if ("take" in step) {
					const slot = slots.tryAcquire(`p${step.take}`);
					if (slot !== null) held.push({ slot, at: clock.now() });
				} else if ("give" in step) {
					if (held.length > 0) held.splice(step.give % held.length, 1)[0]!.slot.release();
				} else clock.advance(step.wait);
				expect(slots.inFlight).toBe(held.length);
				expect(slots.inFlight).toBeLessThanOrEqual(20);
				expect(held.filter(({ at }) => clock.now() - at < 250).length).toBeLessThanOrEqual(slots.fast);
				expect(slots.fast).toBeLessThanOrEqual(5);
			}
			for (const { slot } of held) slot.release();
			expect([slots.inFlight, slots.fast]).toEqual([0, 0]);
		}),
	);
});
