import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonLines, prettyJson } from "./json-text.ts";

/** JSON without the space between its tokens. */
const compact = (text: string) => text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string?: string) => string ?? "");

describe("prettyJson", () => {
	it("breaks lines and indents", () => {
		expect(prettyJson('{"id":"evt_1","data":{"items":[1,{"a":null}],"none":[],"empty":{}}}')).toBe(
			[
				"{",
				'  "id": "evt_1",',
				'  "data": {',
				'    "items": [',
				"      1,",
				"      {",
				'        "a": null',
				"      }",
				"    ],",
				'    "none": [],',
				'    "empty": {}',
				"  }",
				"}",
			].join("\n"),
		);
	});

	it("keeps every token unchanged", () => {
		const text = '{"big":12345678901234567890.10,"esc":"\\u0041\\/ {[:,]}","a":1,"a":2}';
		expect(compact(prettyJson(text) ?? "")).toBe(text);
	});

	it("only changes whitespace, for any JSON", () => {
		fc.assert(
			fc.property(fc.json(), (text) => {
				const pretty = prettyJson(text);
				expect(compact(pretty ?? "")).toBe(compact(text));
				expect(JSON.parse(pretty ?? "")).toEqual(JSON.parse(text));
				expect(prettyJson(pretty ?? "")).toBe(pretty);
			}),
		);
	});

	it.each(["", "plain", "{", "<html>", "{'a':1}", '{"a":1} and more'])("leaves %j unchanged", (text) => {
		expect(prettyJson(text)).toBeNull();
	});

	it("accepts strings of megabytes", () => {
		const text = JSON.stringify({ long: `\\"{`.repeat(500_000) });
		expect(compact(prettyJson(text) ?? "")).toBe(text);
	});

	it("limits its output for deep nesting", () => {
		const depth = 2_000;
		const text = `${"[".repeat(depth)}1${"]".repeat(depth)}`;
		expect(prettyJson(text)?.length).toBeLessThan(depth * 2 * 70);
	});
});

describe("jsonLines", () => {
	it.each([
		['  "id": "evt_1",', { indent: "  ", key: '"id"', rest: ': "evt_1",' }],
		['    "a: \\"b\\"": {', { indent: "    ", key: '"a: \\"b\\""', rest: ": {" }],
		['  "only a string",', { indent: "", key: "", rest: '  "only a string",' }],
		["}", { indent: "", key: "", rest: "}" }],
	])("splits %j into its parts", (line, parts) => {
		expect(jsonLines(line)).toEqual([{ number: 1, ...parts }]);
	});

	it("keeps every character of a line", () => {
		fc.assert(
			fc.property(fc.json(), (text) => {
				const pretty = prettyJson(text) ?? "";
				const lines = jsonLines(pretty);
				expect(lines.map(({ indent, key, rest }) => indent + key + rest).join("\n")).toBe(pretty);
				expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
			}),
		);
	});
});
