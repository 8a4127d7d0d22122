import { connect as connectTcp, type Socket as TcpSocket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { HANDSHAKES } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { Bag, type Baggable } from "../../base/collections.ts";
import { asError, type SendFailure } from "../errors.ts";
import type { ConnectOptions, Socket } from "../socket.ts";

/** One handshake, from the request for it until it has ended. */
export class Handshake implements Baggable {
	bagIndex = -1;
	readonly project: ProjectHandshakes;
	readonly host: string;
	readonly user: HandshakeUser;
	/** Whether its host had proven cheap when it began to wait. */
	isProven = false;
	isMetered = false;
	isCostly = false;
	/** What it took so far, if it is metered, including earlier starts. */
	bytes = 0;
	cpuMs = 0;
	/** Why the attempt fails, if it took too much. */
	failure: SendFailure | null = null;
	#chargedMs = 0;
	/** When the chunk being processed began, by the thread's CPU time and by the clock; null between chunks. */
	#began: { readonly cpuMs: number; readonly at: number } | null = null;
	#isOver = false;
	readonly #table: HandshakeTable;
	readonly #meter: HandshakeMeter;

	constructor(
		table: HandshakeTable,
		meter: HandshakeMeter,
		project: ProjectHandshakes,
		host: string,
		user: HandshakeUser,
	) {
		this.#table = table;
		this.#meter = meter;
		this.project = project;
		this.host = host;
		this.user = user;
	}

	/** Whether it waits for permission to connect. */
	get isWaiting(): boolean {
		return !this.#isOver && !this.project.running.has(this);
	}

	get isOver(): boolean {
		return this.#isOver;
	}

	/** Hands bytes over with `work`, and counts what that takes. @returns why the attempt fails; null if it continues */
	process(bytes: number, work: () => void): SendFailure | null {
		this.bytes += bytes;
		if (this.bytes > HANDSHAKES.bytes) return this.#charge(HANDSHAKES.longChainMs);
		this.#began = { cpuMs: this.#meter.readCpuMs(), at: this.#meter.clock.elapsed() };
		work();
		return this.#count();
	}

	/** It has succeeded; may be called while it processes bytes. @returns why the attempt fails nevertheless, or null */
	succeeded(): SendFailure | null {
		const failure = this.#count();
		this.#end(this.isMetered && !this.isCostly ? "cheap" : null);
		return failure;
	}

	/** The receiver floods the connection, during or after the handshake. That counts as a costly handshake. */
	flooded(): void {
		this.#table.charge(this, HANDSHAKES.floodMs);
	}

	/** It was refused or broke off. */
	failed(): void {
		this.#end("failed");
	}

	/** It is not needed any more, or there is no connection. */
	cancel(): void {
		this.#end(null);
	}

	#count(): SendFailure | null {
		if (this.#began === null) return null;
		const { cpuMs, at } = this.#began;
		this.#began = null;
		// The system counts CPU time in steps of up to 10 ms. Elapsed time is exact, but includes other processes.
		this.cpuMs += Math.min(this.#meter.readCpuMs() - cpuMs, this.#meter.clock.elapsed() - at);
		if (this.cpuMs <= HANDSHAKES.cpuMs) return null;
		const more = this.cpuMs - this.#chargedMs;
		this.#chargedMs = this.cpuMs;
		return this.#charge(more);
	}

	#charge(cpuMs: number): SendFailure | null {
		this.failure = this.#table.charge(this, cpuMs);
		return this.failure;
	}

	#end(proof: Proof): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#table.ended(this, proof);
	}
}

/** Handshakes of one project, and what it pays for costly ones. Times are those of the monotonic clock. */
export class ProjectHandshakes {
	readonly id: string;
	readonly waiting = { proven: new Set<Handshake>(), unproven: new Set<Handshake>() };
	readonly running = new Bag<Handshake>();
	runningUnproven = 0;
	runningUnmetered = 0;
	restUntil = 0;
	meteredUntil = 0;
	timer: Timer | null = null;

	constructor(id: string) {
		this.id = id;
	}

	get isEmpty(): boolean {
		return this.running.size + this.waiting.proven.size + this.waiting.unproven.size === 0;
	}

	queueOf({ isProven }: Handshake): Set<Handshake> {
		return isProven ? this.waiting.proven : this.waiting.unproven;
	}

	run(handshake: Handshake): void {
		this.queueOf(handshake).delete(handshake);
		this.running.add(handshake);
		if (!handshake.isProven) this.runningUnproven++;
		if (!handshake.isMetered) this.runningUnmetered++;
	}

	/** @returns whether it was running */
	remove(handshake: Handshake): boolean {
		this.queueOf(handshake).delete(handshake);
		if (!this.running.delete(handshake)) return false;
		if (!handshake.isProven) this.runningUnproven--;
		if (!handshake.isMetered) this.runningUnmetered--;
		return true;
	}

	charge(cpuMs: number, now: number): void {
		const after = (until: number, factor: number): number =>
			Math.min(Math.max(until, now) + factor * cpuMs, now + HANDSHAKES.longestMs);
		this.restUntil = after(this.restUntil, HANDSHAKES.restFactor);
		this.meteredUntil = after(this.meteredUntil, HANDSHAKES.meteredFactor);
	}
}

export interface HandshakeUser {
	/** It may connect now. */
	admitted(): void;
	/** It must give up the connection, and will be admitted again. */
	stopped(): void;
}

/** What a metered connection needs apart from its address. */
export interface Metering {
	readonly handshake: Handshake;
	/** Resolves when it may process bytes. */
	turn(): Promise<void>;
}

/** Measures what handshakes take. */
export interface HandshakeMeter {
	readonly clock: Clock;
	/** CPU time of this thread, milliseconds. */
	readCpuMs(): number;
}

/** Notified of what a handshake takes, and how it ends. */
export interface HandshakeTable {
	/** It is costly. @returns why the attempt fails; null if it may continue */
	charge(handshake: Handshake, cpuMs: number): SendFailure | null;
	ended(handshake: Handshake, proof: Proof): void;
}

/** What a handshake that has ended says about its host: null if nothing. */
export type Proof = "cheap" | "failed" | null;

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
