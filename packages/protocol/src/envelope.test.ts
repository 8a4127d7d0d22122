import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeEnvelope, sameContent } from "./envelope.ts";

const MAX_TIME = Date.parse("9999-12-31T23:59:59.999Z");
const MIN_TIME = Date.parse("0000-01-01T00:00:00.000Z");

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const time = fc.integer({ min: MIN_TIME, max: MAX_TIME });
const envelope = fc.record({
	id: text,
	type: text,
	createdAt: time,
	projectId: text,
	data: fc.json(),
});

describe("encodeEnvelope", () => {
	it("writes exactly the specification's members, data verbatim", () => {
		const data = '{ "2":1, "1":12345678901234567890, "é":"\\u00e9 🎺" }';
		const bytes = encodeEnvelope({
			id: "evt_1",
			type: "purchase.completed",
			createdAt: Date.UTC(2026, 10, 21, 3, 47, 36, 123),
			projectId: "proj_1",
			data,
		});
		expect(bytes.toString()).toBe(
			`{"id":"evt_1","type":"purchase.completed","created_at":"2026-11-21T03:47:36.123Z","project_id":"proj_1","data":${data}}`,
		);
	});

	it("contains its input, for any input", () => {
		fc.assert(
			fc.property(envelope, (given) => {
				const read: unknown = JSON.parse(encodeEnvelope(given).toString());
				expect(read).toEqual({
					id: given.id,
					type: given.type,
					created_at: new Date(given.createdAt).toISOString(),
					project_id: given.projectId,
					data: JSON.parse(given.data),
				});
			}),
		);
	});

	it.each([Number.NaN, Number.POSITIVE_INFINITY, MAX_TIME + 1, MIN_TIME - 1])("refuses the time %d", (createdAt) => {
		const given = { id: "evt_1", type: "purchase.completed", createdAt, projectId: "proj_1", data: "{}" };
		expect(() => encodeEnvelope(given)).toThrow(RangeError);
	});
});

describe("sameContent", () => {
	it("holds for the same event, with another time only if none was given", () => {
		fc.assert(
			fc.property(envelope, time, (given, later) => {
				const stored = encodeEnvelope(given);
				const again = encodeEnvelope(given);
				const delayed = encodeEnvelope({ ...given, createdAt: later });
				expect(sameContent(given.id, given.type, stored, again, true)).toBe(true);
				expect(sameContent(given.id, given.type, stored, again, false)).toBe(true);
				expect(sameContent(given.id, given.type, stored, delayed, false)).toBe(true);
				expect(sameContent(given.id, given.type, stored, delayed, true)).toBe(later === given.createdAt);
			}),
		);
	});

	it("fails when anything but the time differs", () => {
		fc.assert(
			fc.property(envelope, envelope, fc.constantFrom("id", "type", "projectId", "data"), (given, other, member) => {
				fc.pre(given[member] !== other[member]);
				const stored = encodeEnvelope(given);
				const incoming = { ...given, createdAt: other.createdAt, [member]: other[member] };
				expect(sameContent(incoming.id, incoming.type, stored, encodeEnvelope(incoming), false)).toBe(false);
			}),
		);
	});

	it("fails when one byte outside created_at is changed, and only then", () => {
		fc.assert(
			fc.property(envelope, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, position, change) => {
				const stored = encodeEnvelope(given);
				const incoming = Buffer.from(stored);
				const at = position % stored.length;
				incoming.writeUInt8(stored.readUInt8(at) ^ change, at);
				const start = stored.indexOf('"created_at":"', encodedLength(given.id, given.type)) + '"created_at":"'.length;
				const inTime = at >= start && at < start + 24;
				expect(sameContent(given.id, given.type, stored, incoming, false)).toBe(inTime);
				expect(sameContent(given.id, given.type, stored, incoming, true)).toBe(false);
			}),
		);
	});

	it("doesn't mistake a difference in data for one in the time if the type's length differs", () => {
		const base = { id: "evt_1", createdAt: 0, projectId: "proj_1" };
		const stored = encodeEnvelope({ ...base, type: "delivery.failed", data: '{"n":1}' });
		const incoming = encodeEnvelope({ ...base, type: "delivery.success", data: "{ }   " });
		expect(stored.length).toBe(incoming.length);
		for (const type of ["delivery.failed", "delivery.success", "", "x".repeat(80)]) {
			expect(sameContent("evt_1", type, stored, incoming, false)).toBe(false);
			expect(sameContent("evt_1", type, incoming, stored, false)).toBe(false);
		}
	});

	it("compares bytes that aren't an envelope byte by byte", () => {
		const bytes = fc.uint8Array({ maxLength: 120 });
		fc.assert(
			fc.property(text, text, bytes, bytes, fc.boolean(), (id, type, stored, incoming, given) => {
				expect(sameContent(id, type, stored, Uint8Array.from(stored), given)).toBe(true);
				expect(sameContent(id, type, stored, incoming, given)).toBe(Buffer.from(stored).equals(incoming));
			}),
		);
	});

	it("is safe for an envelope cut off anywhere", () => {
		const whole = encodeEnvelope({ id: "evt_1", type: "t", createdAt: 0, projectId: "proj_1", data: "{}" });
		for (let end = 0; end < whole.length; end++) {
			expect(sameContent("evt_1", "t", whole.subarray(0, end), whole, false)).toBe(false);
			expect(sameContent("evt_1", "t", whole.subarray(0, end), whole.subarray(0, end), false)).toBe(true);
		}
	});
});

/** The bytes before the member `created_at`, so that an id or type that contains its name isn't mistaken for it. */
function encodedLength(id: string, type: string): number {
	return Buffer.byteLength(`{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},`);
}
