import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { RECEIVERS } from "../base/budgets.ts";
import { ResponseParser } from "./response-parser.ts";

function read(...parts: (string | Buffer)[]): ResponseParser {
	const reader = new ResponseParser();
	for (const part of parts) reader.push(Buffer.from(part as string, "latin1"));
	return reader;
}

const seen = (reader: ResponseParser) => ({
	state: reader.state,
	status: reader.status,
	body: Buffer.from(reader.body).toString("latin1"),
	truncated: reader.truncated,
	persistent: reader.persistent,
	idleSeconds: reader.idleSeconds,
});

const ANSWERS = [
	"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
	"HTTP/1.1 204\r\nkeep-alive: timeout=5, max=100\r\n\r\n",
	"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
	"HTTP/1.0 200 OK\ncontent-length: 2\n\nok",
	"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\nConnection: close, keep-alive\r\ncontent-length: 2\r\n\r\nok",
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: </a>\r\n\r\nHTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n",
	'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;a="b"\r\nabc\r\nA\r\n0123456789\r\n0\r\nx-sum: 1\r\n\r\n',
	"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc",
	"HTTP/1.1 200 OK\r\n\r\nuntil the end",
	`HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n${"x".repeat(2_000)}`,
	`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n${"x".repeat(2_000)}\r\n0\r\n\r\n`,
	"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n",
	"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
	"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nok",
	"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
	"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
	"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
	"SSH-2.0-OpenSSH_9.9\r\n\r\n",
];

test("a response reads the same however its bytes are split", () => {
	fc.assert(
		fc.property(
			fc.constantFrom(...ANSWERS),
			fc.array(fc.nat({ max: 300 }), { maxLength: 100, size: "max" }),
			(answer, cuts) => {
				const places = [0, ...cuts.filter((cut) => cut < answer.length).sort((a, b) => a - b), answer.length];
				const parts = places.slice(1).map((place, i) => answer.slice(places[i], place));
				expect(seen(read(...parts))).toEqual(seen(read(answer)));
				expect(seen(read(...answer))).toEqual(seen(read(answer)));
			},
		),
		{ numRuns: 500 },
	);
});

test("a body isn't in memory that requests share, because it is kept longer than them", () => {
	const shared = Buffer.allocUnsafe(1).buffer;
	for (const parts of [["ok"], ["o", "k"]]) {
		const { body } = read("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", ...parts);
		expect(body.buffer.byteLength).toBeGreaterThan(2);
		expect(body.buffer).not.toBe(shared);
	}
});

describe("where a response ends and whether the connection is reusable", () => {
	test.each([
		[0, { state: "complete", status: 200, body: "hello", persistent: true }],
		[1, { state: "complete", status: 204, body: "", persistent: true, idleSeconds: 5 }],
		[2, { state: "complete", status: 304, body: "", persistent: true }],
		[3, { state: "complete", status: 200, body: "ok", persistent: false }],
		[4, { state: "complete", status: 200, body: "ok", persistent: true }],
		[5, { state: "complete", status: 200, body: "ok", persistent: false }],
		[6, { state: "complete", status: 500, body: "", persistent: true }],
		[7, { state: "complete", status: 200, body: "abc0123456789", truncated: false, persistent: true }],
		[8, { state: "complete", status: 200, body: "abc", persistent: false }],
		[9, { state: "body", status: 200, body: "abc", persistent: false }],
		[10, { state: "body", status: 200, body: "until the end", persistent: false }],
		[11, { state: "complete", status: 200, body: "x".repeat(1_024), truncated: true, persistent: true }],
		[12, { state: "complete", status: 200, body: "x".repeat(1_024), truncated: true, persistent: true }],
		[13, { state: "complete", status: 200, body: "ok", persistent: false }],
		[14, { state: "malformed", status: 0 }],
		[15, { state: "malformed", status: 0 }],
		[16, { state: "malformed", status: 0 }],
		[17, { state: "malformed", status: 200 }],
		[18, { state: "malformed", status: 200, body: "a" }],
		[19, { state: "malformed", status: 0 }],
	])("response %i", (index, expected) => {
		expect(seen(read(ANSWERS[index]!))).toMatchObject(expected);
	});

	test("the connection's end completes only a body without a length", () => {
		for (const [answer, state] of [
			[ANSWERS[10]!, "complete"],
			["HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok", "body"],
			["HTTP/1.1 200 OK\r\n", "head"],
		] as const) {
			const reader = read(answer);
			reader.end();
			expect(reader.state).toBe(state);
		}
	});

	test("the status is known with the status line, before the header lines end", () => {
		expect(read("HTTP/1.1 20").status).toBe(0);
		expect(read("HTTP/1.1 204 No Content\r\n").status).toBe(204);
		expect(read("HTTP/1.1 103 Early\r\n").status).toBe(0);
		expect(read("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 201\r\nx: y").status).toBe(201);
	});

	test("rejects bytes that can't become a response without waiting for more", () => {
		for (const bytes of [
			"garbage",
			"\0\0\x12\x04",
			"HTTP/1.1 2xx OK\r\n",
			"HTTP/2",
			`HTTP/1.1 200 ${"y".repeat(20_000)}`,
		])
			expect(read(bytes).state, bytes.slice(0, 20)).toBe("malformed");
	});
});

describe("bounds on what a receiver sends", () => {
	const interim = (line = "x: y") => `HTTP/1.1 103 Early\r\n${line}\r\n\r\n`;
	const final = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
	const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

	test("limits the number of interim responses", () => {
		const { interimResponses: most } = RECEIVERS;
		expect(read(interim().repeat(most), final).state).toBe("complete");
		expect(seen(read(interim().repeat(most + 1), final))).toMatchObject({ state: "malformed", status: 0 });
	});

	test("limits the bytes of heads, including those of interim responses", () => {
		const filled = (bytes: number) => {
			const head = (padding: string) => interim(`x: ${padding}`) + final;
			return head("y".repeat(bytes - head("").length));
		};
		expect(read(filled(RECEIVERS.headBytes)).state).toBe("complete");
		for (const parts of [[filled(RECEIVERS.headBytes + 1)], filled(RECEIVERS.headBytes + 1).split("")])
			expect(seen(read(...parts))).toMatchObject({ state: "malformed", status: 0 });
	});

	test.each([
		["extensions", (bytes: number) => `0;${"x".repeat(bytes - 6)}\r\n\r\n`],
		["trailers", (bytes: number) => `0\r\nx: ${"y".repeat(bytes - 10)}\r\n\r\n`],
		["trailers that never end", (bytes: number) => `0\r\n${"x: y\r\n".repeat(bytes / 6)}`],
	])("limits the bytes of chunked framing: %s", (_, framing) => {
		const { framingBytes: most } = RECEIVERS;
		const whole = framing(most);
		expect(read(chunked, whole).state).toBe(whole.endsWith("\r\n\r\n") ? "complete" : "body");
		for (const parts of [[framing(most + 6)], framing(most + 6).split("")])
			expect(seen(read(chunked, ...parts))).toMatchObject({ state: "cut", status: 200 });
	});

	test("reads one-byte chunks up to the bytes of framing, and keeps the first of them", () => {
		const ones = (count: number) => "1\r\nx\r\n".repeat(count);
		const most = Math.floor(RECEIVERS.framingBytes / 5);
		expect(seen(read(chunked, ones(1_024), "0\r\n\r\n"))).toMatchObject({ state: "complete", truncated: false });
		expect(seen(read(chunked, ones(1_025)))).toMatchObject({ state: "rest", body: "x".repeat(1_024) });
		expect(seen(read(chunked, ones(most)))).toMatchObject({ state: "rest", body: "x".repeat(1_024) });
		expect(seen(read(chunked, ones(most + 1)))).toMatchObject({ state: "cut", body: "x".repeat(1_024) });
	});

	/** Counts the bytes that are searched, copied or decoded while `run` runs. */
	function bytesTouched(run: () => void): number {
		let touched = 0;
		const concat = vi.spyOn(Buffer, "concat").mockImplementation((parts) => {
			const whole = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
			let at = 0;
			for (const part of parts) {
				whole.set(part, at);
				at += part.length;
			}
			touched += whole.length;
			return whole;
		});
		const { indexOf, copy, toString: decode } = Buffer.prototype;
		Object.assign(Buffer.prototype, {
			indexOf(this: Buffer, value: number, from = 0) {
				const at = indexOf.call(this, value, from);
				touched += (at < 0 ? this.length : at + 1) - from;
				return at;
			},
			copy(this: Buffer, ...args: Parameters<typeof copy>) {
				const copied = copy.apply(this, args);
				touched += copied;
				return copied;
			},
			toString(this: Buffer, ...args: Parameters<typeof decode>) {
				const text = decode.apply(this, args);
				touched += text.length;
				return text;
			},
		});
		try {
			run();
		} finally {
			Object.assign(Buffer.prototype, { indexOf, copy, toString: decode });
			concat.mockRestore();
		}
		return touched;
	}

	test.each([
		["a head", (bytes: number) => `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(bytes / 6)}`],
		["a status line", (bytes: number) => `HTTP/1.1 200 ${"x".repeat(bytes)}`],
		["a header line", (bytes: number) => `HTTP/1.1 200 OK\r\nx: ${"y".repeat(bytes)}`],
		["chunk extensions", (bytes: number) => `${chunked}1;${"x".repeat(bytes)}`],
	])("reading %s byte by byte takes linear work, not quadratic", (_, textOf) => {
		const text = textOf(15_000);
		const bytes = [...text].map((byte) => Buffer.from(byte, "latin1"));
		const reader = new ResponseParser();
		const touched = bytesTouched(() => {
			for (const byte of bytes) reader.push(byte);
		});
		expect(["head", "body"]).toContain(reader.state);
		expect(touched).toBeLessThan(6 * text.length);
	});

	// Each once took a third of a second, during which the service did nothing else.
	test.each([
		["white space before a control character", (spaces: string) => `x:${spaces}\x01`, "malformed"],
		["white space within Connection", (spaces: string) => `connection: a${spaces}b`, "complete"],
	])("a header line takes linear time: %s", (_, lineOf, state) => {
		const response = `HTTP/1.1 200 OK\r\n${lineOf(" ".repeat(16_000))}\r\ncontent-length: 0\r\n\r\n`;
		const states = new Set(Array.from({ length: 400 }, () => read(response).state));
		expect([...states]).toEqual([state]);
	});
});

describe("of a response that isn't 2xx", () => {
	const head = (status: number, ...lines: string[]) =>
		read([`HTTP/1.1 ${status}`, ...lines, "content-length: 0", "", ""].join("\r\n"));

	test("keeps the fields that explain it, and no others", () => {
		expect(
			head(
				302,
				"Location: https://example.com/login?next=%2Fhook",
				"Retry-After: 120",
				"Set-Cookie: session=secret",
				"Authorization: secret",
				"X-Signature: secret",
				"Server: nginx",
				"Via: 1.1 a",
				"Via: 1.1 b",
				"Server: second",
			).headers,
		).toEqual({
			location: "https://example.com/login?next=%2Fhook",
			"retry-after": "120",
			server: "nginx",
			via: "1.1 a, 1.1 b",
		});
		expect(head(500).headers).toBeNull();
		expect(head(200, "Server: nginx").headers).toBeNull();
		expect(head(299, "Server: nginx").headers).toBeNull();
		expect(head(300, "Server: nginx").headers).toEqual({ server: "nginx" });
	});

	test("not those of an interim response before it", () => {
		const interim = "HTTP/1.1 103 Early\r\nserver: early\r\n\r\n";
		expect(read(`${interim}HTTP/1.1 500\r\ncontent-length: 0\r\n\r\n`).headers).toBeNull();
	});

	test("hostile values are shown harmlessly, and without credentials", () => {
		const utf8 = (text: string) => Buffer.from(text).toString("latin1");
		expect(head(500, `Server: ${utf8("caf\u00e9 \u202egnp.exe")}`).headers).toEqual({ server: "café \ufffdgnp.exe" });
		expect(head(500, "Server: \xe9\x9b\ta").headers).toEqual({ server: "é\ufffd a" });
		for (const [given, kept] of [
			["https://user:secret@example.com/a@b", "https://example.com/a@b"],
			["//user@example.com/", "//example.com/"],
			["custom+app://user:secret@example.com/", "custom+app://example.com/"],
			["/users/@me", "/users/@me"],
		] as const)
			expect(head(301, `Location: ${given}`).headers).toEqual({ location: kept });
	});

	test("values and all fields together are bounded", () => {
		const long = "x".repeat(2_000);
		const { location, server, via, date } = head(
			301,
			`Location: ${long}`,
			`Server: ${long}`,
			`Via: ${long}`,
			"Date: now",
		).headers as Record<string, string>;
		expect(location).toBe(`${"x".repeat(RECEIVERS.headerValueBytes - 1)}…`);
		// There is no room for these, but still for a short one.
		expect([server, via, date]).toEqual([undefined, undefined, "now"]);
		const many = Array.from({ length: 500 }, (_, i) => `Via: 1.1 proxy-${i}`);
		expect(head(500, ...many).headers!.via!.length).toBeLessThanOrEqual(RECEIVERS.headerValueBytes);
	});

	// Each of them was once cleaned again together with all before it.
	test("very many fields of a name are no more work than others of the same size", () => {
		let cleaned = 0;
		const { replaceAll } = String.prototype;
		const spy = vi.spyOn(String.prototype, "replaceAll").mockImplementation(function (
			this: string,
			...args: Parameters<typeof replaceAll>
		) {
			cleaned += this.length;
			return replaceAll.apply(this, args);
		});
		const lines = Array.from({ length: 2_600 }, () => "via:a");
		const { headers } = head(500, ...lines);
		spy.mockRestore();
		expect(headers!.via).toMatch(/^(a, )+.*…$/);
		expect(cleaned).toBeLessThan(6 * lines.join("\r\n").length);
	});
});
