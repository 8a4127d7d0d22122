import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Seal } from "./seal.ts";

test("what is sealed opens with the same key and context, and with no other", () => {
	const seal = new Seal(randomBytes(32));
	const sealed = seal.seal(Buffer.from("a digest"), "wh_1");
	expect(seal.open(sealed, "wh_1").toString()).toBe("a digest");
	expect(() => seal.open(sealed, "wh_2")).toThrow();
	expect(() => new Seal(randomBytes(32)).open(sealed, "wh_1")).toThrow();
});

test("any changed byte is noticed", () => {
	const seal = new Seal(randomBytes(32));
	const sealed = seal.seal(Buffer.from("a digest"), "wh_1");
	for (let i = 0; i < sealed.length; i++) {
		const changed = Buffer.from(sealed);
		changed[i]! ^= 1;
		expect(() => seal.open(changed, "wh_1"), `byte ${i}`).toThrow();
	}
});

test("the same value is sealed differently each time, and holds no trace of it", () => {
	const seal = new Seal(randomBytes(32));
	const a = seal.seal(Buffer.from("a digest"), "wh_1");
	expect(a.equals(seal.seal(Buffer.from("a digest"), "wh_1"))).toBe(false);
	expect(a.includes("a digest")).toBe(false);
});

test("a key of the wrong length is refused", () => {
	expect(() => new Seal(randomBytes(31))).toThrow(RangeError);
});
