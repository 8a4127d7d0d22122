import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { type Logger, silentLogger } from "../base/logger.ts";
import { StorageError } from "../storage/port.ts";
import { Baskets, BasketTimer } from "./baskets.ts";
import type { FactRecorder } from "./recorder.ts";

const IDLE_MS = 1_000;

/** Resolves when only timers are left to wait for. */
const rest = () => new Promise((resolve) => setImmediate(resolve));

const engine = { appended: () => undefined, recheck: () => undefined };

test("a touch during the timer's lookup of the next due basket isn't missed", async () => {
	const clock = new VirtualClock();
	let answer = (_at: number | null): void => {};
	const storage = {
		takeDueBaskets: async () => [],
		nextBasketDue: () => new Promise<number | null>((resolve) => (answer = resolve)),
	};
	const recorder = { storage, now: () => clock.now() } as unknown as FactRecorder;
	const timer = new BasketTimer({ recorder, engine, clock, logger: silentLogger });
	timer.start();
	clock.advance(0);
	await rest();
	timer.due(clock.now() + IDLE_MS);
	// Storage's state before the touch: nothing is pending.
	answer(null);
	await rest();
	expect(clock.nextAt).toBe(clock.elapsed() + IDLE_MS);
	await timer.stop();
});

test("a failed touch that storage may have recorded wakes the timer in time", async () => {
	const touched: number[] = [];
	const recorder = {
		storage: { touchBasket: () => Promise.reject(new StorageError("lost", "The connection broke.")) },
		now: () => 1_000,
		dataOf: () => "{}",
		admit: (_project: string, _bytes: number, work: () => Promise<unknown>) => work(),
	} as unknown as FactRecorder;
	const baskets = new Baskets(recorder, { idleMs: IDLE_MS, onTouched: (dueAt) => touched.push(dueAt) });
	await expect(baskets.touch("proj_x", "b", { items: [{ name: "Crate key", quantity: 1 }] })).rejects.toThrow("broke");
	expect(touched).toEqual([1_000 + IDLE_MS]);
});

// A project with a locked row and many baskets once delayed those of all others, pass after pass.
test("baskets of a project with locked rows delay no others, and are tried once per pass", async () => {
	const clock = new VirtualClock();
	const abandoned: string[] = [];
	const freed = Promise.withResolvers<void>();
	const due = [...Array(200).fill("held"), "free"].map((projectId, i) => ({
		...{ projectId, basketId: `b${i}`, touchedAt: 0, data: "{}" },
	}));
	const storage = {
		takeDueBaskets: async ({ limit }: { readonly limit: number }) => due.splice(0, limit),
		nextBasketDue: async () => null,
		async abandonBaskets({ projectId }: { readonly projectId: string }) {
			abandoned.push(projectId);
			if (projectId === "free") freed.resolve();
			if (projectId === "held") throw new StorageError("locked", "A row is locked.");
			return [];
		},
	};
	const recorder = { storage, now: () => clock.now(), candidate: () => ({}) } as unknown as FactRecorder;
	const timer = new BasketTimer({ recorder, engine, clock, logger: silentLogger });
	timer.start();
	clock.advance(0);
	await freed.promise;
	await timer.stop();
	expect(abandoned).toEqual(["held", "free"]);
});

// Each of them was tried separately, every five seconds, and each logged a line.
test("if storage refuses every event, a few tries and one line per pass tell, and untried baskets come first", async () => {
	const clock = new VirtualClock();
	const waiting = Array.from({ length: 1_000 }, (_, i) => ({ basketId: `b${i}`, dueAt: 0 }));
	const claimed = new Set<string>();
	let isRefusing = true;
	let calls = 0;
	const storage = {
		async takeDueBaskets({
			now,
			until,
			limit,
		}: {
			readonly now: number;
			readonly until: number;
			readonly limit: number;
		}) {
			const due = waiting.filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt);
			return due.slice(0, limit).map((basket) => {
				basket.dueAt = until;
				claimed.add(basket.basketId);
				return { projectId: "p", basketId: basket.basketId, touchedAt: 0, data: "{}" };
			});
		},
		nextBasketDue: async () => null,
		async abandonBaskets() {
			calls++;
			if (isRefusing) throw new StorageError("unusable", "permission denied for table events");
			return [];
		},
	};
	const recorder = { storage, now: () => clock.now(), candidate: () => ({}) } as unknown as FactRecorder;
	const lines: unknown[][] = [];
	const logger = { error: (...line: unknown[]) => lines.push(line) } as unknown as Logger;
	const timer = new BasketTimer({ recorder, engine, clock, logger });
	timer.start();
	clock.advance(0);
	await rest();
	const about = { projectId: "p", basketId: "b0", waiting: 256, retryInMs: 5_000, err: expect.any(StorageError) };
	expect(lines).toEqual([[about, "failed to abandon baskets; others continue"]]);
	// Four batches, each tried together and then four of its baskets separately.
	expect(calls).toBe(4 * (1 + 4));
	clock.advance(5_000);
	await rest();
	expect(lines).toHaveLength(2);
	expect(claimed.size).toBe(512);
	isRefusing = false;
	clock.advance(5_000);
	await rest();
	expect(claimed.size).toBe(1_000);
	expect(lines).toHaveLength(2);
	await timer.stop();
});

test("a touch doesn't delay baskets due before it", async () => {
	const clock = new VirtualClock();
	let looks = 0;
	const storage = {
		takeDueBaskets: async () => {
			looks += 1;
			return [];
		},
		nextBasketDue: async () => clock.now() + IDLE_MS,
	};
	const recorder = { storage, now: () => clock.now() } as unknown as FactRecorder;
	const timer = new BasketTimer({ recorder, engine, clock, logger: silentLogger });
	timer.start();
	clock.advance(0);
	await rest();
	timer.due(clock.now() + 10 * IDLE_MS);
	clock.advance(IDLE_MS);
	expect(looks).toBe(2);
	await timer.stop();
});

test("baskets of a project are abandoned in the order in which they were touched", async () => {
	const clock = new VirtualClock();
	const abandoned = Promise.withResolvers<string[]>();
	const due = [3, 1, 2].map((touchedAt) => ({ projectId: "p", basketId: `b${touchedAt}`, touchedAt, data: "{}" }));
	const storage = {
		takeDueBaskets: async () => due.splice(0),
		nextBasketDue: async () => null,
		async abandonBaskets({ baskets }: { readonly baskets: readonly { readonly basketId: string }[] }) {
			abandoned.resolve(baskets.map(({ basketId }) => basketId));
			return [];
		},
	};
	const recorder = { storage, now: () => clock.now(), candidate: () => ({}) } as unknown as FactRecorder;
	const timer = new BasketTimer({ recorder, engine, clock, logger: silentLogger });
	timer.start();
	clock.advance(0);
	expect(await abandoned.promise).toEqual(["b1", "b2", "b3"]);
	await timer.stop();
});

test("after a storage failure, events that may have been appended are looked up in the log", async () => {
	const clock = new VirtualClock();
	const rechecked = Promise.withResolvers<string>();
	const storage = {
		takeDueBaskets: async () => [{ projectId: "p", basketId: "b", touchedAt: 1, data: "{}" }],
		nextBasketDue: async () => null,
		async abandonBaskets() {
			throw new StorageError("lost", "The database went away before it answered.");
		},
	};
	const recorder = { storage, now: () => clock.now(), candidate: () => ({}) } as unknown as FactRecorder;
	const timer = new BasketTimer({
		...{ recorder, clock, logger: silentLogger },
		engine: { ...engine, recheck: rechecked.resolve },
	});
	timer.start();
	clock.advance(0);
	expect(await rechecked.promise).toBe("p");
	await timer.stop();
});

test("a timer that stops takes no baskets of projects that storage refused", async () => {
	const clock = new VirtualClock();
	const takes: ((baskets: object[]) => void)[] = [];
	const storage = {
		takeDueBaskets: () => new Promise<object[]>((resolve) => takes.push(resolve)),
		nextBasketDue: async () => clock.now(),
		abandonBaskets: () => Promise.reject(new StorageError("unusable", "permission denied for table events")),
	};
	const recorder = { storage, now: () => clock.now(), candidate: () => ({}) } as unknown as FactRecorder;
	const timer = new BasketTimer({ recorder, engine, clock, logger: silentLogger });
	timer.start();
	clock.advance(0);
	await rest();
	takes.pop()!([{ projectId: "p", basketId: "b", touchedAt: 0, data: "{}" }]);
	await rest();
	takes.pop()!([]);
	await rest();
	clock.advance(0);
	await rest();
	const stopped = timer.stop();
	takes.pop()!([]);
	await rest();
	expect(takes).toEqual([]);
	await stopped;
});
