import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Seal } from "./seal.ts";

test("a sealed value opens only with the same key and context", () => {
	const seal = new Seal(randomBytes(32));
	const sealed = seal.seal(Buffer.from("a digest"), "wh_1");
	expect(seal.open(sealed, "wh_1").toString()).toBe("a digest");
	expect(() => seal.open(sealed, "wh_2")).toThrow();
	expect(() => new Seal(randomBytes(32)).open(sealed, "wh_1")).toThrow();
});

test("detects any changed byte", () => {
	const seal = new Seal(randomBytes(32));
	const sealed = seal.seal(Buffer.from("a digest"), "wh_1");
	for (let i = 0; i < sealed.length; i++) {
		const changed = Buffer.from(sealed);
		changed[i]! ^= 1;
		expect(() => seal.open(changed, "wh_1"), `byte ${i}`).toThrow();
	}
});

test("a value is sealed differently each time, and the result contains no trace of it", () => {
	const seal = new Seal(randomBytes(32));
	const a = seal.seal(Buffer.from("a digest"), "wh_1");
	expect(a.equals(seal.seal(Buffer.from("a digest"), "wh_1"))).toBe(false);
	expect(a.includes("a digest")).toBe(false);
});

test("rejects a key of the wrong length", () => {
	expect(() => new Seal(randomBytes(31))).toThrow(RangeError);
});
