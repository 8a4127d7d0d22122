import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { describe, expect, test } from "vitest";
import { repeat, within } from "./clock.ts";

/** Promises that have settled are handled. */
const handled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("repeat", () => {
	test("calls again after as long as each call resolved with, counted from its end", async () => {
		const clock = new VirtualClock();
		const calls: number[] = [];
		const begun = clock.elapsed();
		const rests = [30, 10, 20];
		repeat(clock, 5, async () => {
			calls.push(clock.elapsed() - begun);
			return rests.shift() ?? 1_000;
		});
		for (let call = 0; call < 4; call++) {
			clock.advanceTo(clock.nextAt!);
			await handled();
		}
		expect(calls).toEqual([5, 35, 45, 65]);
	});

	test("stops while it waits, and leaves no timer", async () => {
		const clock = new VirtualClock();
		let calls = 0;
		const repetition = repeat(clock, 5, async () => ++calls);
		await repetition.stop();
		expect(clock.nextAt).toBeNull();
		clock.advance(1_000);
		expect(calls).toBe(0);
	});

	test("stops once the current call has ended, and leaves no timer", async () => {
		const clock = new VirtualClock();
		const call = Promise.withResolvers<number>();
		const repetition = repeat(clock, 5, () => call.promise);
		clock.advance(5);
		let isStopped = false;
		const stopping = repetition.stop().then(() => {
			isStopped = true;
		});
		await handled();
		expect(isStopped).toBe(false);
		call.resolve(10);
		await stopping;
		expect(clock.nextAt).toBeNull();
	});
});

describe("within", () => {
	test("settles as the promise does if that is in time, and leaves no timer", async () => {
		const clock = new VirtualClock();
		expect(await within(clock, 5, Promise.resolve("in time"))).toBe("in time");
		await expect(within(clock, 5, Promise.reject(new Error("refused")))).rejects.toThrow("refused");
		await handled();
		expect(clock.nextAt).toBeNull();
	});

	test("resolves with null after that time, whatever the promise does later", async () => {
		const clock = new VirtualClock();
		const late = Promise.withResolvers<string>();
		const result = within(clock, 5, late.promise);
		clock.advance(5);
		expect(await result).toBeNull();
		late.reject(new Error("too late"));
		await handled();
	});
});
