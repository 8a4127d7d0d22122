import { Type } from "typebox";
import { expect, test } from "vitest";
import { readQuery } from "./validate.ts";

const schema = Type.Object(
	{
		limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
		name: Type.Optional(Type.String({ maxLength: 3 })),
		tag: Type.Optional(Type.Array(Type.Enum(["a", "b"], { type: "string" }))),
	},
	{ additionalProperties: false },
);

test("reads parameters according to their schema", () => {
	expect(readQuery(schema, { limit: "7", name: "x", tag: "a" })).toEqual({
		ok: true,
		value: { limit: 7, name: "x", tag: ["a"] },
	});
	expect(readQuery(schema, { tag: ["a", "b,a"] })).toEqual({ ok: true, value: { tag: ["a", "b", "a"] } });
	expect(readQuery(schema, {})).toEqual({ ok: true, value: {} });
	expect(readQuery(undefined, {})).toEqual({ ok: true, value: {} });
});

test("reports all faults, one for each parameter", () => {
	const result = readQuery(schema, { limit: "ten", name: "long", tag: ["c", "d"], more: "1" });
	expect(result.ok ? [] : result.faults.map(({ pointer }) => pointer)).toEqual([
		"?limit",
		"?more",
		"?name",
		"?tag",
		"?tag",
	]);
	expect(readQuery(undefined, { x: "1" })).toEqual({
		ok: false,
		faults: [{ pointer: "?x", detail: "is not a parameter of this route" }],
	});
	expect(readQuery(schema, { names: "x" })).toEqual({
		ok: false,
		faults: [{ pointer: "?names", detail: "is not a parameter of this route, which has: limit, name, tag" }],
	});
});
