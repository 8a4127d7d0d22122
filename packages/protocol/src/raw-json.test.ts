import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memberSource } from "./raw-json.ts";

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** JSON text as humans write it: odd numbers, escapes, whitespace, keys that parsing would reorder or lose. */
const { value, object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 4, withCrossShrink: true },
		fc.constantFrom(
			"null",
			"true",
			"0",
			"-0",
			"12345678901234567890",
			"1e400",
			"-1.50E-7",
			"9007199254740993",
			"{}",
			"[ ]",
		),
		fc.constantFrom(
			'""',
			'"\\""',
			'"\\\\"',
			'"\\\\\\""',
			'"}"',
			'"]\\u005d"',
			'"data"',
			'"{\\"data\\":1}"',
			'"🎺\\ud83c"',
		),
		fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
		tie("object"),
		tie("array"),
	),
	object: fc
		.array(
			fc.tuple(
				fc.oneof(
					fc.constantFrom(
						'"data"',
						'"d\\u0061ta"',
						'"\\u0064\\u0061\\u0074\\u0061"',
						'"events"',
						'"__proto__"',
						'"2"',
						'"1"',
						'""',
					),
					fc.string().map((text) => JSON.stringify(text)),
				),
				tie("value"),
				fc.tuple(space, space, space, space),
			),
			{ maxLength: 4 },
		)
		.map((members) => `{${members.map(([key, inner, [a, b, c, d]]) => `${a}${key}${b}:${c}${inner}${d}`).join(",")}}`),
	array: fc
		.array(fc.tuple(space, tie("value"), space), { maxLength: 4 })
		.map((elements) => `[${elements.map((parts) => parts.join("")).join(",")}]`),
}));

function isObject(parsed: unknown): parsed is Record<string, unknown> {
	return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
}

/** A member's value according to JSON.parse; undefined if there is none. */
function parsedMember(text: string, name: string): unknown {
	const parsed: unknown = JSON.parse(text);
	return isObject(parsed) && Object.hasOwn(parsed, name) ? parsed[name] : undefined;
}

function parsedSource(source: string | undefined): unknown {
	return source === undefined ? undefined : JSON.parse(source);
}

describe("memberSource", () => {
	it("returns text that parses to what the document's member parses to, without space around it", () => {
		fc.assert(
			fc.property(
				fc.oneof(object, value),
				space,
				fc.constantFrom("data", "events", "__proto__", "1", ""),
				(json, pad, name) => {
					const text = pad + json + pad;
					const source = memberSource(text, name);
					expect(parsedSource(source)).toStrictEqual(parsedMember(text, name));
					expect(source).toBe(source?.trim());
				},
			),
			{ numRuns: 2000 },
		);
	});

	it("keeps the source of the last member of that name verbatim", () => {
		fc.assert(
			fc.property(object, value, space, fc.constantFrom('"data"', '"d\\u0061ta"'), (earlier, source, pad, key) => {
				const members = earlier.slice(1, -1);
				const text = `{${members}${members.trim() === "" ? "" : ","}${key}${pad}:${pad}${source}${pad}}`;
				expect(memberSource(text, "data")).toBe(source);
			}),
			{ numRuns: 1000 },
		);
	});

	it.each([
		"12345678901234567890",
		"1e400",
		"-0",
		'{"2":1,"1":2}',
		'{"__proto__":{"a":1},"__proto__":2}',
		'{ "a" :\n[1 , 2]\t}',
		'"\\u0061\\/\\\\"',
		"null",
	])("keeps the notation of %s", (source) => {
		expect(memberSource(`{"data":${source}}`, "data")).toBe(source);
		expect(memberSource(` { "data" : ${source} , "id" : "evt_1" } `, "data")).toBe(source);
	});

	it("only looks at the top level", () => {
		expect(memberSource('{"a":{"data":1},"b":["data",{"data":2}],"c":"\\"data\\":3"}', "data")).toBeUndefined();
		expect(memberSource('[{"data":1}]', "data")).toBeUndefined();
		expect(memberSource('"data"', "data")).toBeUndefined();
		expect(memberSource("{}", "data")).toBeUndefined();
	});

	it("uses the last of equal keys, even if they are spelled differently", () => {
		expect(memberSource('{"data":1,"d\\u0061ta":2}', "data")).toBe("2");
		expect(memberSource('{"d\\u0061ta":2,"data":{"data":3},"date":4}', "data")).toBe('{"data":3}');
	});

	it("accepts nesting far deeper than the stack", () => {
		const deep = "[".repeat(400_000) + "]".repeat(400_000);
		const chain = `${'{"data":'.repeat(100_000)}1${"}".repeat(100_000)}`;
		expect(memberSource(`{"x":${chain},"data":${deep}}`, "data")).toBe(deep);
		expect(memberSource(`{"data":${chain}}`, "data")).toBe(chain);
	});

	it("refuses truncated text instead of running on", () => {
		for (const text of ['{"data":"a', '{"data":{"b":1', '{"dat']) {
			expect(() => memberSource(text, "data")).toThrow(SyntaxError);
		}
	});
});
