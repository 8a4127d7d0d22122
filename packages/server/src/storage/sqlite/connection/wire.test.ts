import { expect, test } from "vitest";
import { memoryOf, pack, transferOf, unpack } from "./wire.ts";

const bytesOf = (length: number, value: number) => new Uint8Array(length).fill(value);

test("packed parts are unpacked as views, including empty parts", () => {
	const parts = [bytesOf(3, 1), bytesOf(0, 2), bytesOf(5, 3)];
	const packed = pack(parts);
	expect(parts.map((_, i) => Uint8Array.from(unpack(packed, i)))).toEqual(parts);
	expect(unpack(packed, 2).buffer).toBe(packed[0].buffer);
	expect(pack([])[0]).toHaveLength(0);
});

test("a batch's memory is what its last member packs; other values have none", () => {
	const packed = pack([bytesOf(9, 1)]);
	expect(memoryOf([["name"], 7, packed])).toBe(packed[0]);
	for (const value of [null, "text", 7, [], ["name"], { packed }, bytesOf(9, 1), [["name"]]])
		expect(memoryOf(value)).toBeNull();
});

test("a large value's memory is transferred, and small values are copied", () => {
	const much = pack([bytesOf(20_000, 1)]);
	const little = pack([bytesOf(2_000, 1)]);
	expect(transferOf(["id", ["ids", much], ["ids", little]])).toEqual([much[0].buffer]);
	const moved = structuredClone(["ids", much, little], {
		transfer: transferOf([
			["ids", much],
			["ids", little],
		]),
	});
	expect(unpack(moved[1] as typeof much, 0)).toHaveLength(20_000);
	expect(much[0]).toHaveLength(0);
	expect(unpack(little, 0)).toHaveLength(2_000);
});
