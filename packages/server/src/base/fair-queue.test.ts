import { expect, test } from "vitest";
import { FairQueue } from "./turns.ts";

test("runs few at a time, owners in turn, and refuses work beyond the waiting limit", async () => {
	const queue = new FairQueue({ perOwner: 2, running: 3, waiting: 4 });
	const running: { name: string; end: () => void }[] = [];
	const order: string[] = [];
	const start = (name: string) =>
		queue.run(name, () => {
			order.push(name);
			return new Promise<void>((end) => running.push({ name, end }));
		});
	const all = Array.from({ length: 7 }, () => start("a"));
	expect(all.filter((each) => each === null)).toHaveLength(1);
	all.push(start("b"), start("b"), start("c"));
	expect(order).toEqual(["a", "a", "b"]);
	let most = 0;
	while (running.length > 0) {
		most = Math.max(most, running.length);
		expect(running.filter(({ name }) => name === "a").length).toBeLessThanOrEqual(2);
		running.shift()!.end();
		await new Promise(setImmediate);
	}
	await Promise.all(all);
	expect(most).toBe(3);
	expect(order).toHaveLength(9);
	// Neither waits for all six of the first.
	expect(order.lastIndexOf("b")).toBeLessThan(6);
	expect(order.indexOf("c")).toBeLessThan(6);
});

test("continues after failed work", async () => {
	const queue = new FairQueue({ perOwner: 1, running: 1, waiting: 1 });
	const failed = queue.run("a", () => Promise.reject(new Error("no")));
	const after = queue.run("a", () => Promise.resolve("yes"));
	await expect(failed).rejects.toThrow("no");
	expect(await after).toBe("yes");
});
