import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventDraft } from "../engine/engine.ts";
import { parseBody } from "./http/json-body.ts";
import { Problem } from "./http/problem.ts";
import { readNewEvents } from "./routes/publishing/publish.ts";

function read(source: string): { drafts: EventDraft[]; batch: boolean } {
	const { value, text } = parseBody(Buffer.from(source), { member: "events", items: 1_000, itemBytes: 1_000_000 });
	const { drafts, batch } = readNewEvents(value, text);
	if (!("next" in drafts)) return { drafts: [...drafts], batch };
	const all: EventDraft[] = [];
	for (let next = drafts.next(); next !== null; next = drafts.next()) all.push(...next);
	return { drafts: all, batch };
}

/** The parser and the slices must agree, or one event would be sent with another's data. */
test("each event's data keeps its own source text", async () => {
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

test("any JSON leads to drafts or a problem", async () => {
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

test("the last of duplicate members counts, for both the check and the source", async () => {
	const text = '{"data":{"n":1},"type":"nope","type":"delivery.failed","data":{"n":2}}';
	expect((await read(text)).drafts).toEqual([{ type: "delivery.failed", data: '{"n":2}' }]);
});

test("reports a fault in a later event of a batch with its pointer, along with the batch's own faults", () => {
	const event = '{"type":"delivery.failed","data":{}}';
	const problem = (source: string) => {
		try {
			read(source);
		} catch (error) {
			return (error as Problem).errors;
		}
		return [];
	};
	const text = `{"more":1,"events":[${event},{"type":"delivery.failed"},${event},7]}`;
	expect(problem(text)?.map(({ pointer }) => pointer)).toEqual(["/more", "/events/1/data", "/events/3"]);
	expect(problem(`{"events":[]}`)).toMatchObject([{ pointer: "/events" }]);
	expect(problem(`{"events":7}`)).toMatchObject([{ pointer: "/events" }]);
});
