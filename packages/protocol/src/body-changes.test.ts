import { expect, test } from "vitest";
import { type BodyDifference, bodyDifference, changedBodies } from "./body-changes.ts";

const TEXT = '{"id":"evt_1","data":{"name":"Zoë","items":[1, 2],"amount":1.50}}';
const SENT = Buffer.from(TEXT);

test.each<[string, Uint8Array, BodyDifference | null]>([
	["the same bytes", Buffer.from(TEXT), null],
	["nothing", Buffer.alloc(0), "empty"],
	["a byte order mark", Buffer.from(`\ufeff${TEXT}`), "byte_order_mark"],
	["its start", SENT.subarray(0, 20), "truncated"],
	["a line break at the end", Buffer.from(`${TEXT}\r\n`), "whitespace"],
	["parsed and serialized", Buffer.from(JSON.stringify(JSON.parse(TEXT))), "reserialized"],
	[
		"members in another order",
		Buffer.from('{"data":{"amount":1.5,"items":[1,2],"name":"Zoë"},"id":"evt_1"}'),
		"reserialized",
	],
	["escaped characters", Buffer.from(TEXT.replace("ë", "\\u00eb")), "reserialized"],
	["UTF-8 read as Latin-1", Buffer.from(SENT.toString("latin1")), "encoding"],
	["Latin-1", Buffer.from(TEXT, "latin1"), "encoding"],
	["question marks", Buffer.from(TEXT.replace("ë", "?")), "encoding"],
	["UTF-16", Buffer.from(TEXT.replace("ë", "e"), "utf16le"), "encoding"],
	["another event", Buffer.from('{"id":"evt_2","data":{}}'), "other_event"],
	["another value", Buffer.from(TEXT.replace("[1, 2]", "[1, 3]")), "changed"],
	["no JSON", Buffer.from("name=Zoe"), "changed"],
	["nesting that is too deep to compare", Buffer.from("[".repeat(20_000) + "]".repeat(20_000)), "changed"],
])("%s", (name, given, expected) => {
	const sent = name === "UTF-16" ? Buffer.from(TEXT.replace("ë", "e")) : SENT;
	expect(bodyDifference(sent, given)).toBe(expected);
});

test("each change leads to other bytes", () => {
	const changed = [...changedBodies(SENT)];
	expect(changed.map(({ change }) => change)).toEqual(["byte_order_mark", "reserialized", "reserialized"]);
	for (const { body } of changed) expect(Buffer.from(body).equals(SENT)).toBe(false);
	// It undoes itself.
	expect(Buffer.from([...changedBodies(changed[0]!.body)][0]!.body).equals(SENT)).toBe(true);
});
