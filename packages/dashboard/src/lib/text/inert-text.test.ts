import fc from "fast-check";
import { expect, it } from "vitest";
import { inertText } from "./inert-text.ts";

it.each([
	["plain text,\n\twith lines", "plain text,\n\twith lines"],
	["lines of\r\nthe network", "lines of\nthe network"],
	["\u0000\u001b[31mred\u007f", "␀␛[31mred␡"],
	["a lone \r returns", "a lone ␍ returns"],
	["gpj.\u202eexe", "gpj.⟨U+202E⟩exe"],
	["zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"],
	["tag\u{e0041}", "tag⟨U+E0041⟩"],
	["\u2028", "⟨U+2028⟩"],
	["\u0085", "⟨U+0085⟩"],
	["👩‍👩‍👧 and می‌خواهم", "👩‍👩‍👧 and می‌خواهم"],
	["<script>alert(1)</script>", "<script>alert(1)</script>"],
])("shows %j as %j", (text, shown) => {
	expect(inertText(text)).toBe(shown);
});

it("leaves no invisible characters except joiners, for any input", () => {
	fc.assert(
		fc.property(fc.string({ unit: "binary" }), (text) => {
			const shown = inertText(text).replace(/[\n\t\u200c\u200d]/g, "");
			expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
		}),
	);
});

it("leaves text without invisible characters unchanged", () => {
	fc.assert(
		fc.property(fc.string(), (text) => {
			expect(inertText(text)).toBe(text);
		}),
	);
});
