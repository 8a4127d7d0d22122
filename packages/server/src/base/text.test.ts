import fc from "fast-check";
import { expect, test } from "vitest";
import { durationWords, grouped, inertText, lineFaults, normalizeEmail } from "./text.ts";

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

/** Control characters, line separators, and what changes the direction of the text after it; marks don't. */
const CONTROL = /(?![\u200e\u200f\u061c])[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** Unicode's own properties, and fillers that it counts as letters or symbols. */
const BLANK = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{1d159}]/u;
const VISIBLE = "must have a visible character";

test("judges every character of Unicode as its properties say, alone and between others", () => {
	const wrong: string[] = [];
	for (let code = 0; code <= 0x10ffff; code++) {
		const character = String.fromCodePoint(code);
		const isHalf = code >= 0xd800 && code <= 0xdfff;
		const isControl = CONTROL.test(character);
		const expected = [isControl || BLANK.test(character) ? 1 : 0, isControl ? 1 : 0].map(
			(faults) => faults + (isHalf ? 1 : 0),
		);
		const found = [character, `x${character}x`].map((text) => details(text).length);
		if (String(found) !== String(expected)) wrong.push(`U+${code.toString(16)}: ${found} instead of ${expected}`);
	}
	expect(wrong).toEqual([]);
});

/** Texts of which many are accepted. */
const texts = fc
	.array(
		fc.oneof(fc.constantFrom(..." \u200b\u0000\u202eaé🎺".split("")), fc.string({ unit: "binary", maxLength: 1 })),
		{
			maxLength: 12,
		},
	)
	.map((parts) => parts.join(""));

test("names each fault of a text once, and no other", () => {
	fc.assert(
		fc.property(texts, (text) => {
			const characters = [...text];
			const isNamed = characters.some((each) => !BLANK.test(each)) && !CONTROL.test(text);
			const expected = [
				...(characters.length === 0 ? ["must not be empty"] : []),
				...(characters.length > limits.max ? ["must have at most 10 characters"] : []),
				...(characters.length === 0 || isNamed ? [] : [expect.stringContaining(VISIBLE)]),
				...(text.isWellFormed() ? [] : [expect.stringContaining("surrogate")]),
			];
			expect(details(text)).toEqual(expected);
		}),
	);
});

test("the text of a receiver is shown as it is, except for what isn't visible or exceeds the length", () => {
	fc.assert(
		fc.property(texts, fc.integer({ min: 1, max: 12 }), (text, length) => {
			const inert = inertText(text, length);
			expect(inert.length).toBeLessThanOrEqual(length);
			expect(inert.isWellFormed()).toBe(true);
			expect(inert).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
			if (text.length <= length && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)) expect(inert).toBe(text);
			if (text.length > length + 1) expect(inert.endsWith("…")).toBe(true);
		}),
	);
	expect(inertText("a\tb\nc", 10)).toBe("a b\ufffdc");
	// What was replaced had two units, so the rest seemed to fit.
	expect(inertText("\u{e0001}abc", 3)).toBe("\ufffda…");
	// Half of a pair isn't kept.
	expect(inertText("ab🎺d", 4)).toBe("ab…");
});

test("an address is the same customer's however it is written", () => {
	for (const same of ["ada@example.com", " ADA@Example.COM ", "ａｄａ@example.com"])
		expect(normalizeEmail(same)).toBe("ada@example.com");
	expect(normalizeEmail("adá@example.com")).not.toBe("ada@example.com");
	fc.assert(
		fc.property(fc.string({ unit: "binary" }), (email) => {
			expect(normalizeEmail(normalizeEmail(email))).toBe(normalizeEmail(email));
		}),
		{ numRuns: 2_000 },
	);
});

test("groups digits as the locale would", () => {
	const isGrouped = (n: number) => expect(grouped(n)).toBe(n.toLocaleString("en-US"));
	fc.assert(fc.property(fc.maxSafeNat(), (n) => void isGrouped(n)));
	for (const n of [0, 999, 1_000, 999_999, 1_000_000]) isGrouped(n);
});

test.each([
	[86_400_000, "24 hours"],
	[172_800_000, "2 days"],
	[3_600_000, "60 minutes"],
	[5_400_000, "90 minutes"],
	[90_000, "90 seconds"],
	[1_500, "1.5 seconds"],
	[1_000, "1 second"],
])("%i ms are %s", (ms, words) => expect(durationWords(ms)).toBe(words));
