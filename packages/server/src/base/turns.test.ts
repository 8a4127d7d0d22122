import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("gives one slice a turn, and owners take turns", async () => {
	const loop: (() => void)[] = [];
	const turns = new Turns((run) => loop.push(run));
	const ran: string[] = [];
	const work = async (owner: string, slices: number): Promise<void> => {
		for (let slice = 1; slice <= slices; slice++) {
			await turns.take(owner);
			ran.push(`${owner}${slice}`);
		}
	};
	// The first owner is ahead with two jobs of three slices.
	const all = [work("a", 3), work("a", 3), work("b", 2), work("c", 1)];
	expect(turns.waiting).toBe(4);
	for (let turn = 1; loop.length > 0; turn++) {
		expect(loop).toHaveLength(1);
		loop.shift()!();
		await Promise.resolve();
		await Promise.resolve();
		expect(ran).toHaveLength(turn);
	}
	await Promise.all(all);
	expect(ran.indexOf("b2")).toBeLessThan(6);
	expect(ran.slice(0, 3).map((slice) => slice[0])).toEqual(["a", "b", "c"]);
	expect(turns.waiting).toBe(0);
});
