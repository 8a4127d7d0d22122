import fc from "fast-check";
import { expect, test } from "vitest";
import { textFinder } from "./bodies.ts";

const find = (text: string, body: string) => textFinder(text)(Buffer.from(body));

// The search was once a regular expression, which takes minutes for this.
test("takes linear time, whatever body and text are", () => {
	const body = `"一${"s".repeat(4_000_000)}"`;
	expect(find(`${"s".repeat(10_000)}"/é`, body)).toBeNull();
});

test("finds the first of all ways to write a text, in any case", () => {
	const letter = fc.constantFrom("a", "A", "é", "É", "/", '"', "Σ", "ς", "ſ", "s", "\u{10400}", "\u{10428}", "😀");
	const word = fc.array(letter, { minLength: 1, maxLength: 4 }).map((letters) => letters.join(""));
	const body = fc.array(
		fc.oneof(
			word,
			word.map((text) => JSON.stringify(text)),
			fc.constantFrom("\\u00e9", "\\/"),
		),
	);
	fc.assert(
		fc.property(word, body, (text, parts) => {
			const whole = parts.join("");
			const json = JSON.stringify(text).slice(1, -1);
			const ascii = json.replaceAll(
				/[^\x20-\x7e]/g,
				(unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
			);
			const ways = [text, json, json.replaceAll("/", "\\/"), ascii].map((way) => RegExp.escape(way));
			const match = new RegExp(ways.join("|"), "iu").exec(whole);
			const found = find(text, whole);
			expect(found === null).toBe(match === null);
			if (found === null || match === null) return;
			const { excerpt, matchStart, matchLength } = found;
			expect(excerpt.slice(matchStart, matchStart + matchLength)).toBe(match[0]);
			expect(whole.slice(match.index - matchStart).startsWith(excerpt.slice(0, matchStart))).toBe(true);
		}),
		{ numRuns: 2_000 },
	);
});

test("every letter is found in its other cases, as Unicode's simple case folding says", () => {
	const wrong: string[] = [];
	for (let code = 0x20; code < 0x20000; code++) {
		if (code >= 0xd800 && code < 0xe000) continue;
		const letter = String.fromCodePoint(code);
		const others = [letter.toLowerCase(), letter.toUpperCase(), letter.toUpperCase().toLowerCase()];
		for (const other of new Set(others.filter((one) => one !== letter && [...one].length === 1)))
			if ((find(letter, other) !== null) !== new RegExp(RegExp.escape(letter), "iu").test(other)) wrong.push(letter);
	}
	expect(wrong).toEqual([]);
	expect(find("istanbul", "in İSTANBUL")).toMatchObject({ matchStart: 3, matchLength: 8 });
});
