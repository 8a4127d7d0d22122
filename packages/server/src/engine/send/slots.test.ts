import fc from "fast-check";
import { expect, test } from "vitest";
import type { Clock } from "../../base/clock.ts";
import type { Slot } from "./slot.ts";
import { Slots } from "./slots.ts";

/** A clock that the test moves. */
class ManualClock implements Pick<Clock, "now" | "setTimeout"> {
	#now = 1_800_000_000_000;
	readonly #timers = new Set<{ at: number; fn: () => void }>();

	now(): number {
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

test("fast sends never exceed the limit, and one that ends makes room for the next", () => {
	const slots = new Slots({ clock: new ManualClock(), fastInFlight: 3, totalInFlight: 100 });
	const taken = acquire(slots, "a", 5);
	expect(taken).toHaveLength(3);
	taken[1]!.release();
	expect(slots.tryAcquire("b")).not.toBeNull();
	expect(slots.tryAcquire("b")).toBeNull();
});

// Sends that started together stopped being fast together, and until then a quiet project got only one slot.
test("a project leaves a quarter of the fast sends free for others", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 256, fastForMs: 250, totalInFlight: 10_000 });
	const held = acquire(slots, "many", 300);
	expect(held).toHaveLength(192);
	slots.onFree("many", () => acquire(slots, "many", 300));
	for (let n = 0; n < 100; n++) {
		const slot = slots.tryAcquire("quiet");
		expect(slot).not.toBeNull();
		slot?.release();
	}
	expect(acquire(slots, "second", 300)).toHaveLength(48);
	clock.advance(250);
	expect(slots.inFlight).toBe(192 + 48 + 192);
});

test("hanging sends stop counting as fast, oldest first, so others continue", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 2, fastForMs: 250, totalInFlight: 100 });
	acquire(slots, "hanging", 1);
	clock.advance(100);
	acquire(slots, "hanging", 1);
	clock.advance(149);
	expect(slots.tryAcquire("other")).toBeNull();
	clock.advance(1);
	expect(acquire(slots, "other", 2)).toHaveLength(1);
	expect(slots.inFlight).toBe(3);
});

test("waiters are woken when sends grow old, even if none ends", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 2, fastForMs: 250, totalInFlight: 100 });
	acquire(slots, "hanging", 2);
	const got: (Slot | null)[] = [];
	slots.onFree("other", () => got.push(slots.tryAcquire("other")));
	clock.advance(249);
	expect(got).toEqual([]);
	clock.advance(1);
	expect(got).toHaveLength(1);
	expect(got[0]).not.toBeNull();
});

test("a project holds at most as many as are free, so one gets half and the next half of the rest", () => {
	const slots = new Slots({ clock: new ManualClock(), fastInFlight: 1_000, totalInFlight: 100 });
	expect(acquire(slots, "greedy", 1_000)).toHaveLength(50);
	expect(acquire(slots, "second", 1_000)).toHaveLength(25);
	expect(acquire(slots, "third", 1_000)).toHaveLength(13);
	expect(slots.tryAcquire("fresh")).not.toBeNull();
});

test("every project gets one as long as any is free, and none beyond the bound", () => {
	const slots = new Slots({ clock: new ManualClock(), fastInFlight: 1_000, totalInFlight: 10 });
	const taken = Array.from({ length: 12 }, (_, i) => slots.tryAcquire(`p${i}`));
	expect(taken.filter((slot) => slot !== null)).toHaveLength(10);
	expect(slots.inFlight).toBe(10);
});

test("waiters are called in order, once, and only while there is room", () => {
	const slots = new Slots({ clock: new ManualClock(), fastInFlight: 2, totalInFlight: 100 });
	const [first, second] = acquire(slots, "a", 2);
	const order: string[] = [];
	const waiter = (name: string) => () => {
		order.push(name);
		slots.tryAcquire(name);
	};
	const x = waiter("x");
	slots.onFree("x", x);
	slots.onFree("y", waiter("y"));
	slots.onFree("z", waiter("z"));
	slots.onFree("x", x);
	first!.release();
	expect(order).toEqual(["x"]);
	second!.release();
	expect(order).toEqual(["x", "y"]);
});

test("a lot of room freed at once is shared in rounds among projects that want more", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 6, fastForMs: 250, totalInFlight: 1_000 });
	acquire(slots, "hanging", 6);
	const order: string[] = [];
	const greedy = (name: string) => {
		const wake = () => {
			if (slots.tryAcquire(name) !== null) order.push(name);
			slots.onFree(name, wake);
		};
		return wake;
	};
	slots.onFree("a", greedy("a"));
	slots.onFree("b", greedy("b"));
	clock.advance(250);
	expect(order).toEqual(["a", "b", "a", "b", "a", "b"]);
});

test("a project over its share isn't called until it may hold more, and keeps its turn", () => {
	const slots = new Slots({ clock: new ManualClock(), fastInFlight: 1_000, totalInFlight: 5 });
	const [held] = acquire(slots, "a", 2);
	const others = ["b", "c", "d"].map((project) => slots.tryAcquire(project)!);
	const calls: string[] = [];
	slots.onFree("a", () => calls.push("a"));
	slots.onFree("e", () => calls.push("e"));
	others[0]!.release();
	expect(calls).toEqual(["e"]);
	others[1]!.release();
	// Two of five are free, and it holds two.
	expect(calls).toEqual(["e"]);
	held!.release();
	expect(calls).toEqual(["e", "a"]);
});

test("a project holds no more bytes than are free, and one body may exceed the limit", () => {
	const slots = new Slots({ clock: new ManualClock(), bytesInFlight: 100_000 });
	const used = () => slots.budgets.find(({ name }) => name === "sending_bytes")!.used;
	const take = (project: string) => slots.tryAcquire(project, 10_000);
	for (let n = 0; n < 5; n++) expect(take("greedy")).not.toBeNull();
	expect(take("greedy")).toBeNull();
	expect(slots.tryAcquire("greedy", 1)).toBeNull();
	const large = slots.tryAcquire("other", 200_000)!;
	expect(used()).toBe(250_000);
	expect(take("third")).toBeNull();
	large.holds(10_000);
	expect(take("third")).not.toBeNull();
	expect(used()).toBe(70_000);
});

test("a project that holds nothing sends a small body even when the bytes are used up", () => {
	const slots = new Slots({ clock: new ManualClock(), bytesInFlight: 100_000 });
	slots.tryAcquire("greedy", 100_000);
	expect(slots.tryAcquire("quiet", 4_097)).toBeNull();
	expect(slots.tryAcquire("quiet", 4_096)).not.toBeNull();
	expect(slots.tryAcquire("quiet", 1)).toBeNull();
	expect(slots.tryAcquire("greedy", 1)).toBeNull();
});

test("a body counts as the largest until its size is known; then waiters are called", () => {
	const slots = new Slots({ clock: new ManualClock(), bytesInFlight: 100_000, largestBody: 100_000 });
	const slot = slots.tryAcquire("a")!;
	let calls = 0;
	slots.onFree("b", () => {
		calls += 1;
	});
	expect(slots.tryAcquire("b")).toBeNull();
	slot.holds(10);
	expect(calls).toBe(1);
	expect(slots.tryAcquire("b")).not.toBeNull();
});

test("user requests have their own slots: four per project, however much is in flight", () => {
	const slots = new Slots({
		...{ clock: new ManualClock(), fastInFlight: 3, totalInFlight: 3, bytesInFlight: 10, largestBody: 10 },
		requestedInFlight: 6,
	});
	acquire(slots, "greedy", 3);
	const taken = Array.from({ length: 5 }, () => slots.tryAcquireRequested("a"));
	expect(taken.map((slot) => slot !== null)).toEqual([true, true, true, true, false]);
	expect(slots.tryAcquireRequested("b")).not.toBeNull();
	expect(slots.tryAcquireRequested("c")).not.toBeNull();
	expect(slots.tryAcquireRequested("d")).toBeNull();
	taken[0]!.release();
	taken[0]!.release();
	expect(slots.tryAcquireRequested("d")).not.toBeNull();
	expect(slots.inFlight).toBe(1 + 6);
});

test("projects waiting for a reserved slot are called in order of arrival when any such slot is released", () => {
	const slots = new Slots({ clock: new ManualClock(), totalInFlight: 1, requestedInFlight: 6 });
	acquire(slots, "greedy", 1);
	const [first, ...others] = Array.from({ length: 4 }, () => slots.tryAcquireRequested("a")!);
	const second = slots.tryAcquireRequested("b")!;
	slots.tryAcquireRequested("c");
	const called: string[] = [];
	const waitFor = (project: string): void =>
		slots.onRequestedFree(project, () => called.push(slots.tryAcquireRequested(project) ? project : `no ${project}`));
	// This project holds its maximum, and waits for one of its own, however many others end.
	waitFor("a");
	waitFor("d");
	waitFor("e");
	second.release();
	expect(called).toEqual(["d"]);
	first!.release();
	expect(called).toEqual(["d", "e"]);
	others[0]!.release();
	expect(called).toEqual(["d", "e", "a"]);
});

test("waiters with small bodies are called while the bytes are used up, those with large ones once any are free", () => {
	const slots = new Slots({
		clock: new ManualClock(),
		totalInFlight: 6,
		bytesInFlight: 100_000,
		largestBody: 200_000,
	});
	const large = slots.tryAcquire("greedy", 100_000)!;
	const others = Array.from({ length: 5 }, (_, n) => slots.tryAcquire(`p${n}`, 100)!);
	const called: string[] = [];
	const waitFor = (name: string, project: string, bytes?: number): void =>
		slots.onFree(project, () => called.push(slots.tryAcquire(project, bytes) ? name : `no ${name}`), bytes);
	waitFor("unknown", "quiet 1");
	waitFor("large", "quiet 2", 50_000);
	waitFor("second", "greedy", 100);
	waitFor("small", "quiet 3", 4_096);
	for (const one of others) one.release();
	expect(called).toEqual(["small"]);
	// Both are at the head of the queue, and there is room for one.
	large.holds(99_999);
	expect(called).toEqual(["small", "unknown"]);
	// This uses up all of it, but the greedy project has nothing else in flight.
	large.release();
	expect(called).toEqual(["small", "unknown", "second"]);
});

test("the extra bytes of small bodies never delay a large one", () => {
	const slots = new Slots({ clock: new ManualClock(), bytesInFlight: 100_000 });
	const large = slots.tryAcquire("greedy", 100_000)!;
	for (let n = 0; n < 50; n++) expect(slots.tryAcquire(`small ${n}`, 4_096)).not.toBeNull();
	let called = false;
	slots.onFree(
		"quiet",
		() => {
			called = slots.tryAcquire("quiet", 100_000) !== null;
		},
		100_000,
	);
	large.release();
	expect(called).toBe(true);
});

test("test events find room even if replays have used up the reserved bytes", () => {
	const options = { bytesInFlight: 10_000, requestedBytesInFlight: 10_000, largestBody: 10_000 };
	const slots = new Slots({ clock: new ManualClock(), ...options });
	expect(slots.tryAcquireRequested("a")).not.toBeNull();
	// All other projects' reserved slots are still available.
	expect(slots.tryAcquireRequested("b")).not.toBeNull();
	expect(slots.tryAcquireRequested("c")).toBeNull();
	expect(slots.tryAcquireRequested("c", 4_096)).not.toBeNull();
});

test("a project that keeps asking gets one slot per round, like one that asks once", () => {
	const projects = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 30 });
	fc.assert(
		fc.property(projects, fc.integer({ min: 1, max: 10 }), (names, room) => {
			const slots = new Slots({ clock: new ManualClock(), fastInFlight: room, totalInFlight: 10_000 });
			const held = acquire(slots, "first", room);
			const order: number[] = [];
			for (const name of names) {
				const wake = () => {
					held.push(slots.tryAcquire(`p${name}`)!);
					order.push(name);
					slots.onFree(`p${name}`, wake);
				};
				slots.onFree(`p${name}`, wake);
			}
			while (order.length < names.length * 3) held.shift()!.release();
			for (const [i, name] of order.entries()) expect(name).toBe(names[i % names.length]);
		}),
	);
});

test("an unregistered callback is not called, and releasing twice frees once", () => {
	const slots = new Slots({ clock: new ManualClock(), fastInFlight: 1, totalInFlight: 10 });
	const slot = slots.tryAcquire("a")!;
	let called = 0;
	const callback = () => {
		called++;
	};
	slots.onFree("b", callback);
	slots.forget("b", callback);
	slot.release();
	slot.release();
	expect(called).toBe(0);
	expect([slots.inFlight, slots.fast]).toEqual([0, 0]);
});

test("no timer runs without waiters", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 1, totalInFlight: 10 });
	slots.tryAcquire("a");
	slots.tryAcquire("a");
	expect(clock.timers).toBe(0);
	slots.onFree("b", () => undefined);
	expect(clock.timers).toBe(1);
});

test("for any sequence of operations, limits hold, counts are correct, and everything is free in the end", () => {
	const step = fc.oneof(
		fc.record({ take: fc.integer({ min: 0, max: 4 }), bytes: fc.integer({ min: 0, max: 9_000 }) }),
		fc.record({ take: fc.integer({ min: 0, max: 4 }), bytes: fc.integer({ min: 0, max: 9_000 }) }),
		fc.record({ request: fc.integer({ min: 0, max: 4 }) }),
		fc.record({ resize: fc.nat(), bytes: fc.integer({ min: 0, max: 9_000 }) }),
		fc.record({ give: fc.nat() }),
		fc.record({ wait: fc.integer({ min: 0, max: 300 }) }),
	);
	const reached = { sends: 0, fast: 0, bytes: 0, requested: 0 };
	fc.assert(
		fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
			const clock = new ManualClock();
			const bounds = { fastInFlight: 8, fastForMs: 250, totalInFlight: 20, bytesInFlight: 90_000, largestBody: 9_000 };
			const slots = new Slots({ clock, ...bounds, requestedInFlight: 6 });
			const budget = (name: string) => slots.budgets.find((each) => each.name === name)!;
			const held: { slot: Slot; project: number; bytes: number; at: number; kind: "shared" | "small" | "requested" }[] =
				[];
			const ofKind = (kind: string) => held.filter((each) => each.kind === kind);
			const of = (project: number) => held.filter((each) => each.project === project && each.kind !== "requested");
			const sum = (some: typeof held) => some.reduce((total, { bytes }) => total + bytes, 0);
			for (const step of steps) {
				if ("take" in step) {
					const mine = of(step.take);
					const free = 20 - held.length + ofKind("requested").length;
					const freeBytes = 90_000 - sum(ofKind("shared"));
					const fastOf = mine.filter(({ at }) => clock.now() - at < 250).length;
					const slot = slots.tryAcquire(`p${step.take}`, step.bytes);
					const fits = sum(mine.filter(({ kind }) => kind === "shared")) < freeBytes;
					const small = mine.length === 0 && step.bytes <= 4_096;
					const isFast = fastOf < 3 * (8 - (slot === null ? slots.fast : slots.fast - 1));
					if (!isFast) reached.fast += 1;
					expect(slot !== null).toBe(isFast && mine.length < free && (fits || small));
					const kind = fits ? "shared" : "small";
					if (slot !== null) held.push({ slot, project: step.take, bytes: step.bytes, at: clock.now(), kind });
				} else if ("request" in step) {
					const slot = slots.tryAcquireRequested(`p${step.request}`);
					const kind = "requested";
					if (slot !== null) held.push({ slot, project: step.request, bytes: 9_000, at: clock.now(), kind });
				} else if ("resize" in step) {
					const one = held[step.resize % Math.max(1, held.length)];
					one?.slot.holds(step.bytes);
					if (one) one.bytes = step.bytes;
					if (one?.kind === "small" && step.bytes > 4_096) one.kind = "shared";
				} else if ("give" in step) {
					if (held.length > 0) held.splice(step.give % held.length, 1)[0]!.slot.release();
				} else clock.advance(step.wait);
				const requested = ofKind("requested").length;
				expect(slots.inFlight).toBe(held.length);
				expect(budget("sends").used).toBe(held.length - requested);
				expect(budget("sends").used).toBeLessThanOrEqual(20);
				expect(budget("requested_sends").used).toBe(requested);
				expect(budget("sending_bytes").used).toBe(sum(ofKind("shared")));
				expect(budget("small_sending_bytes").used).toBe(sum(ofKind("small")));
				expect(budget("requested_sending_bytes").used).toBe(sum(ofKind("requested")));
				expect(held.filter(({ at }) => clock.now() - at < 250).length).toBeLessThanOrEqual(slots.fast);
				reached.sends = Math.max(reached.sends, held.length - requested);
				reached.bytes = Math.max(reached.bytes, sum(held));
				reached.requested = Math.max(reached.requested, requested);
			}
			for (const { slot } of held) slot.release();
			expect([slots.inFlight, slots.fast, ...slots.budgets.map(({ used }) => used)]).toEqual([0, 0, 0, 0, 0, 0, 0]);
		}),
		{ numRuns: 60 },
	);
	// Otherwise the limits weren't tested.
	expect(reached.requested).toBe(6);
	expect(reached.fast).toBeGreaterThan(0);
	expect(reached.bytes).toBeGreaterThan(80_000);
	expect(reached.sends).toBeGreaterThanOrEqual(15);
});

test("each of several waiters for a send to become slow is called, even if none waits again", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 1, fastForMs: 100 });
	const called: string[] = [];
	const take = (project: string): void => {
		called.push(project);
		expect(slots.tryAcquire(project)).not.toBeNull();
	};
	take("a");
	for (const project of ["b", "c", "d"]) slots.onFree(project, () => take(project));
	for (let n = 0; n < 3; n++) clock.advance(100);
	expect(called).toEqual(["a", "b", "c", "d"]);
});

test("setting the clock back doesn't keep sends in flight fast for longer", () => {
	const clock = new ManualClock();
	const slots = new Slots({ clock, fastInFlight: 1, fastForMs: 100 });
	expect(slots.tryAcquire("a")).not.toBeNull();
	expect(slots.tryAcquire("b")).toBeNull();
	clock.advance(-3_600_000);
	expect(slots.tryAcquire("b")).not.toBeNull();
});
