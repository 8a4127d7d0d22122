import fc from "fast-check";
import { expect, test } from "vitest";
import { REQUESTS } from "../../base/budgets.ts";
import { parseBody } from "./json-body.ts";
import { pointerAt } from "./json-scan.ts";

const MARK = "\u0001here";

/** Follows a pointer (RFC 6901). */
const follow = (value: unknown, pointer: string): unknown =>
	pointer
		.split("/")
		.slice(1)
		.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
		.reduce((at, name) => (at as Record<string, unknown>)[name], value);

/** Replaces one nested value with the mark. */
function marked(value: unknown, pick: (count: number) => number): unknown {
	if (typeof value !== "object" || value === null) return MARK;
	const names = Object.keys(value);
	if (names.length === 0 || pick(4) === 0) return MARK;
	const name = names[pick(names.length)]!;
	const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
	Object.defineProperty(copy, name, {
		...{ value: marked(copy[name], pick), enumerable: true, configurable: true, writable: true },
	});
	return copy;
}

test("finds the value that starts at a byte", () => {
	const name = fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom("a/b", "~", '"', "\\", "é", "{["));
	const json = fc.letrec((tie) => ({
		value: fc.oneof(
			{ depthSize: "medium" },
			fc.oneof(fc.string({ maxLength: 5 }), fc.integer(), fc.constant(null), fc.constantFrom("[{", '":,')),
			fc.array(tie("value"), { maxLength: 4 }),
			fc.dictionary(name, tie("value"), { maxKeys: 4 }),
		),
	})).value;
	fc.assert(
		fc.property(json, fc.infiniteStream(fc.nat()), fc.constantFrom("", " ", "\n\t"), (value, numbers, space) => {
			const picks = numbers[Symbol.iterator]();
			const document = marked(value, (count) => (picks.next().value as number) % count);
			const bytes = Buffer.from(JSON.stringify(document, null, space));
			const at = bytes.indexOf(JSON.stringify(MARK));
			fc.pre(at === bytes.lastIndexOf(JSON.stringify(MARK)));
			expect(follow(document, pointerAt(bytes, at))).toBe(MARK);
		}),
	);
});

test("says where a batch nests too deeply", () => {
	const deep = "[".repeat(REQUESTS.nesting) + "]".repeat(REQUESTS.nesting);
	const body = `{"events": [{"type": "a", "data": {}}, {"type": "b", "data": {"x/y": ${deep}}}]}`;
	const list = { member: "events", items: 10, itemBytes: 10_000 };
	let problem: unknown;
	try {
		parseBody(Buffer.from(body), list);
	} catch (error) {
		problem = error;
	}
	const [fault] = (problem as { errors: { pointer: string; detail: string }[] }).errors;
	expect(fault!.pointer).toMatch(/^\/events\/1\/data\/x~1y(\/0)+$/);
	expect(fault!.pointer.split("/").length - 1).toBe(REQUESTS.nesting);
	expect(fault!.detail).toContain(`goes deeper at byte ${body.indexOf(deep) + REQUESTS.nesting - 3}`);
});
