import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Seal } from "./seal.ts";

test("a sealed value opens only with the same key and context", () => {
	const seal = new Seal([randomBytes(32)]);
	const sealed = seal.seal(Buffer.from("a digest"), "wh_1");
	expect(seal.open(sealed, "wh_1").toString()).toBe("a digest");
	expect(() => seal.open(sealed, "wh_2")).toThrow();
	expect(() => new Seal([randomBytes(32)]).open(sealed, "wh_1")).toThrow();
});

test("detects any changed byte", () => {
	const seal = new Seal([randomBytes(32)]);
	const sealed = seal.seal(Buffer.from("a digest"), "wh_1");
	for (let i = 0; i < sealed.length; i++) {
		const changed = Buffer.from(sealed);
		changed[i]! ^= 1;
		expect(() => seal.open(changed, "wh_1"), `byte ${i}`).toThrow();
	}
});

test("a value is sealed differently each time, and the result contains no trace of it", () => {
	const seal = new Seal([randomBytes(32)]);
	const a = seal.seal(Buffer.from("a digest"), "wh_1");
	expect(a.equals(seal.seal(Buffer.from("a digest"), "wh_1"))).toBe(false);
	expect(a.includes("a digest")).toBe(false);
});

test("with several keys, the first seals, and all open", () => {
	const [first, second] = [randomBytes(32), randomBytes(32)];
	const both = new Seal([first, second]);
	const old = new Seal([second]).seal(Buffer.from("a digest"), "wh_1");
	expect(both.open(old, "wh_1").toString()).toBe("a digest");
	expect(() => both.open(old, "wh_2")).toThrow();
	const again = both.reseal(old, "wh_1")!;
	expect(new Seal([first]).open(again, "wh_1").toString()).toBe("a digest");
	expect(both.reseal(again, "wh_1")).toBeNull();
	expect(() => both.reseal(again, "wh_2")).toThrow();
});

test("rejects a key of the wrong length, and no key", () => {
	expect(() => new Seal([])).toThrow(RangeError);
	expect(() => new Seal([randomBytes(31)])).toThrow(RangeError);
});
