import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { LastUses } from "./api-keys.ts";

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

test("writes the latest use of each key once a minute", async () => {
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

test("writes nothing without uses", async () => {
	const { uses, writes } = setUp();
	await uses.close();
	expect(writes).toEqual([]);
});

test("writes early if there are many keys", async () => {
	const { uses, writes } = setUp();
	for (let i = 0; i < 10_000; i++) uses.note(`key_${i}`);
	await uses.close();
	expect(writes).toHaveLength(1);
	expect(writes[0]).toHaveLength(10_000);
});

test("reports a failed write and continues", async () => {
	const { uses, warnings } = setUp(true);
	uses.note("a");
	await uses.close();
	expect(warnings).toHaveLength(1);
});
