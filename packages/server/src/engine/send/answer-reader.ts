import { Body } from "./body.ts";

/** The most that an answer's status line and header lines may take together, bytes. */
const MAX_HEAD_BYTES = 16 * 1_024;

/** The most that one line of chunked framing may take: a size, its extensions, or a trailer; bytes. */
const MAX_CHUNK_LINE_BYTES = 4_096;

const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** A status line up to the reason phrase (RFC 9112, 4). */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
/** A header line (RFC 9112, 5): a token, a colon, and no control characters but tabs in the value. */
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;
const DIGITS = /^\d{1,15}$/;
const CHUNK_SIZE = /^[0-9a-fA-F]{1,12}(?=[\t ;]|$)/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,9})/i;

const PREFIX = "HTTP/1.";
const LINE_FEED = 0x0a;

/** How far an answer has come. */
export type AnswerState =
	/** The header lines are not all there. */
	| "head"
	/** There is more body to come, as far as is known. */
	| "body"
	/** All of it was read. */
	| "complete"
	/** There is more body than is kept: the rest is left unread. */
	| "cut"
	/** It is no HTTP answer, or not any more. */
	| "malformed";

/**
 * Reads the answer to one request from a connection (RFC 9112). It keeps the status and the beginning of the body, and of
 * the header lines only what it needs to know where the answer ends and whether the connection may be used again. Interim
 * answers, which may always come, are passed over (RFC 9110, 15.2). Nothing is decompressed.
 *
 *     head ──▶ body ──▶ complete, cut
 *       └───────┴─────▶ malformed
 */
export class AnswerReader {
	readonly #body = new Body();
	#state: AnswerState = "head";
	#framing: Framing = "none";
	/** Bytes that came and could not be read without those that follow them. */
	#held: Buffer | null = null;
	#heard = false;
	#status = 0;
	/** Bytes left of the body or of the chunk. */
	#left = 0;
	#chunk: "size" | "data" | "end" | "trailer" = "size";
	#persistent = false;
	#idleSeconds = Number.POSITIVE_INFINITY;

	get state(): AnswerState {
		return this.#state;
	}

	/** Whether any byte of it came. */
	get heard(): boolean {
		return this.#heard;
	}

	/** The final answer's status as soon as its status line is there in full; until then 0. */
	get status(): number {
		if (this.#status !== 0 || this.#state !== "head" || this.#held === null) return this.#status;
		const status = statusOf(this.#held);
		return status >= 200 ? status : 0;
	}

	/** The first {@link MAX_BODY_BYTES} of the body at most. */
	get body(): Uint8Array {
		return this.#body.bytes;
	}

	/** Whether the connection may carry another request. */
	get persistent(): boolean {
		return this.#persistent && this.#state === "complete";
	}

	/** How long the receiver says that it keeps the connection without a request (its `Keep-Alive` header), seconds. */
	get idleSeconds(): number {
		return this.#idleSeconds;
	}

	/** Takes what came. Bytes behind a complete answer make the connection unfit for further use. */
	push(chunk: Buffer): void {
		this.#heard = true;
		let rest: Buffer | null = chunk;
		if (this.#held !== null) {
			rest = Buffer.concat([this.#held, chunk]);
			this.#held = null;
		}
		while (rest !== null && rest.length > 0) {
			if (this.#state === "head") rest = this.#readHead(rest);
			else if (this.#state === "body") rest = this.#readBody(rest);
			else {
				this.#persistent = false;
				return;
			}
		}
	}

	/** The receiver closed the connection: that ends a body without a length, and breaks off all else. */
	end(): void {
		if (this.#state === "body" && this.#framing === "until_close") this.#state = "complete";
	}

	#readHead(bytes: Buffer): Buffer | null {
		const end = headEnd(bytes);
		if (end > MAX_HEAD_BYTES || (end < 0 && bytes.length > MAX_HEAD_BYTES)) return this.#malformed();
		if (end < 0) {
			if (!mayBegin(bytes)) return this.#malformed();
			return this.#hold(bytes);
		}
		const lines = bytes.toString("latin1", 0, end).split("\n");
		const line = STATUS_LINE.exec(trimmed(lines[0]!));
		if (line === null) return this.#malformed();
		const status = Number(line[2]);
		if (status === SWITCHING_PROTOCOLS) return this.#malformed();
		if (status < 200) return bytes.subarray(end);
		this.#persistent = line[1] === "1";
		if (!this.#readHeaders(lines, status !== NO_CONTENT && status !== NOT_MODIFIED)) return this.#malformed();
		this.#status = status;
		this.#state = this.#framing === "none" || (this.#framing === "length" && this.#left === 0) ? "complete" : "body";
		return bytes.subarray(end);
	}

	/** Learns from the header lines where the body ends and what becomes of the connection; false if one is none. */
	#readHeaders(lines: readonly string[], mayHaveBody: boolean): boolean {
		let length: string | null = null;
		let coding: string | null = null;
		for (let i = 1; i < lines.length; i++) {
			const line = trimmed(lines[i]!);
			if (line === "") break;
			const header = HEADER_LINE.exec(line);
			if (header === null) return false;
			const value = header[2]!.trimEnd();
			switch (header[1]!.toLowerCase()) {
				case "content-length":
					if (!DIGITS.test(value) || (length !== null && length !== value)) return false;
					length = value;
					break;
				case "transfer-encoding":
					coding = coding === null ? value : `${coding},${value}`;
					break;
				case "connection":
					this.#readConnection(value);
					break;
				case "keep-alive":
					this.#idleSeconds = Number(KEEP_ALIVE_TIMEOUT.exec(value)?.[1] ?? Number.POSITIVE_INFINITY);
					break;
			}
		}
		if (!mayHaveBody) this.#framing = "none";
		else if (coding !== null) {
			// With both, somebody on the way may have seen another end (RFC 9112, 6.3).
			if (length !== null) this.#persistent = false;
			this.#framing = /(?:^|,)\s*chunked\s*$/i.test(coding) ? "chunked" : "until_close";
		} else if (length !== null) {
			this.#framing = "length";
			this.#left = Number(length);
		} else this.#framing = "until_close";
		if (this.#framing === "until_close") this.#persistent = false;
		return true;
	}

	/** RFC 9112, 9.3: `close` wins over `keep-alive`, which HTTP/1.0 needs. */
	#readConnection(value: string): void {
		const options = value.toLowerCase().split(/[\t ]*,[\t ]*/);
		if (options.includes("close")) this.#persistent = false;
		else if (options.includes("keep-alive")) this.#persistent = true;
	}

	#readBody(bytes: Buffer): Buffer | null {
		if (this.#framing === "chunked") return this.#readChunked(bytes);
		if (this.#framing === "until_close") {
			this.#keep(bytes);
			return null;
		}
		const part = bytes.subarray(0, this.#left);
		this.#left -= part.length;
		if (this.#keep(part) && this.#left === 0) this.#state = "complete";
		return bytes.subarray(part.length);
	}

	/** RFC 9112, 7.1. */
	#readChunked(bytes: Buffer): Buffer | null {
		if (this.#chunk === "data") {
			const part = bytes.subarray(0, this.#left);
			this.#left -= part.length;
			if (this.#left === 0) this.#chunk = "end";
			this.#keep(part);
			return bytes.subarray(part.length);
		}
		const feed = bytes.indexOf(LINE_FEED);
		if (feed < 0) return bytes.length > MAX_CHUNK_LINE_BYTES ? this.#malformed() : this.#hold(bytes);
		const line = trimmed(bytes.toString("latin1", 0, feed));
		if (this.#chunk === "size") {
			const size = CHUNK_SIZE.exec(line);
			if (size === null) return this.#malformed();
			this.#left = Number.parseInt(size[0], 16);
			this.#chunk = this.#left === 0 ? "trailer" : "data";
		} else if (this.#chunk === "end") {
			if (line !== "") return this.#malformed();
			this.#chunk = "size";
		} else if (line === "") this.#state = "complete";
		return bytes.subarray(feed + 1);
	}

	#keep(part: Buffer): boolean {
		if (this.#body.append(part)) return true;
		this.#state = "cut";
		return false;
	}

	#hold(bytes: Buffer): null {
		// A copy: the socket's own buffer is larger, and may come back into use.
		this.#held = Buffer.from(bytes);
		return null;
	}

	#malformed(): null {
		this.#state = "malformed";
		return null;
	}
}

/** How the end of a body is told (RFC 9112, 6.3). */
type Framing = "none" | "length" | "chunked" | "until_close";

/** Where the empty line behind the header lines ends; lines may end in a line feed alone (RFC 9112, 2.2). -1: not there. */
function headEnd(bytes: Buffer): number {
	for (let feed = bytes.indexOf(LINE_FEED); feed >= 0; feed = bytes.indexOf(LINE_FEED, feed + 1)) {
		if (bytes[feed + 1] === LINE_FEED) return feed + 2;
		if (bytes[feed + 1] === 0x0d && bytes[feed + 2] === LINE_FEED) return feed + 3;
	}
	return -1;
}

/** Whether an answer may begin with these bytes, before its header lines are all there. */
function mayBegin(bytes: Buffer): boolean {
	const begin = bytes.toString("latin1", 0, Math.min(bytes.length, PREFIX.length));
	if (!PREFIX.startsWith(begin)) return false;
	return !bytes.includes(LINE_FEED) || statusOf(bytes) !== 0;
}

/** The status of the status line that these bytes begin with; 0 where it is not all there, or none. */
function statusOf(bytes: Buffer): number {
	const feed = bytes.indexOf(LINE_FEED);
	const line = feed < 0 ? null : STATUS_LINE.exec(trimmed(bytes.toString("latin1", 0, feed)));
	return line === null ? 0 : Number(line[2]);
}

const trimmed = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
