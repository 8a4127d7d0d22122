import fc from "fast-check";
import { expect, test } from "vitest";
import { grouped, lineFaults } from "../base/text.ts";

const limits = { min: 1, max: 10 };
const details = (text: string) => lineFaults(text, "/name", limits).map(({ detail }) => detail);

test("accepts text within its bounds in any language", () => {
	for (const text of ["a", "äöü", "日本語", "🎺".repeat(10), " x "]) expect(details(text)).toEqual([]);
});

test("reports every fault", () => {
	expect(details("")).toEqual(["must not be empty"]);
	expect(details("x".repeat(11))).toEqual(["must have at most 10 characters"]);
	expect(details(`\u0000\ud800${"x".repeat(20)}`)).toHaveLength(3);
	for (const control of ["\u0000", "\n", "\r", "\t", "\u007f", "\u0085"]) expect(details(control)).toHaveLength(1);
});

// In the audit log, a member's name could turn what they did around.
test("refuses characters that change the direction of what follows, not those of scripts written from the right", () => {
	for (const control of ["\u202e", "\u202a", "\u2066", "\u2069", "\u2028"])
		expect(details(`A${control}b`)).toEqual([expect.stringContaining("the direction of text")]);
	for (const text of ["עברית\u200f!", "العربية"]) expect(details(text)).toEqual([]);
});

// Such a project, key or person had no name to see or click.
test("refuses names of nothing but spaces and invisible characters, next to which visible ones may be", () => {
	const invisible = [
		" ",
		"\u00a0",
		"\u00ad",
		"\u061c",
		"\u200b",
		"\u200f",
		"\u2060",
		"\u2800",
		"\u3000",
		"\u3164",
		"\ufe0f",
	];
	for (const each of [...invisible, "\ufeff", "\u{e0041}", "\u{1d173}", " \u200b\u00a0"]) {
		expect(details(each), JSON.stringify(each)).toEqual([expect.stringContaining("a visible character")]);
		expect(details(`${each}x${each}`)).toEqual([]);
	}
	for (const text of ["❤\ufe0f", "می\u200cخواهم", "👩\u200d🚀", "\u0301"]) expect(details(text)).toEqual([]);
});

test("checks long text in linear time", () => {
	for (const text of ["x".repeat(60_000), " ".repeat(60_000), " x".repeat(30_000)])
		expect(details(`${text}\n`)).toHaveLength(2);
});

test("accepted text is well-formed, printable, and within the limit", () => {
	fc.assert(
		fc.property(fc.string({ unit: "binary", maxLength: 30 }), (text) => {
			if (details(text).length > 0) return;
			expect(text.isWellFormed()).toBe(true);
			expect([...text].length).toBeLessThanOrEqual(limits.max);
			for (const character of text) expect(character.codePointAt(0)).toBeGreaterThanOrEqual(0x20);
		}),
	);
});

test("groups digits as the locale would", () => {
	const isGrouped = (n: number) => expect(grouped(n)).toBe(n.toLocaleString("en-US"));
	fc.assert(fc.property(fc.maxSafeNat(), (n) => void isGrouped(n)));
	for (const n of [0, 999, 1_000, 999_999, 1_000_000]) isGrouped(n);
});
