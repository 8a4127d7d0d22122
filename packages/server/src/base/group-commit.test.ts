import { expect, test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

/** Commits that end when the test says so. */
function harness(maxWeight = 10) {
	const batches: number[][] = [];
	const ends: (() => void)[] = [];
	let begun: (() => void) | null = null;
	const group = new GroupCommit<number>({
		commit: (batch) => {
			batches.push(batch);
			begun?.();
			return new Promise((resolve) => ends.push(resolve));
		},
		weigh: (item) => item,
		maxWeight,
		gatherMaxMs: 5,
	});
	return {
		batches,
		group,
		end: () => ends.shift()!(),
		nextCommit: () => new Promise<void>((resolve) => (begun = resolve)),
	};
}

test("idle, an item is committed at once; what comes meanwhile shares the next commit", async () => {
	const { batches, group, end, nextCommit } = harness();
	group.add(1);
	expect(batches).toEqual([[1]]);
	group.add(2);
	group.add(3);
	expect(batches).toEqual([[1]]);
	expect(group.waitingWeight).toBe(5);
	const second = nextCommit();
	end();
	await second;
	expect(batches).toEqual([[1], [2, 3]]);
});

test("a batch closes at its weight, keeps the order, and a heavier item goes alone", async () => {
	const { batches, group, end, nextCommit } = harness();
	for (const item of [1, 6, 3, 20, 2]) group.add(item);
	for (let i = 0; i < 3; i++) {
		const next = nextCommit();
		end();
		await next;
	}
	expect(batches).toEqual([[1], [6, 3], [20], [2]]);
});

test("draining waits for all that was added, and hurries what still gathers", async () => {
	const { batches, group, end, nextCommit } = harness(100);
	group.add(1);
	group.add(2);
	group.add(3);
	const second = nextCommit();
	end();
	await second;
	end();
	await Promise.resolve();
	group.add(4);
	const drained = group.drain();
	await nextOrNow(batches, 3, nextCommit);
	end();
	await drained;
	expect(batches.flat()).toEqual([1, 2, 3, 4]);
});

async function nextOrNow(batches: readonly unknown[], count: number, next: () => Promise<void>): Promise<void> {
	if (batches.length < count) await next();
}
