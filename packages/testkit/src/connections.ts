import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

/** The TCP socket beneath each TLS socket, because only the TCP socket can send an RST. */
const beneath = new WeakMap<Socket, Socket>();

/** The connections that a server has accepted: numbers them, can break them, and closes them with the server. */
export class Connections {
	readonly #server: Server;
	readonly #open = new Map<string, Socket>();
	readonly #numbers = new WeakMap<Socket, number>();
	#accepted = 0;

	/** @param secured whether the server speaks TLS: then it counts completed handshakes rather than mere connections */
	constructor(server: Server, secured: boolean) {
		this.#server = server;
		server.on("connection", (socket: Socket) => {
			const peer = peerOf(socket);
			this.#open.set(peer, socket);
			socket.once("close", () => {
				if (this.#open.get(peer) === socket) this.#open.delete(peer);
			});
			if (!secured) this.#number(socket);
		});
		if (secured)
			server.on("secureConnection", (socket: Socket) => {
				const raw = this.#open.get(peerOf(socket));
				if (raw) beneath.set(socket, raw);
				this.#number(socket);
			});
	}

	/** Connections accepted so far, including closed ones. */
	get accepted(): number {
		return this.#accepted;
	}

	/** Connections open now. */
	get openNow(): number {
		return this.#open.size;
	}

	/** A connection's number, from 1. */
	numberOf(socket: Socket): number {
		return this.#numbers.get(socket) ?? 0;
	}

	/** Listens. @returns the port */
	async listen(port: number, host: string): Promise<number> {
		this.#server.listen(port, host);
		await once(this.#server, "listening");
		return (this.#server.address() as AddressInfo).port;
	}

	/** Breaks all open connections and stops listening. Idempotent. */
	async close(): Promise<void> {
		if (!this.#server.listening) return;
		const closed = once(this.#server, "close");
		this.#server.close();
		for (const socket of this.#open.values()) socket.destroy();
		await closed;
	}

	#number(socket: Socket): void {
		this.#accepted++;
		this.#numbers.set(socket, this.#accepted);
	}
}

/** Resets a plain or TLS connection with a TCP RST (RFC 9293, 3.5.2). */
export function reset(socket: Socket): void {
	(beneath.get(socket) ?? socket).resetAndDestroy();
}

const peerOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;
