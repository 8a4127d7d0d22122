import { createCipheriv, createHmac } from "node:crypto";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { Credentials } from "./certificates.ts";

/** Records that cost the peer work and carry no data. Node's own TLS sends neither. */
export type TlsFlood =
	/** TLS 1.3: the sender's next key (RFC 8446, 4.6.3). */
	| "key updates"
	/** TLS 1.2: a request to start another handshake (RFC 5246, 7.4.1.1). */
	| "hello requests";

const APPLICATION_DATA = 23;
const HANDSHAKE = 22;
const CHANGE_CIPHER_SPEC = 20;
const TAG_BYTES = 16;
/** The type of a handshake message and the three bytes of its length. */
const KEY_UPDATE = [24, 0, 0, 1, 0];
const HELLO_REQUEST = [0, 0, 0, 0];

/** A server's side of a connection, which floods its client with records on demand. */
export interface FloodingSocket {
	readonly socket: TLSSocket;
	/** Writes TLS records. Afterwards nothing else can be written. */
	flood(records: number): void;
}

/** Serves TLS on an accepted connection, with AES-128-GCM and SHA-256. The credentials' key is on a curve. */
export function serveTlsFlood(raw: Socket, credentials: Credentials, kind: TlsFlood): FloodingSocket {
	const tap = new Tap(raw);
	const isNew = kind === "key updates";
	const socket = new TLSSocket(tap, {
		isServer: true,
		...credentials,
		minVersion: isNew ? "TLSv1.3" : "TLSv1.2",
		maxVersion: isNew ? "TLSv1.3" : "TLSv1.2",
		ciphers: isNew ? "TLS_AES_128_GCM_SHA256" : "ECDHE-ECDSA-AES128-GCM-SHA256",
	});
	let secret: Buffer = Buffer.alloc(0);
	socket.on("keylog", (line: Buffer) => {
		const [label, , value = ""] = line.toString().trim().split(" ");
		if (label === "SERVER_TRAFFIC_SECRET_0" || label === "CLIENT_RANDOM") secret = Buffer.from(value, "hex");
	});
	const flood = (records: number): void => {
		const bytes = isNew ? keyUpdates(secret, tap.sent, records) : helloRequests(secret, tap, records);
		raw.write(bytes);
	};
	return { socket, flood };
}

/** Passes bytes through, and counts the records that were sent with the connection's final keys. */
class Tap extends Duplex {
	sent = 0;
	clientRandom: Buffer = Buffer.alloc(0);
	serverRandom: Buffer = Buffer.alloc(0);
	readonly #raw: Socket;
	#flights = 0;
	#encrypts = false;

	constructor(raw: Socket) {
		super();
		this.#raw = raw;
		raw.on("data", (chunk: Buffer) => {
			if (this.#flights++ === 0) this.clientRandom = randomOf(chunk);
			this.push(chunk);
		});
		raw.on("error", () => {}); // "close" follows
		raw.on("close", () => this.destroy());
	}

	override _read(): void {}

	override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
		if (this.serverRandom.length === 0) this.serverRandom = randomOf(chunk);
		for (let at = 0; at < chunk.length; at += 5 + chunk.readUInt16BE(at + 3)) {
			const type = chunk[at];
			// TLS 1.3: application records after the client's second flight. TLS 1.2: all after the key change.
			if (type === APPLICATION_DATA ? this.#flights > 1 : type === HANDSHAKE && this.#encrypts) this.sent++;
			else if (type === CHANGE_CIPHER_SPEC) this.#encrypts = true;
		}
		this.#raw.write(chunk, callback);
	}

	override _final(callback: () => void): void {
		this.#raw.end(callback);
	}

	override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
		this.#raw.destroy();
		callback(error);
	}
}

/** The random bytes of a hello, at the start of a connection's first record. */
const randomOf = (record: Buffer): Buffer => Buffer.from(record.subarray(11, 43));

function keyUpdates(firstSecret: Buffer, sent: number, count: number): Buffer {
	const message = Buffer.from([...KEY_UPDATE, HANDSHAKE]);
	const header = Buffer.from([APPLICATION_DATA, 3, 3, 0, message.length + TAG_BYTES]);
	const records: Buffer[] = [];
	let secret = firstSecret;
	for (let n = 0; n < count; n++) {
		const nonce = expandLabel(secret, "iv", 12);
		// Each update starts a new key, whose records are counted from 0.
		if (n === 0) nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ sent) >>> 0, 8);
		records.push(header, seal(expandLabel(secret, "key", 16), nonce, header, message));
		secret = expandLabel(secret, "traffic upd", 32);
	}
	return Buffer.concat(records);
}

function helloRequests(master: Buffer, { sent, clientRandom, serverRandom }: Tap, count: number): Buffer {
	const message = Buffer.from(HELLO_REQUEST);
	const header = Buffer.from([HANDSHAKE, 3, 3, 0, 8 + message.length + TAG_BYTES]);
	const keys = expandMaster(master, Buffer.concat([serverRandom, clientRandom]));
	const records: Buffer[] = [];
	for (let n = sent; n < sent + count; n++) {
		const number = Buffer.alloc(8);
		number.writeUInt32BE(n, 4);
		const nonce = Buffer.concat([keys.subarray(36, 40), number]);
		const additional = Buffer.concat([number, Buffer.from([HANDSHAKE, 3, 3, 0, message.length])]);
		records.push(header, number, seal(keys.subarray(16, 32), nonce, additional, message));
	}
	return Buffer.concat(records);
}

function seal(key: Buffer, nonce: Buffer, additional: Buffer, message: Buffer): Buffer {
	const cipher = createCipheriv("aes-128-gcm", key, nonce);
	cipher.setAAD(additional);
	return Buffer.concat([cipher.update(message), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label (RFC 8446, 7.1) with an empty context, for at most one hash. */
function expandLabel(secret: Buffer, label: string, length: number): Buffer {
	const full = Buffer.from(`tls13 ${label}`);
	const info = Buffer.concat([Buffer.from([0, length, full.length]), full, Buffer.from([0, 1])]);
	return Buffer.from(createHmac("sha256", secret).update(info).digest().subarray(0, length));
}

/** The keys and salts of both sides (RFC 5246, 6.3): 40 bytes. */
function expandMaster(master: Buffer, randoms: Buffer): Buffer {
	const hmac = (bytes: Buffer): Buffer => createHmac("sha256", master).update(bytes).digest();
	const seed = Buffer.concat([Buffer.from("key expansion"), randoms]);
	const first = hmac(seed);
	return Buffer.concat([hmac(Buffer.concat([first, seed])), hmac(Buffer.concat([hmac(first), seed]))]).subarray(0, 40);
}
