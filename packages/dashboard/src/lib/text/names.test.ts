import { expect, it } from "vitest";
import { initials, isolated, typedName } from "./names.ts";

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
