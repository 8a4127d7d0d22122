import fc from "fast-check";
import { expect, test } from "vitest";
import { type LaneEvent, PackedEvents } from "./packed-events.ts";

const EVENTS = fc.array(
	fc.record({
		seq: fc.oneof(fc.integer({ min: -10, max: 50 }), fc.maxSafeInteger()),
		id: fc.stringMatching(/^evt_[a-z0-9]{0,30}$/),
		type: fc.constantFrom("purchase.completed", "customer.created", "refund.issued"),
		publishedAt: fc.maxSafeInteger(),
		body: fc.uint8Array({ maxLength: 300, size: "max" }),
	}),
	{ maxLength: 40, size: "max" },
);

/** All of them, with bodies that can be compared. */
const contentOf = (packed: PackedEvents) =>
	Array.from({ length: packed.length }, (_, index) => comparable(packed.at(index)));
const comparable = (event: LaneEvent) => ({ ...event, body: [...event.body] });

test("events are the same after packing, whether together or one by one", () => {
	fc.assert(
		fc.property(EVENTS, fc.nat(40), (events, together) => {
			const packed = new PackedEvents(events.slice(0, together));
			for (const event of events.slice(together)) packed.add(event);
			expect(contentOf(packed)).toEqual(events.map(comparable));
			expect(events.map((_, index) => packed.seqAt(index))).toEqual(events.map(({ seq }) => seq));
			for (const { seq } of events)
				expect(packed.find(seq)).toEqual(packed.at(events.findIndex((one) => one.seq === seq)));
			expect(packed.find(51)).toEqual(events.find(({ seq }) => seq === 51) && expect.anything());
		}),
	);
});

test("their memory counts as a whole, and is freed without waiting for a collection", () => {
	const body = Buffer.alloc(1_000_000, "x");
	const event = { seq: 1, id: "evt_1", type: "purchase.completed", publishedAt: 1, body };
	const packed = new PackedEvents([event]);
	const memory = () => packed.at(0).body.buffer;
	const outgrown = memory();
	packed.add({ ...event, seq: 2 });
	const current = memory();
	expect(current.byteLength).toBeGreaterThan(2 * body.length);
	expect(packed.bytes).toBeGreaterThanOrEqual(current.byteLength);
	packed.free();
	expect([packed.length, packed.bytes, packed.find(1)]).toEqual([0, 0, undefined]);
	expect([outgrown.byteLength, current.byteLength]).toEqual([0, 0]);
	packed.add(event);
	expect(packed.at(0).body).toHaveLength(body.length);
});
