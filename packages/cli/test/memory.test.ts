import { expect, test } from "vitest";
import { lookForQuiet } from "../src/service/memory.ts";

/** How often memory was collected after each check, if the thread was busy for these shares of the time. */
function collections(shares: readonly number[]): number[] {
	let at = 0;
	let count = 0;
	const collecting = { now: false };
	const look = lookForQuiet({
		utilization() {
			if (!collecting.now) return shares[at]!;
			collecting.now = false;
			return 1;
		},
		collect() {
			count++;
			collecting.now = true;
		},
	});
	return shares.map((_, index) => {
		at = index;
		look();
		return count;
	});
}

test("releases memory once, when the service becomes quiet after being busy", () => {
	expect(collections([0, 0.01, 0.9, 0.5, 0.02, 0.01, 0])).toEqual([0, 0, 0, 0, 1, 1, 1]);
	expect(collections([0.3, 0.1, 0.1, 0.04])).toEqual([0, 0, 0, 1]);
});

test("collects at most twice a minute between successive bursts", () => {
	const bursts = Array.from({ length: 60 }, (_, look) => (look % 2 === 0 ? 0.5 : 0.01));
	expect(collections(bursts).at(-1)).toBe(4);
	expect(collections([0.5, 0, ...bursts.slice(0, 4), ...Array.from({ length: 20 }, () => 0)]).at(-1)).toBe(2);
});

test("doesn't collect after little work, and never interrupts work", () => {
	expect(collections([0.1, 0.01, 0.19, 0])).toEqual([0, 0, 0, 0]);
	expect(collections([0.9, 0.9, 0.06, 0.9])).toEqual([0, 0, 0, 0]);
});
