import { createHmac } from "node:crypto";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Authority, type Credentials, createAuthority } from "../tls/certificates.ts";
import { startFastReceiver } from "./fast-receiver.ts";
import { forkFastReceiver } from "./fast-receiver-fork.ts";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const open: { close(): Promise<void> }[] = [];
let authority: Authority;
let credentials: Credentials;

beforeAll(async () => {
	authority = await createAuthority();
	credentials = await authority.issue();
});
afterEach(async () => {
	await Promise.all(open.splice(0).map((receiver) => receiver.close()));
});

async function dial(port: number): Promise<TLSSocket> {
	const socket = connect({ port, host: "127.0.0.1", ca: authority.pem });
	await once(socket, "secureConnect");
	return socket;
}

/** Sends the chunks one after another, each in its own TLS record, and reads that many responses. */
async function exchange(port: number, chunks: readonly (string | Buffer)[], answers: number): Promise<void> {
	const socket = await dial(port);
	let text = "";
	const answered = new Promise<void>((resolve) => {
		socket.on("data", (chunk: Buffer) => {
			text += chunk.toString();
			if (text.length >= answers * ANSWER.length) resolve();
		});
	});
	for (const chunk of chunks) await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
	await answered;
	expect(text).toBe(ANSWER.repeat(answers));
	socket.destroy();
}

function event(n: number, at = ""): string {
	return `{"id":"evt_${n}","type":"purchase.completed","data":{"n":${n}${at},"order_id":"ord"}}`;
}

function post(path: string, body: string, headers = ""): string {
	return `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

test("counts, order and duplicates by path, with requests split and coalesced", async () => {
	const receiver = await startFastReceiver(credentials);
	open.push(receiver);
	const bytes = Buffer.from([0, 1, 3, 2, 3, 4].map((n) => post("/w1", event(n))).join(""));
	const pieces = Array.from({ length: Math.ceil(bytes.length / 37) }, (_, i) => bytes.subarray(i * 37, (i + 1) * 37));
	await exchange(receiver.port, pieces, 6);
	await exchange(receiver.port, [Array.from({ length: 200 }, (_, n) => post("/w2", event(n))).join("")], 200);
	await exchange(receiver.port, [post("/w3", "{}")], 1);
	const stats = receiver.stats();
	expect(stats.paths).toEqual({
		"/w1": { count: 6, last: 4, out_of_order: 1, duplicates: 1, distinct: 5 },
		"/w2": { count: 200, last: 199, out_of_order: 0, duplicates: 0, distinct: 200 },
	});
	expect(stats).toMatchObject({ count: 207, distinct: 205, out_of_order: 1, duplicates: 1, unnumbered: 1, errors: [] });
	expect(stats.connections).toBe(3);
	receiver.reset();
	expect(receiver.stats()).toMatchObject({ count: 0, distinct: 0, paths: {}, first_at: Number.NaN });
});

test("latencies come from the events' own time, the newest are kept", async () => {
	const receiver = await startFastReceiver({ ...credentials, latencies: 2 });
	open.push(receiver);
	const before = performance.timeOrigin + performance.now();
	for (const n of [1, 2, 3])
		await exchange(receiver.port, [post("/w1", event(n, `,"at":${before - n * 1_000_000}`))], 1);
	const { latencies, first_at, last_at } = receiver.stats();
	expect(latencies.toSorted().map((ms) => Math.floor(ms / 1_000_000))).toEqual(new Float64Array([2, 3]));
	expect(first_at).toBeGreaterThanOrEqual(before);
	expect(last_at).toBeGreaterThan(first_at);
});

test("checks a sample of the signatures on paths with a known secret", async () => {
	const receiver = await startFastReceiver({ ...credentials, verifyEvery: 2 });
	open.push(receiver);
	receiver.setSecret("/w1", "whsec_right");
	const signed = (n: number, secret: string): string => {
		const timestamp = Math.floor(Date.now() / 1000);
		const signature = createHmac("sha256", secret)
			.update(`${timestamp}.${event(n)}`)
			.digest("hex");
		return `X-Service-Timestamp: ${timestamp}\r\nX-Service-Signature: ${signature}\r\n`;
	};
	const right = [0, 1, 2, 3].map((n) => post("/w1", event(n), signed(n, "whsec_right")));
	const wrong = [4, 5].map((n) => post("/w1", event(n), signed(n, "whsec_wrong")));
	const unknown = [0, 1].map((n) => post("/w2", event(n), signed(n, "whsec_right")));
	await exchange(receiver.port, [...right, ...wrong, ...unknown], 8);
	expect(receiver.stats()).toMatchObject({ verified: 2, forged: 1 });
});

test("breaks the connection after an unreadable request, and reports it", async () => {
	const receiver = await startFastReceiver(credentials);
	open.push(receiver);
	const socket = await dial(receiver.port);
	const closed = once(socket, "close");
	socket
		.resume()
		.on("error", () => {})
		.write("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n");
	await closed;
	expect(receiver.stats().errors).toEqual([expect.stringContaining("content-length")]);
});

test("accepts the same commands in its own process", async () => {
	const receiver = await forkFastReceiver({ ...credentials, verifyEvery: 1 });
	open.push(receiver);
	await receiver.setSecret("/w1", "whsec_right");
	await exchange(receiver.port, [post("/w1", event(0, `,"at":${Date.now()}`))], 1);
	const stats = await receiver.stats();
	expect(stats).toMatchObject({ count: 1, distinct: 1, forged: 1, errors: [] });
	expect(stats.latencies).toHaveLength(1);
	expect(stats.cpu_us).toBeGreaterThan(0);
	await receiver.reset();
	expect(await receiver.stats()).toMatchObject({ count: 0, latencies: [] });
});
