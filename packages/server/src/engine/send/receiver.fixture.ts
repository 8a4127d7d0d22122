import { createHmac } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type Server, type TLSSocket, type TlsOptions } from "node:tls";
import { type SigningKey, secretDigest, signingKey } from "@posthorn/protocol";
import type { Shipment, Target } from "./outcome.ts";

/** A request as received. */
export interface Received {
	readonly head: string;
	readonly body: Buffer;
	/** Index of its connection, counted from 0. */
	readonly connection: number;
}

export type Answer = (socket: TLSSocket, request: Received) => void;

/** A TLS server on loopback that answers each request with whatever bytes the test writes. */
export class Receiver extends EventEmitter<{ request: [Received]; closed: [number] }> {
	readonly requests: Received[] = [];
	readonly sockets: TLSSocket[] = [];
	/** Number of TCP connections, including those that never completed a TLS handshake. */
	tcpConnections = 0;
	answer: Answer;
	readonly #server: Server;
	readonly #open = new Set<Socket>();

	constructor(credentials: TlsOptions, answer: Answer) {
		super();
		this.answer = answer;
		this.#server = createServer({ ALPNProtocols: ["http/1.1"], ...credentials }, (socket) => this.#serve(socket));
		this.#server.on("connection", (socket: Socket) => {
			socket.setNoDelay(true);
			this.tcpConnections++;
			this.#open.add(socket);
			socket.on("close", () => this.#open.delete(socket));
		});
	}

	/** Presents these certificates from now on. */
	replaceCredentials(credentials: TlsOptions): void {
		this.#server.setSecureContext(credentials);
	}

	async listen(): Promise<this> {
		this.#server.listen(0, "127.0.0.1");
		await once(this.#server, "listening");
		return this;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	url(path = "/hook", host = "localhost"): string {
		return `https://${host}:${this.port}${path}`;
	}

	get openConnections(): number {
		return this.#open.size;
	}

	/** Resolves once the sender has closed all connections. */
	async allClosed(): Promise<void> {
		await Promise.all([...this.#open].map((socket) => once(socket, "close")));
	}

	async close(): Promise<void> {
		if (!this.#server.listening) return;
		this.#server.close();
		for (const socket of this.#open) socket.destroy();
		await once(this.#server, "close");
	}

	/** Resets the TCP connection without a TLS close_notify. */
	reset(socket: TLSSocket): void {
		for (const tcp of this.#open) if (tcp.remotePort === socket.remotePort) tcp.resetAndDestroy();
	}

	#serve(socket: TLSSocket): void {
		const connection = this.sockets.push(socket) - 1;
		let bytes = Buffer.alloc(0);
		socket.on("error", () => socket.destroy());
		socket.on("close", () => this.emit("closed", connection));
		socket.on("data", (chunk: Buffer) => {
			bytes = Buffer.concat([bytes, chunk]);
			for (;;) {
				const end = bytes.indexOf("\r\n\r\n");
				if (end < 0) return;
				const head = bytes.toString("latin1", 0, end);
				const bodyEnd = end + 4 + Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
				if (bytes.length < bodyEnd) return;
				const request = { head, body: bytes.subarray(end + 4, bodyEnd), connection };
				bytes = bytes.subarray(bodyEnd);
				this.requests.push(request);
				this.emit("request", request);
				this.answer(socket, request);
			}
		});
	}
}

export function reply(text: string): Answer {
	return (socket) => socket.write(text);
}

/** A complete response with a length. */
export function answered(status: number, body: string | Uint8Array = "", headers = ""): Answer {
	const length = Buffer.byteLength(body);
	return (socket) => {
		socket.write(`HTTP/1.1 ${status} Text\r\ncontent-length: ${length}\r\n${headers}\r\n`);
		socket.write(body);
	};
}

export const SECRET = `whsec_${"s".repeat(64)}`;

export const keyOf = (secret: string): SigningKey => signingKey(secretDigest(secret));

/** The signature as a receiver computes it, from the whole secret. */
export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
	return createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
}

export function header(request: Received, name: string): string | undefined {
	return new RegExp(`^${name}: (.*)$`, "m").exec(request.head.replaceAll("\r", ""))?.[1];
}

export type MutableTarget = { -readonly [K in keyof Target]: Target[K] };

export function shipment(
	url: string,
	body = '{"id":"evt_1"}',
): Omit<Shipment, "target"> & { readonly target: MutableTarget } {
	return {
		eventId: "evt_01jd0000000000000000000000",
		eventType: "purchase.completed",
		body: Buffer.from(body),
		target: { projectId: "proj_1", url, key: keyOf(SECRET), active: true },
		mayLeave: () => true,
	};
}
