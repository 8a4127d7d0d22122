import fc from "fast-check";
import { expect, test } from "vitest";
import { parseBody } from "./json-body.ts";
import { type NewEvents, readNewEvents } from "./new-events.ts";
import { Problem } from "./problem.ts";

function read(source: string): Promise<NewEvents> {
	const { value, text } = parseBody(Buffer.from(source), { member: "events", items: 1_000, itemBytes: 1_000_000 });
	return readNewEvents(value, text, () => null);
}

/** The parse and the slices must agree, or the data of one event would be sent as that of another. */
test("the source of each event's data is the text of its own", async () => {
	const member = fc.oneof(fc.constant("id"), fc.constant("data"), fc.constant("type"), fc.string());
	const object = fc.dictionary(member, fc.jsonValue(), { maxKeys: 4 });
	const space = fc.constantFrom("", " ", "\n\t ");
	await fc.assert(
		fc.asyncProperty(fc.array(object, { minLength: 1, maxLength: 5 }), space, async (datas, gap) => {
			const texts = datas.map((data) => JSON.stringify(data, null, gap));
			const items = texts.map((text, i) => `{${gap}"data":${gap}${text},"type":"delivery.success","id":"evt_${i}"}`);
			const text = `{"events":${gap}[${items.join(`,${gap}`)}]}`;
			const { drafts, batch } = await read(text);
			expect(batch).toBe(true);
			expect(drafts.map(({ data }) => data)).toEqual(texts);
			expect(drafts.map(({ id }) => id)).toEqual(texts.map((_, i) => `evt_${i}`));
			const single = await read(items[0]!);
			expect(single).toMatchObject({ batch: false, drafts: [{ data: texts[0], id: "evt_0" }] });
		}),
	);
});

test("whatever JSON comes, the answer is drafts or a problem", async () => {
	await fc.assert(
		fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
			const text = JSON.stringify(value);
			try {
				await read(text);
			} catch (error) {
				expect(error).toBeInstanceOf(Problem);
			}
		}),
	);
});

test("of members with the same name the last counts, for the check as for the source", async () => {
	const text = '{"data":{"n":1},"type":"nope","type":"delivery.failed","data":{"n":2}}';
	expect((await read(text)).drafts).toEqual([{ type: "delivery.failed", data: '{"n":2}' }]);
});
