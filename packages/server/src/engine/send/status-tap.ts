import type { Socket } from "node:net";

/** The most that is held back in search of the end of a status line or of an interim answer, bytes. */
const MAX_HELD_BYTES = 4_096;

/** How every answer begins (RFC 9112, 4), up to the minor version. */
const PREFIX = Buffer.from("HTTP/1.");

const END_OF_HEAD = /\r?\n\r?\n/;

const SWITCHING_PROTOCOLS = 101;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const ZERO = 0x30;

/**
 * Looks at an answer's first bytes on their way from the socket to undici's parser, for two things that the parser does
 * not do. It tells of an answer only when all its header lines are there, but the status line alone decides whether a
 * delivery succeeded. And it takes an unexpected `100 Continue` for an error, though interim answers may always come
 * (RFC 9110, 15.2): here they are taken out.
 */
export class StatusTap {
	/** Bytes that came and were not passed on yet. */
	#held: Buffer | null = null;
	#looking = false;
	#heard = false;
	#status = 0;

	constructor(socket: Socket) {
		const read = socket.read;
		// undici reads in this way alone (client-h1.js, readMore).
		socket.read = (size) => {
			for (;;) {
				const chunk: Buffer | null = read.call(socket, size);
				if (chunk === null || !this.#looking) return chunk;
				const passed = this.#pass(chunk);
				if (passed !== null) return passed;
			}
		};
	}

	/** A request is about to be written: what comes next is its answer. */
	begin(): void {
		this.#looking = true;
		this.#held = null;
		this.#heard = false;
		this.#status = 0;
	}

	/** Whether any byte of the answer came. */
	get heard(): boolean {
		return this.#heard;
	}

	/** The final answer's status once its status line is there in full; until then 0. */
	get status(): number {
		return this.#status;
	}

	/** What the parser may have by now; null to hold everything back. */
	#pass(chunk: Buffer): Buffer | null {
		this.#heard = true;
		let bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
		this.#held = null;
		while (bytes.length > 0) {
			const status = statusOf(bytes);
			if (status === null) return this.#hold(bytes);
			if (status < 100 || status >= 200 || status === SWITCHING_PROTOCOLS) {
				this.#looking = false;
				this.#status = status >= 200 ? status : 0;
				return bytes;
			}
			const end = END_OF_HEAD.exec(bytes.toString("latin1"));
			if (end === null) return this.#hold(bytes);
			bytes = bytes.subarray(end.index + end[0].length);
		}
		return null;
	}

	#hold(bytes: Buffer): Buffer | null {
		if (bytes.length > MAX_HELD_BYTES) {
			this.#looking = false;
			return bytes;
		}
		this.#held = Buffer.from(bytes);
		return null;
	}
}

/** The three digits of the status line; null where the line is not all there yet, 0 where it is no status line. */
function statusOf(bytes: Buffer): number | null {
	for (let i = 0; i < PREFIX.length && i < bytes.length; i++) if (bytes[i] !== PREFIX[i]) return 0;
	if (!bytes.includes(LINE_FEED)) return null;
	const after = bytes[12];
	if (bytes[8] !== SPACE || (after !== SPACE && after !== CARRIAGE_RETURN && after !== LINE_FEED)) return 0;
	let status = 0;
	for (let i = 9; i < 12; i++) {
		const digit = bytes[i]! - ZERO;
		if (digit < 0 || digit > 9) return 0;
		status = status * 10 + digit;
	}
	return status;
}
