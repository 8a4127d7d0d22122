import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

/** An event loop: callbacks that are due run in one turn, those that become due meanwhile in the next. */
function eventLoop() {
	let due: (() => void)[] = [];
	const later = (run: () => void): void => void due.push(run);
	const turn = async (): Promise<void> => {
		const running = due;
		due = [];
		for (const run of running) {
			run();
			await new Promise((resolve) => process.nextTick(resolve));
		}
	};
	return { later, turn, isIdle: () => due.length === 0 };
}

const TURN_MS = 5;

/** Runs slices of `sliceMs` each. Returns their owners, by the turn of the loop in which they ran. */
async function run(sliceMs: number, jobs: readonly (readonly [owner: string, slices: number])[]): Promise<string[][]> {
	const loop = eventLoop();
	let now = 0;
	const turns = new Turns(TURN_MS, { elapsed: () => now, setImmediate: loop.later });
	let ran: string[] = [];
	const work = async ([owner, slices]: readonly [string, number]): Promise<void> => {
		for (let slice = 1; slice <= slices; slice++) {
			await turns.take(owner);
			now += sliceMs;
			ran.push(`${owner}${slice}`);
		}
	};
	const all = Promise.all(jobs.map(work));
	expect(ran).toEqual([]);
	const seen: string[][] = [];
	while (!loop.isIdle()) {
		ran = [];
		await loop.turn();
		seen.push(ran);
	}
	await all;
	return seen.filter((slices) => slices.length > 0);
}

const ALL = [
	["a", 3],
	["a", 3],
	["b", 2],
	["c", 1],
] as const;

test("runs one long slice in a turn, and owners take turns", async () => {
	const seen = await run(TURN_MS, ALL);
	expect(seen.map((slices) => slices.length)).toEqual(Array(9).fill(1));
	const order = seen.flat();
	expect(order.slice(0, 3).map((slice) => slice[0])).toEqual(["a", "b", "c"]);
	expect(order.indexOf("b2")).toBeLessThan(6);
});

test("runs short slices in one turn until its time is used up", async () => {
	const seen = await run(2, ALL);
	// The third slice starts at 4 ms and ends at 6.
	expect(seen.map((slices) => slices.length)).toEqual([3, 3, 3]);
	expect(seen[0]!.map((slice) => slice[0])).toEqual(["a", "b", "c"]);
});
