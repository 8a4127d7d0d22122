import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { reset } from "./connections.ts";
import { drip, flood, readRequest } from "./http-bytes.ts";

/** How to treat a connection. */
export type Behaviour = (socket: Socket) => void | Promise<void>;

const DRIP_MS = 20;
const MIB = 1_048_576;
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
/** The inflated size of a body that is small on the wire, bytes. */
const BOMB_BYTES = 32 * MIB;

/** Responds with exactly these bytes once the request has been read; the connection stays open. */
export const answering = (bytes: string | Uint8Array): Behaviour => afterRequest((socket) => void socket.write(bytes));

/** The same, then ends the connection properly. */
export const answeringThenClosing = (bytes: string | Uint8Array): Behaviour =>
	afterRequest((socket) => void socket.end(bytes));

/** Sends the status line and headers that never end, a byte every `everyMs`. */
export const drippingHeaders = (everyMs = DRIP_MS): Behaviour =>
	afterRequest(async (socket) => {
		await drip(socket, HEAD, everyMs, false);
		await drip(socket, "x-drip: drop\r\n", everyMs, true);
	});

/** Sends complete headers, then an endless body, a byte every `everyMs`. */
export const drippingBody = (everyMs = DRIP_MS): Behaviour =>
	afterRequest(async (socket) => {
		socket.write(`${HEAD}content-length: ${MIB}\r\n\r\n`);
		await drip(socket, "drop", everyMs, true);
	});

/** Ways in which a receiver can misbehave, by name. By default, each reads the request first. */
export const hostile = {
	dripHeaders: drippingHeaders(),
	dripBody: drippingBody(),
	hang: afterRequest(() => {}),
	hangUnread: (socket: Socket): void => void socket.pause(),
	reset: afterRequest(reset),
	resetUnread: reset,
	closeUnanswered: afterRequest((socket) => void socket.end()),
	endlessHeaders: afterRequest(async (socket) => {
		socket.write(HEAD);
		await flood(socket, `x-more: ${"a".repeat(1000)}\r\n`);
	}),
	endlessBody: afterRequest(async (socket) => {
		socket.write(`${HEAD}\r\n`);
		await flood(socket, "a".repeat(16_384));
	}),
	endlessInformational: afterRequest((socket) => flood(socket, "HTTP/1.1 102 Processing\r\n\r\n")),
	garbage: answeringThenClosing("\u0000\u0001\u0002 this is not HTTP \r\n\r\n"),
	http09: answeringThenClosing("<html>ok</html>\n"),
	bodyShorterThanLength: answeringThenClosing(`${HEAD}content-length: 100\r\n\r\nshort`),
	bodyLongerThanLength: answering(`${HEAD}content-length: 2\r\n\r\nokHTTP/1.1 500 Smuggled\r\n\r\n`),
	negativeLength: answering(`${HEAD}content-length: -1\r\n\r\nok`),
	twoLengths: answering(`${HEAD}content-length: 2\r\ncontent-length: 5\r\n\r\nok`),
	chunkedGarbage: answering(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\nnot a chunk\r\n`),
	okThenReset: afterRequest(async (socket) => {
		await written(socket, `${HEAD}content-length: 1000\r\n\r\npart`);
		reset(socket);
	}),
	okThenStall: answering(`${HEAD}content-length: 1000\r\n\r\npart`),
	informationalFirst: answering(
		`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n${HEAD}content-length: 2\r\n\r\nok`,
	),
	switchProtocols: answering("HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n"),
	gzipBomb: afterRequest((socket) => {
		const bomb = gzipBomb();
		socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
		socket.write(bomb);
	}),
	hugeHeader: answering(`${HEAD}x-huge: ${"a".repeat(MIB)}\r\ncontent-length: 2\r\n\r\nok`),
	negativeStatus: answering("HTTP/1.1 -200 OK\r\ncontent-length: 2\r\n\r\nok"),
	hugeStatus: answering("HTTP/1.1 20000 OK\r\ncontent-length: 2\r\n\r\nok"),
	redirectInside: answering("HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"),
} as const satisfies Readonly<Record<string, Behaviour>>;

/** Ways in which a listener may not even speak TLS. */
export const plain = {
	silent: (socket: Socket): void => void socket.resume(),
	garbage: (socket: Socket): void => void socket.end("\u0000\u0001\u0002 this is not TLS\r\n"),
	http: (socket: Socket): void => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"),
} as const satisfies Readonly<Record<string, Behaviour>>;

function afterRequest(behave: Behaviour): Behaviour {
	return async (socket) => {
		if ((await readRequest(socket)) === null) return;
		socket.resume(); // further data is read and dropped
		await behave(socket);
	};
}

async function written(socket: Socket, text: string): Promise<void> {
	await new Promise<void>((resolve) => socket.write(text, () => resolve()));
}

let bomb: Buffer | undefined;

function gzipBomb(): Buffer {
	bomb ??= gzipSync(Buffer.alloc(BOMB_BYTES));
	return bomb;
}
