import { expect, test } from "vitest";
import { REQUESTS } from "../../base/budgets.ts";
import { type JsonBody, JsonList, parseBody } from "./json-body.ts";

const LIST = { member: "events", items: 1_000, itemBytes: 300_000 };

function readAll(body: string): JsonBody[] {
	const { value } = parseBody(Buffer.from(body), LIST);
	const list = (value as { events: unknown }).events;
	if (!(list instanceof JsonList)) throw new Error("not a list");
	return Array.from({ length: list.length }, (_, index) => list.read(index));
}

/** Elements of many sizes: some share a slice, some are larger than one. */
const sizes = [0, 1, 10, 5_000, 60_000, REQUESTS.sliceBytes, 100_000, 3, 40_000, 40_000, 2];

for (const [kind, character] of [
	["ASCII", "a"],
	["two bytes", "ü"],
	["four bytes", "🐎"],
] as const)
	test(`elements are read with their own values and sources: ${kind}`, () => {
		const sources = sizes.map((size, i) => `{ "i": ${i}, "text":"${character.repeat(size / 4)}" }`);
		const read = readAll(`{"events": [ ${sources.join(" ,\n ")} ]}`);
		expect(read.map(({ text }) => text)).toEqual(sources);
		expect(read.map(({ value }) => value)).toEqual(sources.map((source) => JSON.parse(source)));
	});

test("reads elements in any order", () => {
	const body = { events: sizes.map((size) => ["a".repeat(size)]) };
	const list = (parseBody(Buffer.from(JSON.stringify(body)), LIST).value as { events: JsonList }).events;
	for (const index of [10, 0, 5, 9, 5, 1]) expect(list.read(index).value).toEqual(body.events[index]);
});

test("names the element that isn't JSON", () => {
	for (const broken of ["{]", "nul", "", '{"a":1 "b":2}', '"\u0001"'])
		for (const at of [0, 1, 99]) {
			const elements = Array.from({ length: 100 }, (_, i) => (i === at ? broken : "{}"));
			expect(() => readAll(`{"events":[${elements.join(",")}]}`)).toThrow(`in element ${at} of "events"`);
		}
});

test("an empty element next to a large one is not JSON", () => {
	const large = JSON.stringify("a".repeat(REQUESTS.sliceBytes));
	for (const [list, at] of [
		[`${large},`, 1],
		[`,${large}`, 0],
		[`${large},,${large}`, 1],
	] as const)
		expect(() => readAll(`{"events":[${list}]}`)).toThrow(`in element ${at} of "events"`);
});

test("parses an invalid list only once", () => {
	const elements = [...Array.from({ length: 999 }, () => "[1]"), "{]"];
	const body = `{"events":[${elements.join(",")}]}`;
	const list = (parseBody(Buffer.from(body), LIST).value as { events: JsonList }).events;
	const { parse } = JSON;
	let bytes = 0;
	JSON.parse = (text: string) => {
		bytes += text.length;
		return parse(text);
	};
	try {
		const readEach = () => elements.map((_, index) => list.read(index));
		expect(readEach).toThrow("in element 999");
	} finally {
		JSON.parse = parse;
	}
	expect(bytes).toBeLessThan(3 * body.length);
});
