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

test("gives a missing parameter its default, unless it is optional", () => {
	const paging = Type.Object(
		{
			limit: Type.Integer({ minimum: 1, maximum: 9, default: 5 }),
			after: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
		},
		{ additionalProperties: false },
	);
	expect(readQuery(paging, {})).toEqual({ ok: true, value: { limit: 5 } });
	expect(readQuery(paging, { limit: "9", after: "3" })).toEqual({ ok: true, value: { limit: 9, after: 3 } });
	for (const limit of ["", "0", "10", "x", ["1", "2"]])
		expect(readQuery(paging, { limit })).toMatchObject({ ok: false, faults: [{ pointer: "?limit" }] });
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
