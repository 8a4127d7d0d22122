import { expect, test } from "vitest";
import { RightOfWay } from "./right-of-way.ts";

/** Work that begins and ends when the test says so. */
function job(begun: string[], name: string) {
	const { promise, resolve, reject } = Promise.withResolvers<string>();
	const work = (): Promise<string> => {
		begun.push(name);
		return promise;
	};
	return { work, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

test("a renewal waits for the settles in flight, and later settles wait for it", async () => {
	const way = new RightOfWay(60_000);
	const begun: string[] = [];
	const [first, failing, renewal, later] = ["first", "failing", "renewal", "later"].map((name) => job(begun, name));
	const done = [way.settle(first!.work), way.settle(failing!.work), way.renew(renewal!.work), way.settle(later!.work)];
	const failed = expect(done[1]).rejects.toThrow("failing");
	await soon();
	expect(begun).toEqual(["first", "failing"]);
	first!.end();
	failing!.fail();
	await failed;
	await soon();
	expect(begun).toEqual(["first", "failing", "renewal"]);
	renewal!.end();
	await soon();
	expect(begun).toEqual(["first", "failing", "renewal", "later"]);
	later!.end();
	expect(await Promise.all([done[0], done[2], done[3]])).toEqual(["first", "renewal", "later"]);
});

test("work that has waited long enough goes ahead", async () => {
	const way = new RightOfWay(1);
	const begun: string[] = [];
	const [hanging, renewal, later] = ["hanging", "renewal", "later"].map((name) => job(begun, name));
	const settled = way.settle(hanging!.work);
	renewal!.end();
	expect(await way.renew(renewal!.work)).toBe("renewal");
	const stuck = job(begun, "stuck");
	const renewed = way.renew(stuck.work);
	later!.end();
	expect(await way.settle(later!.work)).toBe("later");
	hanging!.end();
	stuck.end();
	expect(await Promise.all([settled, renewed])).toEqual(["hanging", "stuck"]);
});
