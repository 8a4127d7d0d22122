import { expect, test } from "vitest";
import { responseExcerpt } from "./response-excerpt.ts";

test("a response is quoted in one line, inert and cut, unless it's a page", () => {
	expect(responseExcerpt('{\n  "error": "database is read-only"\n}\n')).toBe('{ "error": "database is read-only" }');
	expect(responseExcerpt("<!doctype html><title>500</title>")).toBe("");
	expect(responseExcerpt(" \n")).toBe("");
	expect(responseExcerpt("a\u202eb\u0000")).toBe("a⟨U+202E⟩b␀");
	expect(responseExcerpt("x".repeat(500))).toHaveLength(161);
});
