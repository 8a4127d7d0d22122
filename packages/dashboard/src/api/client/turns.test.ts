import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

const signal = new AbortController().signal;

test("runs so many calls at a time, and the others in order, even if one fails", async () => {
	const turns = new Turns(2);
	const begun: number[] = [];
	const calls = [0, 1, 2, 3].map((n) => {
		const { promise, resolve, reject } = Promise.withResolvers<number>();
		const run = async () => {
			begun.push(n);
			return promise;
		};
		return { result: turns.take(run, signal), resolve, reject };
	});
	expect(begun).toEqual([0, 1]);
	calls[1]!.reject(new Error("refused"));
	await expect(calls[1]!.result).rejects.toThrow("refused");
	expect(begun).toEqual([0, 1, 2]);
	for (const n of [0, 2, 3]) calls[n]!.resolve(n);
	expect(await Promise.all([0, 2, 3].map((n) => calls[n]!.result))).toEqual([0, 2, 3]);
	expect(begun).toEqual([0, 1, 2, 3]);
});

test("leaves out a call that was aborted while it waited", async () => {
	const turns = new Turns(1);
	const { promise, resolve } = Promise.withResolvers<string>();
	const first = turns.take(() => promise, signal);
	const abort = new AbortController();
	const second = turns.take(async () => expect.unreachable(), abort.signal);
	const third = turns.take(async () => "third", signal);
	abort.abort(new Error("left"));
	resolve("first");
	await expect(second).rejects.toThrow("left");
	expect(await Promise.all([first, third])).toEqual(["first", "third"]);
});
