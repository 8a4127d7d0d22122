import fc from "fast-check";
import { expect, test } from "vitest";
import { type ScannedList, scanJson } from "./json-scan.ts";

const LIMITLESS = { nesting: Number.POSITIVE_INFINITY, list: { member: "events", items: Number.POSITIVE_INFINITY } };

/** The source of each element. */
function cutOut(bytes: Buffer, { items }: ScannedList): string[] {
	return Array.from({ length: items.length }, (_, i) => bytes.toString("utf8", items.start(i), items.end(i)));
}

function depthOf(value: unknown): number {
	if (typeof value !== "object" || value === null) return 0;
	return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** JSON with names, strings and spaces that look like structure. */
const name = fc.oneof(
	fc.constantFrom("events", "event", "data", '"', "]", "{", ",", ":", "__proto__"),
	// V8 14 mistakes the name "\\"" for "\\\\" after parsing an object with that one.
	fc.string({ unit: "binary", maxLength: 6 }).filter((text) => !text.includes("\\")),
);
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 5, depthSize: "small" },
		fc.oneof(
			fc.constantFrom(null, true, -0.5, 1e21, "", '\\"', "]}", '{"events":[1,2]}'),
			fc.string({ unit: "binary" }),
			fc.string({ unit: fc.constantFrom("\\", '"', "]", "a"), maxLength: 90, size: "max" }),
		),
		fc.array(tie("value"), { maxLength: 6 }),
		fc.dictionary(name, tie("value"), { maxKeys: 6 }),
	),
}));
const batch = fc.record({ events: fc.array(anyJson, { maxLength: 40, size: "max" }) });
const spaced = fc.tuple(fc.oneof(anyJson, batch), fc.constantFrom("", " ", "\n\t", "\r\n  "));

test("agrees with JSON.parse about depth, elements and their positions", () => {
	fc.assert(
		fc.property(spaced, fc.boolean(), ([value, space], escaped) => {
			const plain = `${space}${JSON.stringify(value, null, space)}${space}`;
			const text = escaped ? plain.replace('"events"', '"\\u0065vents"') : plain;
			const bytes = Buffer.from(text);
			const parsed: unknown = JSON.parse(text);
			const scan = scanJson(bytes, LIMITLESS);
			if (scan.kind !== "fits") throw new Error(`${scan.kind} at ${scan.at}`);
			const depth = depthOf(parsed);
			expect(scanJson(bytes, { ...LIMITLESS, nesting: depth })).toEqual(scan);
			if (depth > 0) expect(scanJson(bytes, { ...LIMITLESS, nesting: depth - 1 }).kind).toBe("deep");
			const events =
				typeof parsed === "object" && parsed !== null && Object.hasOwn(parsed, "events")
					? (parsed as { events: unknown }).events
					: undefined;
			if (!Array.isArray(events)) {
				expect(scan.list).toBeNull();
				return;
			}
			const cut = cutOut(bytes, scan.list!).map((text) => JSON.parse(text));
			expect(cut).toEqual(events);
			const { start, end } = scan.list!.span;
			expect(JSON.parse(bytes.toString("utf8", start, end))).toEqual(events);
		}),
		{ numRuns: 500 },
	);
});

test("a document is valid JSON if and only if its elements and the rest are", () => {
	const broken = fc.tuple(spaced, fc.nat(), fc.nat(6), fc.string({ maxLength: 2 }));
	const isJson = (text: string): boolean => {
		try {
			JSON.parse(text);
			return true;
		} catch {
			return false;
		}
	};
	fc.assert(
		fc.property(broken, ([[value, space], where, length, put]) => {
			const whole = JSON.stringify(value, null, space);
			const at = where % whole.length;
			const bytes = Buffer.from(whole.slice(0, at) + put + whole.slice(at + length));
			const text = bytes.toString();
			const scan = scanJson(bytes, LIMITLESS);
			// Two lists with the same name are valid JSON, and refused.
			if (scan.kind === "broken" && isJson(text)) {
				expect(text.match(/events|\\/g)!.length).toBeGreaterThan(1);
				return;
			}
			if (scan.kind !== "fits") {
				expect(isJson(text)).toBe(false);
				return;
			}
			const { list } = scan;
			const parts = list
				? [
						`${bytes.toString("utf8", 0, list.span.start)}[]${bytes.toString("utf8", list.span.end)}`,
						...cutOut(bytes, list),
					]
				: [text];
			expect(parts.every(isJson)).toBe(isJson(text));
		}),
		{ numRuns: 500 },
	);
});

test("handles any bytes, and reads each at most three times", () => {
	const noise = fc.array(fc.oneof(fc.constantFrom(...Buffer.from('[]{},:"\\ events0')), fc.nat(255)), {
		maxLength: 300,
		size: "max",
	});
	fc.assert(
		fc.property(noise, (values) => {
			let reads = 0;
			const counted = new Proxy(Uint8Array.from(values), {
				get(target, key) {
					if (typeof key === "string" && /^\d+$/.test(key)) reads++;
					if (key === "indexOf") return indexOf;
					const value: unknown = Reflect.get(target, key);
					return value;
				},
			});
			const indexOf = (byte: number, from: number): number => {
				const found = values.indexOf(byte, from);
				reads += (found === -1 ? values.length : found + 1) - from;
				return found;
			};
			scanJson(counted, LIMITLESS);
			// Once ahead, once in the main pass, and once back for the space after an element.
			expect(reads).toBeLessThanOrEqual(3 * values.length);
		}),
		{ numRuns: 500 },
	);
});

test("stops at the limit, and reports the byte", () => {
	const list = { member: "events", items: 3 };
	expect(scanJson(Buffer.from('{"events":[0,0,0]}'), { nesting: 2, list })).toMatchObject({ kind: "fits" });
	expect(scanJson(Buffer.from('{"events":[0,0,0,0,0]}'), { nesting: 2, list })).toEqual({ kind: "long", at: 17 });
	expect(scanJson(Buffer.from('{"events":[0,[]]}'), { nesting: 2, list })).toEqual({ kind: "deep", at: 13 });
	expect(scanJson(Buffer.from('{"other":[0,0,0,0,0]}'), { nesting: 2, list })).toMatchObject({ list: null });
	expect(scanJson(Buffer.from('{"a":{"events":[0,0,0,0]}}'), { nesting: 3, list })).toMatchObject({ list: null });
	for (const second of ["[0]", "0", "{}"])
		expect(scanJson(Buffer.from(`{"events":[0],"events":${second}}`), { nesting: 2, list })).toEqual({
			kind: "broken",
			at: 14,
		});
	expect(scanJson(Buffer.from('{"events":0,"events":[0]}'), { nesting: 2, list })).toMatchObject({ kind: "fits" });
	expect(scanJson(Buffer.from('{"events":[0'), { nesting: 2, list })).toEqual({ kind: "broken", at: 12 });
});
