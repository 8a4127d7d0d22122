import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { LastUses } from "./last-uses.ts";

function setUp(fail = false) {
	const clock = new VirtualClock(0);
	const writes: [string, number][][] = [];
	const warnings: string[] = [];
	const uses = new LastUses({
		clock,
		storage: {
			async touchApiKeys({ uses }) {
				if (fail) throw new Error("full");
				writes.push([...uses]);
			},
		},
		logger: {
			debug() {},
			info() {},
			warn: (_fields, message) => void warnings.push(message),
			error() {},
			isLevelEnabled: () => true,
		},
	});
	return { clock, uses, writes, warnings };
}

test("a minute's uses are written together, the latest of each key", async () => {
	const { clock, uses, writes } = setUp();
	uses.note("a");
	clock.advance(10_000);
	uses.note("b");
	uses.note("a");
	clock.advance(49_999);
	expect(writes).toEqual([]);
	clock.advance(1);
	await uses.close();
	expect(writes).toEqual([
		[
			["a", 10_000],
			["b", 10_000],
		],
	]);
	expect(uses.of("a")).toBeUndefined();
});

test("nothing is written when nothing was used", async () => {
	const { uses, writes } = setUp();
	await uses.close();
	expect(writes).toEqual([]);
});

test("very many keys are written early", async () => {
	const { uses, writes } = setUp();
	for (let i = 0; i < 10_000; i++) uses.note(`key_${i}`);
	await uses.close();
	expect(writes).toHaveLength(1);
	expect(writes[0]).toHaveLength(10_000);
});

test("a failure to write is told and stops nothing", async () => {
	const { uses, warnings } = setUp(true);
	uses.note("a");
	await uses.close();
	expect(warnings).toHaveLength(1);
});
