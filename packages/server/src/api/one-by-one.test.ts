import { expect, test } from "vitest";
import { OneByOne } from "./one-by-one.ts";

test("requests of one owner have their turn one after the other, and those of others at once", async () => {
	const turns = new OneByOne();
	const entered: string[] = [];
	const [a1, a2, a3, b1] = ["a1", "a2", "a3", "b1"].map((name) => ({ name }));
	const enter = (request: { name: string }, owner: string): void => {
		void turns.enter(request, owner).then(() => entered.push(request.name));
	};
	enter(a1!, "a");
	enter(a2!, "a");
	enter(a3!, "a");
	enter(b1!, "b");
	const soon = () => new Promise((resolve) => setImmediate(resolve));
	await soon();
	expect(entered).toEqual(["a1", "b1"]);
	// The client of one that waits has gone: it goes on, and nobody waits for it.
	turns.leave(a2!);
	await soon();
	expect(entered).toEqual(["a1", "b1", "a2"]);
	turns.leave(a1!);
	turns.leave(a1!);
	await soon();
	expect(entered).toEqual(["a1", "b1", "a2", "a3"]);
	turns.leave(a3!);
	turns.leave({ name: "never entered" });
	enter(a2!, "a");
	await soon();
	expect(entered.at(-1)).toBe("a2");
});
