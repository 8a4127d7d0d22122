import { EventEmitter } from "node:events";
import type { Timer } from "../../packages/server/src/base/clock.ts";
import type { ConnectOptions, Socket } from "../../packages/server/src/net/socket.ts";
import type { Line } from "./line.ts";
import type { SeenRequest } from "./types.ts";

/** What arrives at a node on a connection. */
export type Arrival =
	| { readonly kind: "accepted" }
	/** The TLS handshake is complete, with the names of the receiver's certificate and the number of issued sessions. */
	| { readonly kind: "secured"; readonly names: readonly string[]; readonly sessions: number }
	/** `status`: the final status line of the request's response ends in these bytes. */
	| { readonly kind: "bytes"; bytes: Buffer; status: Status | null }
	| { readonly kind: "end" }
	| { readonly kind: "failed"; readonly code: string };

export interface Status {
	readonly request: SeenRequest;
	readonly code: number;
	/** How many of the bytes are up to its end. */
	readonly end: number;
}

type Events = {
	connect: [];
	secureConnect: [];
	session: [Buffer];
	keylog: [Buffer];
	timeout: [];
	end: [];
	error: [Error];
	close: [];
};

/** Nothing in a world lives as long as a certificate. */
const VALID_TO = "Dec 31 23:59:59 9000 GMT";

/** A node's end of a connection: what the sender takes for a TLS socket. */
export class NodeSocket extends EventEmitter<Events> implements Socket {
	/** Requests leave at once. */
	readonly writableLength = 0;
	readonly #line: Line;
	readonly #options: ConnectOptions;
	readonly #incoming: Arrival[] = [];
	#paused = false;
	#ended = false;
	#destroyed = false;
	#resumed: Buffer | null = null;
	/** A request that was written and has no status line yet. */
	#awaiting: SeenRequest | null = null;
	#idleMs = 0;
	#touchedAt = 0;
	#timer: Timer | null = null;

	constructor(line: Line, options: ConnectOptions) {
		super();
		this.#line = line;
		this.#options = options;
	}

	get writable(): boolean {
		return !this.#destroyed && !this.#ended;
	}

	setNoDelay(): this {
		return this;
	}

	setSession(session: Buffer): void {
		this.#resumed = session;
	}

	write(bytes: Uint8Array): boolean {
		if (!this.writable) return false;
		this.#touch();
		const request = this.#line.write(bytes as Buffer);
		if (request !== null) this.#awaiting = request;
		return true;
	}

	/** Calls back once when nothing was read or written for so long, and again after the next silence. */
	setTimeout(ms: number, callback?: () => void): this {
		this.#idleMs = ms;
		this.#timer?.cancel();
		this.#timer = null;
		if (callback !== undefined) this.on("timeout", callback);
		this.#touch();
		return this;
	}

	resume(): this {
		if (!this.#paused) return this;
		this.#paused = false;
		this.#line.clock.setImmediate(() => this.#read());
		return this;
	}

	destroy(error?: Error): this {
		this.#destroy(error ?? null, "the node closed it");
		return this;
	}

	// ── for the network ──

	/** Runs in the node's process. */
	arrive(arrival: Arrival): void {
		if (this.#destroyed) return;
		this.#incoming.push(arrival);
		this.#read();
	}

	/** Fails after the current turn. */
	failSoon(error: Error): this {
		queueMicrotask(() => this.#destroy(error, error.message));
		return this;
	}

	/** The process died; none of its code runs afterwards. */
	die(): void {
		this.#destroyed = true;
		this.#timer?.cancel();
		this.#break("the node died");
	}

	#read(): void {
		while (!this.#paused && !this.#destroyed) {
			const arrival = this.#incoming.shift();
			if (arrival === undefined) return;
			this.#take(arrival);
		}
	}

	#take(arrival: Arrival): void {
		switch (arrival.kind) {
			case "accepted":
				this.emit("connect");
				break;
			case "secured":
				this.#secured(arrival.names, arrival.sessions);
				break;
			case "bytes":
				this.#takeBytes(arrival);
				break;
			case "end":
				this.#ended = true;
				this.emit("end");
				// Neither end keeps its half open.
				queueMicrotask(() => this.#destroy(null, "the receiver closed it"));
				break;
			case "failed":
				this.#destroy(failure(arrival.code), arrival.code);
				break;
		}
	}

	/** As much as fits into the buffer; the rest is read next. */
	#takeBytes(arrival: Extract<Arrival, { kind: "bytes" }>): void {
		const { buffer, callback } = this.#options.onread!;
		const { bytes, status } = arrival;
		const target = buffer as Uint8Array;
		const length = Math.min(bytes.length, target.length);
		this.#touch();
		if (status !== null && status.end <= length) {
			this.#awaiting = null;
			this.#line.responded(status);
		}
		if (length < bytes.length) {
			arrival.bytes = bytes.subarray(length);
			arrival.status = status !== null && status.end > length ? { ...status, end: status.end - length } : null;
			this.#incoming.unshift(arrival);
		}
		target.set(length < bytes.length ? bytes.subarray(0, length) : bytes);
		if (!callback(length, target)) this.#paused = true;
	}

	#secured(names: readonly string[], sessions: number): void {
		const { servername, host, checkServerIdentity } = this.#options;
		if (this.#resumed === null) {
			const subjectaltname = names.map((name) => (/^[\d.]+$|:/.test(name) ? `IP Address:${name}` : `DNS:${name}`));
			const certificate = { subject: {}, subjectaltname: subjectaltname.join(", "), valid_to: VALID_TO };
			const fault = checkServerIdentity?.(servername || String(host), certificate as never);
			if (fault !== undefined) {
				this.#destroy(fault, "the certificate is for another name");
				return;
			}
		}
		this.emit("secureConnect");
		for (let n = 0; n < sessions && !this.#destroyed; n++) this.emit("session", Buffer.from(`session ${n}`));
	}

	#destroy(error: Error | null, why: string): void {
		if (this.#destroyed) return;
		this.#destroyed = true;
		this.#timer?.cancel();
		this.#incoming.length = 0;
		this.#line.closed();
		this.#break(why);
		queueMicrotask(() => {
			if (error !== null) this.emit("error", error);
			this.emit("close");
		});
	}

	#break(why: string): void {
		const request = this.#awaiting;
		this.#awaiting = null;
		if (request !== null) this.#line.broken(request, why);
	}

	/** Its timer is not set again each time: it looks itself how long the silence lasts when it fires. */
	#touch(): void {
		if (this.#idleMs === 0) return;
		this.#touchedAt = this.#line.clock.elapsed();
		if (this.#timer === null) this.#setTimer(this.#idleMs);
	}

	#setTimer(ms: number): void {
		this.#timer = this.#line.clock.setTimeout(() => {
			this.#timer = null;
			const leftMs = this.#touchedAt + this.#idleMs - this.#line.clock.elapsed();
			if (leftMs > 0) this.#setTimer(leftMs);
			else this.emit("timeout");
		}, ms);
	}
}

export const failure = (code: string): Error => Object.assign(new Error(code), { code });
