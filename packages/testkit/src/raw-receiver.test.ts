import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect } from "node:tls";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Behaviour, drippingBody, drippingHeaders, hostile, plain } from "./hostile.ts";
import { startPlainTcp, startRawReceiver } from "./raw-receiver.ts";
import { type Authority, createAuthority } from "./tls/certificates.ts";

const REQUEST = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\nbody";
const open: { close(): Promise<void> }[] = [];
let authority: Authority;

beforeAll(async () => {
	authority = await createAuthority();
});
afterEach(async () => {
	await Promise.all(open.splice(0).map((receiver) => receiver.close()));
});

/** Bytes read until `enough` or the connection's end, and how it ended. */
async function read(socket: Socket, enough: (text: string) => boolean): Promise<{ text: string; end: string }> {
	return await new Promise((resolve) => {
		let text = "";
		const end = (how: string): void => {
			resolve({ text, end: how });
			socket.destroy();
		};
		socket.on("data", (chunk: Buffer) => {
			text += chunk.toString("latin1");
			if (enough(text)) end("open");
		});
		socket.on("end", () => end("end"));
		socket.on("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
	});
}

async function meet(behaviour: Behaviour, enough: (text: string) => boolean = () => false, request = REQUEST) {
	const receiver = await startRawReceiver({ authority, onConnection: behaviour });
	open.push(receiver);
	const socket = connect({ port: receiver.port, host: "127.0.0.1", ca: authority.pem });
	const answer = read(socket, enough);
	socket.on("secureConnect", () => void socket.write(request));
	return await answer;
}

test("drips arrive in many pieces and never end", async () => {
	const headers = await meet(drippingHeaders(1), (text) => text.includes("x-drip: drop\r\nx-drip"));
	expect(headers.text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
	expect(headers.text).not.toContain("\r\n\r\n");
	const body = await meet(drippingBody(1), (text) => text.endsWith("dropdrop"));
	expect(body.text).toContain("\r\n\r\ndropdrop");
});

test("floods exceed any buffer", async () => {
	const headers = await meet(hostile.endlessHeaders, (text) => text.length > 3_000_000);
	expect(headers.text).not.toContain("\r\n\r\n");
	expect(headers.end).toBe("open");
	expect((await meet(hostile.endlessBody, (text) => text.length > 3_000_000)).end).toBe("open");
	expect((await meet(hostile.endlessInformational, (text) => text.length > 100_000)).end).toBe("open");
});

test.for<keyof typeof hostile>(["reset", "resetUnread", "okThenReset"])("%s ends in an RST", async (name) => {
	expect((await meet(hostile[name])).end).toBe("ECONNRESET");
});

test("closes cleanly without a response", async () => {
	expect(await meet(hostile.closeUnanswered)).toEqual({ text: "", end: "end" });
});

test.for<[keyof typeof hostile, string, "end" | "open"]>([
	["garbage", "this is not HTTP", "end"],
	["http09", "<html>ok</html>", "end"],
	["bodyShorterThanLength", "short", "end"],
	["bodyLongerThanLength", "500 Smuggled", "open"],
	["negativeLength", "content-length: -1", "open"],
	["twoLengths", "content-length: 5\r\n\r\nok", "open"],
	["chunkedGarbage", "not a chunk", "open"],
	["okThenStall", "part", "open"],
	["informationalFirst", "103 Early Hints", "open"],
	["switchProtocols", "101 Switching", "open"],
	["negativeStatus", "HTTP/1.1 -200 OK", "open"],
	["hugeStatus", "HTTP/1.1 20000", "open"],
	["redirectInside", "http://169.254.169.254/", "open"],
	["hugeHeader", `${"a".repeat(1_048_576)}\r\ncontent-length: 2`, "open"],
])("%s sends what it says", async ([name, part, end]) => {
	const answer = await meet(hostile[name], (text) => end === "open" && text.includes(part));
	expect(answer.text).toContain(part);
	expect(answer.end).toBe(end);
});

test("the gzip bomb is small on the wire and large inflated", async () => {
	const length = (text: string): number => Number(/content-length: (\d+)/.exec(text)?.[1]);
	const bodyOf = (text: string): Buffer => Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1");
	const { text } = await meet(
		hostile.gzipBomb,
		(text) => text.includes("\r\n\r\n") && bodyOf(text).length === length(text),
	);
	expect(bodyOf(text).length).toBeLessThan(100_000);
	expect(gunzipSync(bodyOf(text)).length).toBe(33_554_432);
});

test.for<keyof typeof hostile>(["hang", "hangUnread"])("%s sends nothing until it is closed", async (name) => {
	const { promise: accepted, resolve: accept } = Promise.withResolvers<void>();
	const receiver = await startRawReceiver({
		authority,
		onConnection(socket) {
			accept();
			return hostile[name](socket);
		},
	});
	const socket = connect({ port: receiver.port, host: "127.0.0.1", ca: authority.pem });
	const answer = read(socket, () => false);
	await once(socket, "secureConnect");
	await new Promise<void>((resolve) => socket.write(REQUEST, () => resolve()));
	await accepted;
	expect(receiver.connections).toBe(1);
	await receiver.close();
	expect((await answer).text).toBe("");
});

test("plain TCP: a TLS client gets garbage, HTTP or silence", async () => {
	const heard: number[] = [];
	const receiver = await startPlainTcp((socket, n) => {
		heard.push(n);
		return (n === 1 ? plain.garbage : n === 2 ? plain.http : plain.silent)(socket);
	});
	for (const part of ["not TLS", "HTTP/1.1 200 OK"]) {
		const answer = await read(connectTcp(receiver.port, "127.0.0.1"), () => false);
		expect(answer.text).toContain(part);
	}
	const socket = connectTcp(receiver.port, "127.0.0.1").on("error", () => {});
	await once(socket, "connect");
	const closed = once(socket, "close");
	await receiver.close();
	await closed;
	expect(socket.bytesRead).toBe(0);
	expect(heard.slice(0, 2)).toEqual([1, 2]);
});

test("a behavior that throws rejects close()", async () => {
	const receiver = await startRawReceiver({
		authority,
		onConnection: (socket) => {
			socket.destroy();
			throw new Error("broken behavior");
		},
	});
	const socket = connect({ port: receiver.port, host: "127.0.0.1", ca: authority.pem });
	await read(socket, () => false);
	await expect(receiver.close()).rejects.toMatchObject({ cause: { message: "broken behavior" } });
});
