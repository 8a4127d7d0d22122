import { expect, test } from "vitest";
import { runByHalves } from "./halves.ts";

/** Runs these items, of which some make a call fail. Returns what became of each, and the calls. */
async function run(items: string, isBad: (item: string) => boolean, isPartial = true) {
	const calls: string[] = [];
	const ran = await runByHalves(
		[...items],
		async (part) => {
			calls.push(part.join(""));
			if (part.some(isBad)) throw new Error(part.join(""));
			return part.map((item) => item.toUpperCase());
		},
		() => isPartial,
	);
	const became = ran.map((one) => ("result" in one ? one.result : "-")).join("");
	return { calls, became };
}

test("what runs at once runs together", async () => {
	expect(await run("abcd", () => false)).toEqual({ calls: ["abcd"], became: "ABCD" });
});

test("items that fail by themselves don't keep the others from running", async () => {
	expect(await run("abcdefgh", (item) => item === "f")).toEqual({
		calls: ["abcdefgh", "abcd", "efgh", "ef", "e", "f", "gh"],
		became: "ABCDE-GH",
	});
	expect((await run("abcdefgh", (item) => item === "a")).became).toBe("-BCDEFGH");
	expect((await run("abcdefgh", (item) => "ceh".includes(item))).became).toBe("AB-D-FG-");
});

test("if everything fails, few calls tell", async () => {
	expect(await run("abcdefgh", () => true)).toEqual({
		calls: ["abcdefgh", "abcd", "ab", "a", "b"],
		became: "--------",
	});
	expect(await run("abcdefgh", (item) => item === "f", false)).toEqual({ calls: ["abcdefgh"], became: "--------" });
});
