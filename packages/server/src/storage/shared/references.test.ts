import { encodeEnvelope } from "@posthorn/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_REFERENCE_LENGTH, orderIdIn } from "./bodies.ts";

const envelope = (data: string) =>
	encodeEnvelope({ id: "evt_1", type: "purchase.completed", createdAt: 0, projectId: "proj_1", data });

/** What the index knows. */
function parsed(data: string): string | null {
	const id: unknown = JSON.parse(data).order_id;
	const text = Number.isSafeInteger(id) ? String(id) : id;
	return typeof text === "string" && text !== "" && text.length <= MAX_REFERENCE_LENGTH ? text : null;
}

test.for([
	[`{"order_id":"ord_1"}`, "ord_1"],
	[`{ "order_id" : "ord_1" , "n":1}`, "ord_1"],
	[`{"order_id":42}`, "42"],
	[`{"order_id":42.5}`, null],
	[`{"order_id":1e2}`, "100"],
	[`{"order_id":null}`, null],
	[`{"order_id":""}`, null],
	[`{"order_id":"a\\"b\\u0041"}`, 'a"bA'],
	[`{"order\\u005fid":"ord_1"}`, "ord_1"],
	[`{"order_id":"first","order_id":"last"}`, "last"],
	[`{"items":[{"order_id":"inner"}]}`, null],
	[`{"order":{"order_id":"inner"}}`, null],
	[`{"order":{"data":{"order_id":"inner"}},"n":1}`, null],
	[`{"note":"order_id","x":"ord_1"}`, null],
	[`{"note":"{\\"data\\":{","order_id":"ord_1"}`, "ord_1"],
	[`{"note":"\\\\","order_id":"ord_1"}`, "ord_1"],
	[`{"items":[[{}],"}"],"order_id":"طلب 🛒"}`, "طلب 🛒"],
	[`{"order_id":"${"x".repeat(MAX_REFERENCE_LENGTH)}"}`, "x".repeat(MAX_REFERENCE_LENGTH)],
	[`{"order_id":"${"x".repeat(MAX_REFERENCE_LENGTH + 1)}"}`, null],
	[`{"order_id":"${"🛒".repeat(MAX_REFERENCE_LENGTH)}"}`, null],
] as const)("reads the order id of %s", ([data, expected]) => {
	expect(parsed(data)).toBe(expected);
	expect(orderIdIn(Buffer.from(envelope(data)).toString())).toBe(expected);
});

test("finds what parsing the whole body finds", () => {
	const name = fc.constantFrom("order_id", "data", "order", "note", 'order_id":"x', "a\\");
	const leaf = fc.oneof(name, fc.string({ unit: "binary", maxLength: 5 }), fc.integer(), fc.constant(null));
	const { value } = fc.letrec((tie) => ({
		value: fc.oneof({ depthSize: "small" }, leaf, tie("object"), fc.array(tie("value"), { maxLength: 3 })),
		object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
	}));
	const space = fc.constantFrom(undefined, 1, "\t");
	fc.assert(
		fc.property(fc.dictionary(name, value), space, (object, indent) => {
			const data = JSON.stringify(object, null, indent);
			expect(orderIdIn(Buffer.from(envelope(data)).toString())).toBe(parsed(data));
		}),
		{ numRuns: 1_000 },
	);
});
