import { expect, test } from "vitest";
import { StorageError } from "../storage/port.ts";
import { runByHalves } from "./halves.ts";

/**
 * Runs these items, of which some make a call fail; in lower case, they and the letter in upper case belong to one owner.
 * Returns what became of each, and the calls.
 */
async function run(items: string, isBad: (item: string) => boolean, { isPartial = true, number = 0 } = {}) {
	const calls: string[] = [];
	const ran = await runByHalves([...items], {
		async run(part) {
			calls.push(part.join(""));
			if (part.some(isBad)) throw new StorageError(isPartial ? "unusable" : "lost", part.join(""));
			return part.map((item) => `${item}!`);
		},
		ownerOf: (item) => item.toLowerCase(),
		number,
	});
	const became = [...ran.values()].map((one) => ("result" in one ? one.result : "-")).join("");
	return { calls, became };
}

test("what runs at once runs together", async () => {
	expect(await run("abcd", () => false)).toEqual({ calls: ["abcd"], became: "a!b!c!d!" });
});

test("items that fail by themselves don't keep the others from running", async () => {
	expect(await run("abcdefgh", (item) => item === "f")).toEqual({
		calls: ["abcdefgh", "abcd", "efgh", "ef", "e", "f", "gh"],
		became: "a!b!c!d!e!-g!h!",
	});
	expect((await run("abcdefgh", (item) => item === "a")).became).toBe("-b!c!d!e!f!g!h!");
	expect((await run("abcdefgh", (item) => "ceh".includes(item))).became).toBe("a!b!-d!-f!g!-");
});

// A second item of the same owner once counted as a second owner, so the others were not tried.
test("an owner's items run or fail together, in order", async () => {
	expect(await run("abBAc", (item) => "aA".includes(item))).toEqual({
		calls: ["abBAc", "aAbB", "aA", "bB", "c"],
		became: "-b!B!-c!",
	});
	expect(await run("aA", () => true)).toEqual({ calls: ["aA"], became: "--" });
});

// Two damaged owners in front kept all others from being tried, each time again.
test("damaged owners in front don't keep the others from running", async () => {
	const isBad = (item: string) => "abcdef".includes(item);
	expect((await run("abcg", isBad)).became).toBe("---g!");
	const all = [0, 1, 2].map((number) => run("abcdefgh", isBad, { number }));
	expect((await Promise.all(all)).map(({ became }) => became)).toContain("------g!h!");
});

test("if everything fails, few calls tell", async () => {
	expect(await run("abcdefgh", () => true)).toEqual({
		calls: ["abcdefgh", "abcd", "ab", "a", "b", "cd", "c", "d"],
		became: "--------",
	});
	const notPartial = await run("abcdefgh", (item) => item === "f", { isPartial: false });
	expect(notPartial).toEqual({ calls: ["abcdefgh"], became: "--------" });
});
