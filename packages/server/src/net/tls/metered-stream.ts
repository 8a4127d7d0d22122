import { connect as connectTcp, type Socket as TcpSocket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { HANDSHAKES } from "../../base/budgets.ts";
import { asError } from "../errors.ts";
import type { ConnectOptions, Socket } from "../socket.ts";
import type { Metering } from "./handshake.ts";

/** Shared by all: its bytes are copied before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(HANDSHAKES.chunkBytes);

/**
 * A TCP connection for TLS to run over. Until the handshake has ended, it waits for a turn before it hands over each
 * chunk of the receiver's bytes, and counts what that takes: a stream in JavaScript processes them at once, within
 * `push`. A socket of Node's would read and process them without asking.
 */
class MeteredStream extends Duplex {
	readonly tcp: TcpSocket;
	readonly #metering: Metering;
	/** Whether a chunk waits for its turn; the next one must not overtake it. */
	#holdsChunk = false;

	constructor(host: string, port: number, metering: Metering) {
		super({ allowHalfOpen: false });
		this.#metering = metering;
		const onread = { buffer: READ_BUFFER, callback: (length: number) => this.#received(length) };
		this.tcp = connectTcp({ host, port, noDelay: true, onread });
		this.tcp.on("error", (error) => this.destroy(error));
		this.tcp.on("end", () => this.push(null));
		this.tcp.on("close", () => this.destroy());
	}

	#received(length: number): boolean {
		const chunk = Buffer.from(READ_BUFFER.subarray(0, length));
		if (this.#metering.handshake.isOver) return this.push(chunk);
		this.#holdsChunk = true;
		this.#processInTurn(chunk).catch((error) => this.destroy(asError(error)));
		return false;
	}

	async #processInTurn(chunk: Buffer): Promise<void> {
		await this.#metering.turn();
		if (this.destroyed) return;
		this.#holdsChunk = false;
		const failure = this.#metering.handshake.process(chunk.length, () => this.push(chunk));
		if (failure === null) this.tcp.resume();
		else this.destroy(failure);
	}

	override _read(): void {
		if (!this.#holdsChunk) this.tcp.resume();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
		this.tcp.write(chunk, callback);
	}

	override _final(callback: () => void): void {
		this.tcp.end(callback);
	}

	override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
		this.tcp.destroy();
		callback(error);
	}
}

/** Starts a TLS connection over a {@link MeteredStream}. */
export function connectMetered(options: ConnectOptions, metering: Metering): Socket {
	const { port, onread, ...tlsOptions } = options;
	// The host stays among the options, because the certificate is checked against it if it's an address in the URL.
	const stream = new MeteredStream(options.host, port, metering);
	let socket: ReturnType<typeof connectTls> & Socket;
	try {
		socket = connectTls({ ...tlsOptions, socket: stream }) as typeof socket;
	} catch (error) {
		stream.destroy();
		// OpenSSL rejects damaged sessions.
		if (options.session === undefined) throw error;
		return connectMetered({ ...options, session: undefined }, metering);
	}
	stream.tcp.once("connect", () => socket.emit("connect"));
	// Node itself reads into a buffer only from native sockets. No chunk is larger than a TLS record, nor than the buffer.
	if (onread)
		socket.on("data", (chunk: Buffer) => {
			const buffer = onread.buffer as Uint8Array;
			buffer.set(chunk);
			if (!onread.callback(chunk.length, buffer)) socket.pause();
		});
	return socket;
}
