import { expect, test } from "vitest";
import { BytePool, ownCopy } from "./byte-pool.ts";

const POOL_BYTES = 8_192;

test("copies keep their bytes, whatever becomes of the original and however many follow", () => {
	const pool = new BytePool();
	const original = new Uint8Array(100);
	const copies = Array.from({ length: 500 }, (_, i) => pool.copy(original.fill(i)));
	expect(copies.every((copy, i) => copy.equals(Buffer.alloc(100, i)))).toBe(true);
	expect(pool.copy(new Uint8Array(0))).toHaveLength(0);
});

test("small copies share memory with each other, but not with anything in Node's pool", () => {
	const pool = new BytePool();
	const copies = Array.from({ length: 100 }, () => pool.copy(new Uint8Array(100)));
	expect(new Set(copies.map(({ buffer }) => buffer)).size).toBe(2);
	for (const { buffer } of copies) {
		expect(buffer.byteLength).toBe(POOL_BYTES);
		expect(buffer).not.toBe(Buffer.allocUnsafe(1).buffer);
	}
});

test.each([
	["a large copy", new BytePool().copy(Buffer.alloc(POOL_BYTES / 4 + 1, 7))],
	["one that is kept for long", ownCopy(Buffer.alloc(9, 7))],
])("%s has memory of its own", (_, copy) => {
	expect(copy.buffer.byteLength).toBe(copy.length);
	expect(copy.equals(Buffer.alloc(copy.length, 7))).toBe(true);
});
