import { expect, it } from "vitest";
import { initials } from "./names.ts";

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
