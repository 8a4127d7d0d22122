import { expect, it } from "vitest";
import { initials, isolated, lookSame, typedName } from "./names.ts";

it.each([
	["Anna Berg", "AB"],
	["Anna Maria van den Berg", "AB"],
	["anna", "A"],
	["  Çelik  Özil ", "ÇÖ"],
	["…", "?"],
	["", "?"],
])("takes the initials of %j", (name, letters) => {
	expect(initials(name)).toBe(letters);
});

it("isolates what is written from right to left, and takes that off again when it is typed", () => {
	for (const name of ["محاسبة", "Shop חנות", "\ufb2a", "𐤀", "a\u200f"]) {
		expect(isolated(name)).toBe(`\u2068${name}\u2069`);
		expect(typedName(` ${isolated(name)}\n`)).toBe(name);
	}
	for (const name of ["Anna", "日本語", "🎺"]) expect(isolated(name)).toBe(name);
});

it("takes names that look the same for each other", () => {
	expect(lookSame("Caf\u00e9 Nord 42", " Cafe\u0301  Nord\u00a042 ")).toBe(true);
	expect(lookSame("a\u200bb\u00adc", "abc")).toBe(true);
	expect(lookSame("\u2764 shop", "\u2764\ufe0f shop")).toBe(true);
	for (const other of ["Cafe Nord 42", "Caf\u00e9 Nord", "caf\u00e9 nord 42", ""])
		expect(lookSame("Caf\u00e9 Nord 42", other)).toBe(false);
});
