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
	expect(of({ message: " ", error: 1, detail: "b\n c" })).toBe("b c");
	expect(of({ message: "a\u202eb\u0000" })).toBe("a⟨U+202E⟩b␀");
	expect(of({ error: "x".repeat(500) })).toHaveLength(161);
	// As in many APIs, and the default errors of frameworks.
	expect(of({ error: { code: 403, message: "No such key", status: "DENIED" } })).toBe("No such key");
	expect(of({ message: ["type must be a string", "id must be a string"] })).toBe("type must be a string");
	expect(of({ detail: [{ type: "missing", loc: ["body", "id"], msg: "Field required" }] })).toBe("Field required");
	expect(of({ errors: [{ message: "Unknown store" }] })).toBe("Unknown store");
	expect(of({ error: { error: { error: { error: "x" } } } })).toMatch(/^\{ "error": \{/);
	// A trace doesn't fit, so the object's end isn't known.
	expect(responseExcerpt('{"message": "Undefined \\"x\\"", "trace": [{"file": "/app')).toBe('Undefined "x"');
	const cut = [
		['{"data":null,"error":{"status":500,"message":"No store","details":{"stack":"at', "No store"],
		['{"errors": [{"message": "Unknown store", "path": ["a', "Unknown store"],
		['{"code":"x","message":"a","title":"b","trace":[{', "a"],
		// The page claimed that it said "Blue shoes".
		['{"order":{"title":"Blue shoes","lines":[', '{"order":{"title":"Blue shoes","lines":['],
		['{"code":1,"data":{"message":"Thanks!"},"items":[', '{"code":1,"data":{"message":"Thanks!"},"items":['],
	] as const;
	for (const [body, said] of cut) expect(responseExcerpt(body), body).toBe(said);
	// Without one, the body is quoted as it is, and so is what isn't an object.
	expect(responseExcerpt('{"error": 1}')).toBe('{"error": 1}');
	expect(responseExcerpt('{"error":"cut of')).toBe('{"error":"cut of');
	expect(responseExcerpt('["error"]')).toBe('["error"]');
	expect(responseExcerpt("null")).toBe("null");
});

// The webhook's page said "Internal Server Error" of Spring, and nothing of Express.
test("an exception's first line is quoted, in Spring's and Express's errors", () => {
	const trace =
		'"trace":"java.lang.NullPointerException: \\"order\\" is null\\n\\tat com.example.Hooks.take(Hooks.java:42)\\n';
	const spring = `{"timestamp":"2026-11-29T10:00:00.000+00:00","status":500,"error":"Internal Server Error",${trace}`;
	expect(responseExcerpt(spring)).toBe('java.lang.NullPointerException: "order" is null');
	expect(responseExcerpt(`{"message":"out of stock",${trace}`)).toBe("out of stock");
	const express = (text: string) => `<!DOCTYPE html>\n<html lang="en">\n<body>\n<pre>${text}</pre>\n</body>\n</html>\n`;
	expect(responseExcerpt(express("TypeError: no &#39;id&#39; in &lt;b&gt;<br> &nbsp; &nbsp;at /app/a.js:1:2"))).toBe(
		"TypeError: no 'id' in <b>",
	);
	expect(responseExcerpt(express("Cannot POST /in"))).toBe("Cannot POST /in");
	expect(responseExcerpt(express("&lt;pre&gt;\u202e"))).toBe("<pre>⟨U+202E⟩");
});
