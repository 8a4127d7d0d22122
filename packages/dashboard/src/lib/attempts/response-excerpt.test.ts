import { expect, test } from "vitest";
import { responseExcerpt } from "./response-excerpt.ts";

test("a response is quoted in one line, inert and cut, unless it's a page", () => {
	expect(responseExcerpt("<!doctype html><title>500</title>")).toBe("");
	expect(responseExcerpt(" \n")).toBe("");
	expect(responseExcerpt("a\u202eb\u0000")).toBe("a⟨U+202E⟩b␀");
	expect(responseExcerpt("x".repeat(500))).toHaveLength(161);
	// It ended with half of an emoji.
	expect(responseExcerpt(`x${"😀".repeat(200)}`)).toBe(`x${"😀".repeat(159)}…`);
});

test("a JSON object's message is quoted in place of the object, as inert as other text", () => {
	const of = (value: unknown) => responseExcerpt(JSON.stringify(value, null, 2));
	expect(of({ error: "database is read-only" })).toBe("database is read-only");
	expect(of({ title: "a", detail: "b", error: "c", message: "d" })).toBe("d");
	expect(of({ title: "Not now", status: 503 })).toBe("Not now");
	expect(of({ message: " ", error: { message: "x" }, detail: "b\n c" })).toBe("b c");
	expect(of({ message: "a\u202eb\u0000" })).toBe("a⟨U+202E⟩b␀");
	expect(of({ error: "x".repeat(500) })).toHaveLength(161);
	// Without one, the body is quoted as it is, and so is what isn't an object.
	expect(responseExcerpt('{"error": 1}')).toBe('{"error": 1}');
	expect(responseExcerpt('{"error":"cut of')).toBe('{"error":"cut of');
	expect(responseExcerpt('["error"]')).toBe('["error"]');
	expect(responseExcerpt("null")).toBe("null");
});
