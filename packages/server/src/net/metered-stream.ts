import { connect as connectTcp, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { HANDSHAKES } from "../base/budgets.ts";
import { asError } from "./errors.ts";
import type { Handshake } from "./handshakes.ts";

/** What a metered connection needs apart from its address. */
export interface Metering {
	readonly handshake: Handshake;
	/** Resolves when it may process bytes. */
	turn(): Promise<void>;
}

/** Shared by all: its bytes are copied before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(HANDSHAKES.chunkBytes);

/**
 * A TCP connection for TLS to run over. Until the handshake has ended, it waits for a turn before it hands over each
 * chunk of the receiver's bytes, and counts what that takes: a stream in JavaScript processes them at once, within
 * `push`. A socket of Node's would read and process them without asking.
 */
export class MeteredStream extends Duplex {
	readonly tcp: Socket;
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
