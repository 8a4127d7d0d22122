import fc from "fast-check";
import { expect, test } from "vitest";
import { headersOf, type Mark, pathOf, RequestSplitter, readMark } from "./fast-request.ts";

const post = (path: string, body: string, name = "content-length"): string =>
	`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${name}: ${Buffer.byteLength(body)}\r\nx-a: b\r\n\r\n${body}`;

test("returns whole requests in order, however their bytes are split and coalesced", () => {
	const bodies = fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 1, maxLength: 8 });
	fc.assert(
		fc.property(bodies, fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (sent, sizes) => {
			const bytes = Buffer.from(sent.map((body, i) => post(`/w${i}?q`, body)).join(""));
			const received: [string, string][] = [];
			const splitter = new RequestSplitter((head, body) => received.push([pathOf(head), body.toString()]));
			let completed = 0;
			for (let at = 0, i = 0; at < bytes.length; i++) {
				const size = sizes[i % sizes.length]!;
				completed += splitter.push(bytes.subarray(at, at + size));
				at += size;
			}
			expect(received).toEqual(sent.map((body, i) => [`/w${i}`, Buffer.from(body).toString()]));
			expect(completed).toBe(sent.length);
		}),
	);
});

test("refuses a request without a length or with too large a head", () => {
	const splitter = (): RequestSplitter => new RequestSplitter(() => {});
	expect(() => splitter().push(Buffer.from("POST / HTTP/1.1\r\nhost: a\r\n\r\n"))).toThrow("content-length");
	expect(() => splitter().push(Buffer.alloc(70_000, "a"))).toThrow("too long");
	expect(splitter().push(Buffer.from(post("/", "ok", "Content-Length")))).toBe(1);
});

test("reads header names in lower case", () => {
	expect(headersOf("POST / HTTP/1.1\r\nX-One: a: b\r\nTwo:c")).toEqual({ "x-one": "a: b", two: "c" });
});

test.for<[string, Mark | null]>([
	['{"data":{"n":12,"at":1763696856123.456,"x":1}}', { n: 12, at: 1763696856123.456 }],
	['{"data":{"n":12,"at":1763696856123456}}', { n: 12, at: 1763696856123.456 }],
	['{"data":{"n":0}}', { n: 0, at: Number.NaN }],
	['{"data":{"n":7,"b":1,"at":3}}', { n: 7, at: Number.NaN }],
	['{"data":{"n":"7"}}', null],
	['{"data":{"m":7}}', null],
	['{"data":{"n":', null],
])("the mark of %s", ([body, expected]) => {
	const mark: Mark = { n: -1, at: -1 };
	expect(readMark(Buffer.from(body), mark) ? mark : null).toEqual(expected);
});
