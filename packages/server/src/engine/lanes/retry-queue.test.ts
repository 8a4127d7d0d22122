import fc from "fast-check";
import { expect, test } from "vitest";
import type { Retry } from "../../storage/port.ts";
import { RetryQueue } from "./retry-queue.ts";

const retry = (seq: number, dueAt: number): Retry => ({
	webhookId: "wh",
	seq,
	queue: "retry",
	replay: 0,
	attempt: 2,
	dueAt,
});
const inOrder = (a: Retry, b: Retry): number => a.dueAt - b.dueAt || a.seq - b.seq;

/** A simple model of the queue in storage. */
class Model {
	readonly rows = new Map<number, Retry>();
	window(limit: number): Retry[] {
		return [...this.rows.values()].sort(inOrder).slice(0, limit);
	}
}

type Step =
	| { readonly kind: "add"; readonly seq: number; readonly dueAt: number }
	| { readonly kind: "take" }
	| { readonly kind: "settle"; readonly again: number | null }
	| { readonly kind: "read" }
	| { readonly kind: "arrive" }
	| { readonly kind: "invalidate" };

const step: fc.Arbitrary<Step> = fc.oneof(
	fc.record({
		kind: fc.constant("add" as const),
		seq: fc.integer({ min: 1, max: 2000 }),
		dueAt: fc.integer({ min: 0, max: 500 }),
	}),
	fc.constant({ kind: "take" as const }),
	fc.record({ kind: fc.constant("settle" as const), again: fc.option(fc.integer({ min: 0, max: 500 })) }),
	fc.constant({ kind: "read" as const }),
	fc.constant({ kind: "arrive" as const }),
	fc.constant({ kind: "invalidate" as const }),
);

test("for any sequence of reads and changes, every waiting attempt comes out once and in order", () => {
	fc.assert(
		fc.property(fc.array(step, { maxLength: 400 }), fc.integer({ min: 0, max: 600 }), (steps, stored) => {
			const model = new Model();
			for (let i = 0; i < stored; i++) model.rows.set(3000 + i, retry(3000 + i, (i * 7) % 500));
			const queue = new RetryQueue();
			const inProgress: Retry[] = [];
			let reading: { rows: Retry[]; limit: number } | null = null;
			const isInFlight = ({ seq }: Pick<Retry, "seq">): boolean => inProgress.some((r) => r.seq === seq);
			const read = (): void => {
				if (reading || !queue.wantsLoad(Number.MAX_SAFE_INTEGER)) return;
				const limit = queue.beginLoad(inProgress.length);
				reading = { limit, rows: model.window(limit) };
			};
			const arrive = (): void => {
				if (!reading) return;
				queue.endLoad(reading.rows, reading.limit, isInFlight);
				reading = null;
			};
			const take = (): Retry | undefined => {
				const taken = queue.shift();
				if (!taken) return undefined;
				expect(model.rows.get(taken.seq)).toEqual(taken);
				expect(isInFlight(taken)).toBe(false);
				inProgress.push(taken);
				return taken;
			};
			for (const s of steps) {
				if (s.kind === "add" && !model.rows.has(s.seq)) {
					model.rows.set(s.seq, retry(s.seq, s.dueAt));
					queue.add(retry(s.seq, s.dueAt));
				} else if (s.kind === "take") {
					take();
				} else if (s.kind === "settle") {
					const ended = inProgress.shift();
					if (!ended) continue;
					queue.forget(ended);
					if (s.again === null) {
						model.rows.delete(ended.seq);
					} else {
						const next = retry(ended.seq, s.again);
						model.rows.set(ended.seq, next);
						queue.add(next);
					}
				} else if (s.kind === "read") {
					read();
				} else if (s.kind === "arrive") {
					arrive();
				} else if (s.kind === "invalidate") {
					queue.invalidate();
				}
			}
			// Finally everything not in flight comes out, in order.
			const rest: Retry[] = [];
			for (let turns = 0; turns < 100; turns++) {
				arrive();
				for (let taken = take(); taken; taken = take()) rest.push(taken);
				read();
			}
			const expected = [...model.rows.values()]
				.filter((r) => !isInFlight(r) || rest.some((x) => x.seq === r.seq))
				.sort(inOrder);
			expect(rest).toEqual(expected);
		}),
		{ numRuns: 300 },
	);
});

test("an attempt read before its commit was confirmed is queued once", () => {
	for (const answeredWhileReading of [false, true]) {
		const queue = new RetryQueue();
		const limit = queue.beginLoad(0);
		if (answeredWhileReading) queue.add(retry(1, 10));
		queue.endLoad([retry(1, 10), retry(2, 20)], limit, () => false);
		if (!answeredWhileReading) queue.add(retry(1, 10));
		expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([retry(1, 10), retry(2, 20), undefined]);
	}
});

test("a million waiting retries keep a few hundred in memory", () => {
	const queue = new RetryQueue();
	queue.endLoad([], queue.beginLoad(0), () => false);
	for (let i = 0; i < 100_000; i++) queue.add(retry(i, 100_000 - i));
	let held = 0;
	while (queue.shift()) held += 1;
	expect(held).toBeGreaterThan(0);
	expect(held).toBeLessThanOrEqual(256);
	expect(queue.wantsLoad(Number.MAX_SAFE_INTEGER)).toBe(true);
});

test("an attempt settled during a read isn't repeated, even if the read saw it waiting", () => {
	const queue = new RetryQueue();
	const limit = queue.beginLoad(0);
	queue.forget(retry(1, 10));
	queue.endLoad([retry(1, 10), retry(2, 20)], limit, () => false);
	expect([queue.shift(), queue.shift()]).toEqual([retry(2, 20), undefined]);
});

test("attempts that others store during a read are read too", () => {
	const queue = new RetryQueue();
	const limit = queue.beginLoad(0);
	queue.invalidate();
	expect(queue.wantsLoad(0)).toBe(false);
	queue.endLoad([], limit, () => false);
	expect(queue.wantsLoad(0)).toBe(true);
	expect(queue.nextDueAt).toBe(Number.NEGATIVE_INFINITY);
});

test("retries a failed read", () => {
	const queue = new RetryQueue();
	queue.beginLoad(0);
	expect(queue.wantsLoad(0)).toBe(false);
	queue.abandonLoad();
	expect(queue.wantsLoad(0)).toBe(true);
});
