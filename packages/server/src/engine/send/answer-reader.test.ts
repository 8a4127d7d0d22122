import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnswerReader } from "./answer-reader.ts";

function read(...parts: (string | Buffer)[]): AnswerReader {
	const reader = new AnswerReader();
	for (const part of parts) reader.push(Buffer.from(part as string, "latin1"));
	return reader;
}

const seen = (reader: AnswerReader) => ({
	state: reader.state,
	status: reader.status,
	body: Buffer.from(reader.body).toString("latin1"),
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

test("an answer reads the same however its bytes come in pieces", () => {
	fc.assert(
		fc.property(fc.constantFrom(...ANSWERS), fc.array(fc.nat({ max: 300 })), (answer, cuts) => {
			const places = [0, ...cuts.filter((cut) => cut < answer.length).sort((a, b) => a - b), answer.length];
			const parts = places.slice(1).map((place, i) => answer.slice(places[i], place));
			expect(seen(read(...parts))).toEqual(seen(read(answer)));
			expect(seen(read(...answer))).toEqual(seen(read(answer)));
		}),
		{ numRuns: 500 },
	);
});

describe("where an answer ends and what becomes of the connection", () => {
	test.each([
		[0, { state: "complete", status: 200, body: "hello", persistent: true }],
		[1, { state: "complete", status: 204, body: "", persistent: true, idleSeconds: 5 }],
		[2, { state: "complete", status: 304, body: "", persistent: true }],
		[3, { state: "complete", status: 200, body: "ok", persistent: false }],
		[4, { state: "complete", status: 200, body: "ok", persistent: true }],
		[5, { state: "complete", status: 200, body: "ok", persistent: false }],
		[6, { state: "complete", status: 500, body: "", persistent: true }],
		[7, { state: "complete", status: 200, body: "abc0123456789", persistent: true }],
		[8, { state: "complete", status: 200, body: "abc", persistent: false }],
		[9, { state: "body", status: 200, body: "abc", persistent: false }],
		[10, { state: "body", status: 200, body: "until the end", persistent: false }],
		[11, { state: "cut", status: 200, body: "x".repeat(1_024) }],
		[12, { state: "cut", status: 200, body: "x".repeat(1_024) }],
		[13, { state: "complete", status: 200, body: "ok", persistent: false }],
		[14, { state: "malformed", status: 0 }],
		[15, { state: "malformed", status: 0 }],
		[16, { state: "malformed", status: 0 }],
		[17, { state: "malformed", status: 200 }],
		[18, { state: "malformed", status: 200, body: "a" }],
		[19, { state: "malformed", status: 0 }],
	])("answer %i", (index, expected) => {
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

	test("what cannot become an answer is not waited for", () => {
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
