import { RECEIVERS } from "../base/budgets.ts";
import { BytePool } from "../base/byte-pool.ts";
import { inertText } from "../base/text.ts";

const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** A status line up to the reason phrase (RFC 9112, 4). */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
/**
 * A header line (RFC 9112, 5): a token, a colon, and no control characters but tabs in the value. One character never
 * fits two parts of it, so that a hostile line takes linear time.
 */
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;
const DIGITS = /^\d{1,15}$/;
const CHUNK_SIZE = /^[0-9a-fA-F]{1,12}(?=[\t ;]|$)/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout=(\d{1,9})/i;

const PREFIX = "HTTP/1.";

/** How much of a response has been read. */
export type ResponseState =
	/** The head isn't complete. */
	| "head"
	/** More of the body may follow. */
	| "body"
	/** The body exceeds what is kept. Reading on serves only to reuse the connection. */
	| "rest"
	/** All of it has been read. */
	| "complete"
	/** The body exceeds what is kept, and the connection can't be reused or its rest is too long: it is left unread. */
	| "cut"
	/** It isn't, or is no longer, a valid HTTP response. */
	| "malformed";

/**
 * Reads the response to one request from a connection (RFC 9112). It keeps the status, the beginning of the body, and
 * those header fields that say where the response ends and whether the connection may be reused. Of a response that
 * isn't 2xx it also keeps a few that help to explain it. Interim responses are skipped (RFC 9110, 15.2). Nothing is
 * decompressed.
 *
 *     head ──▶ body ──▶ rest
 *       │       ├────────┴───▶ complete, cut
 *       └───────┴────────────▶ malformed
 *
 * {@link RECEIVERS} bounds the work that a receiver can cause: the number of interim responses, the bytes of the head,
 * of the body, and of framing. The reader goes line by line and looks at each byte once, however small the chunks are.
 */
export class ResponseParser {
	readonly #body = new Body();
	/** The incomplete line of head or framing. */
	readonly #line = new LineBuffer();
	#state: ResponseState = "head";
	#framing: Framing = "none";
	/** Whether any byte was received. */
	heard = false;
	/** The status of the head being read; 0 until its status line is complete. */
	#headStatus = 0;
	#headers = new Headers();
	#status = 0;
	#interim = 0;
	/** How many more bytes of head, of chunked framing, and of body are allowed. */
	#headLeft: number = RECEIVERS.headBytes;
	#framingLeft: number = RECEIVERS.framingBytes;
	#bodyLeft: number = RECEIVERS.drainedBytes;
	#exceedsKept = false;
	/** Bytes left in the body or chunk. */
	#left = 0;
	#chunk: "size" | "data" | "end" | "trailer" = "size";
	#persistent = false;

	get state(): ResponseState {
		return this.#state;
	}

	/** The final response's status once its status line is complete; 0 until then. */
	get status(): number {
		if (this.#status !== 0 || this.#state !== "head") return this.#status;
		return this.#headStatus >= 200 ? this.#headStatus : 0;
	}

	/** Header fields that explain a response that isn't 2xx and that have been read; null if there are none. */
	get headers(): Readonly<Record<string, string>> | null {
		return this.#headers.kept?.fields ?? null;
	}

	/** At most the first {@link RECEIVERS.keptBytes} of the body. */
	get body(): Uint8Array {
		return this.#body.bytes;
	}

	/** Whether there was more body than is kept, or might have been. */
	get truncated(): boolean {
		return this.#exceedsKept || this.#state !== "complete";
	}

	/** Whether the connection may carry another request. */
	get persistent(): boolean {
		return this.#persistent && this.#state === "complete";
	}

	/** How long the receiver keeps an idle connection, from its `Keep-Alive` header, seconds. */
	get idleSeconds(): number {
		return this.#headers.idleSeconds;
	}

	/** Reads more bytes. Any that follow a complete response make the connection unusable. */
	push(chunk: Buffer): void {
		this.heard = true;
		let at = 0;
		while (at < chunk.length) {
			if (this.#state === "head") at = this.#readHead(chunk, at);
			else if (this.#state === "body" || this.#state === "rest") at = this.#readBody(chunk, at);
			else {
				this.#persistent = false;
				return;
			}
		}
	}

	/** The receiver closed the connection: that completes a body without a length, and cuts off anything else. */
	end(): void {
		if (this.#state === "body" && this.#framing === "until_close") this.#state = "complete";
	}

	// Each of the following reads from an index and returns the index that it has read up to.

	#readHead(chunk: Buffer, from: number): number {
		const end = LineBuffer.end(chunk, from);
		this.#headLeft -= (end < 0 ? chunk.length : end) - from;
		if (this.#headLeft < 0) return this.#stop("malformed", chunk);
		if (end >= 0) return this.#readHeadLine(this.#line.take(chunk, from, end)) ? end : this.#stop("malformed", chunk);
		const isBeginning = this.#headStatus === 0 && this.#line.length < PREFIX.length;
		this.#line.keep(chunk, from);
		if (isBeginning && !PREFIX.startsWith(this.#line.beginning(PREFIX.length))) return this.#stop("malformed", chunk);
		return chunk.length;
	}

	#readHeadLine(line: string): boolean {
		if (this.#headStatus === 0) return this.#readStatus(line);
		const final = this.#headStatus >= 200;
		if (line !== "") return !final || this.#headers.add(line);
		if (final) this.#endHead();
		else this.#headStatus = 0;
		return true;
	}

	#readStatus(text: string): boolean {
		const line = STATUS_LINE.exec(text);
		if (line === null) return false;
		const status = Number(line[2]);
		if (status === SWITCHING_PROTOCOLS) return false;
		if (status < 200 && ++this.#interim > RECEIVERS.interimResponses) return false;
		this.#headStatus = status;
		if (status >= 300) this.#headers.kept = new KeptHeaders();
		this.#headers.persistent = line[1] === "1";
		return true;
	}

	/** Determines where the body ends and whether the connection may be reused (RFC 9112, 6.3). */
	#endHead(): void {
		const { length, coding, persistent } = this.#headers;
		const status = this.#headStatus;
		this.#persistent = persistent;
		if (status === NO_CONTENT || status === NOT_MODIFIED) this.#framing = "none";
		else if (coding !== null) {
			// With both, an intermediary may have seen a different end (RFC 9112, 6.3).
			if (length !== null) this.#persistent = false;
			this.#framing = /(?:^|,)\s*chunked\s*$/i.test(coding) ? "chunked" : "until_close";
		} else if (length !== null) {
			this.#framing = "length";
			this.#left = Number(length);
		} else this.#framing = "until_close";
		if (this.#framing === "until_close") this.#persistent = false;
		this.#status = status;
		this.#state = this.#framing === "none" || (this.#framing === "length" && this.#left === 0) ? "complete" : "body";
	}

	#readBody(chunk: Buffer, from: number): number {
		if (this.#framing === "chunked" && this.#chunk !== "data") return this.#readFraming(chunk, from);
		if (this.#framing === "until_close") {
			this.#keep(chunk.subarray(from));
			return chunk.length;
		}
		const part = chunk.subarray(from, from + this.#left);
		this.#left -= part.length;
		this.#keep(part);
		if (this.#left === 0 && this.#framing === "chunked") this.#chunk = "end";
		else if (this.#left === 0 && this.#state !== "cut") this.#state = "complete";
		return from + part.length;
	}

	/** Reads a line of chunked framing: a size with its extensions, the end of a chunk, or a trailer (RFC 9112, 7.1). */
	#readFraming(chunk: Buffer, from: number): number {
		const end = LineBuffer.end(chunk, from);
		this.#framingLeft -= (end < 0 ? chunk.length : end) - from;
		if (this.#framingLeft < 0) return this.#stop("cut", chunk);
		if (end < 0) {
			this.#line.keep(chunk, from);
			return chunk.length;
		}
		const line = this.#line.take(chunk, from, end);
		if (this.#chunk === "size") {
			const size = CHUNK_SIZE.exec(line);
			if (size === null) return this.#stop("malformed", chunk);
			this.#left = Number.parseInt(size[0], 16);
			this.#chunk = this.#left === 0 ? "trailer" : "data";
		} else if (this.#chunk === "end") {
			if (line !== "") return this.#stop("malformed", chunk);
			this.#chunk = "size";
		} else if (line === "") this.#state = "complete";
		return end;
	}

	#keep(part: Buffer): void {
		this.#bodyLeft -= part.length;
		this.#exceedsKept ||= !this.#body.append(part);
		if (this.#exceedsKept) this.#state = this.#persistent && this.#left <= this.#bodyLeft ? "rest" : "cut";
	}

	#stop(state: "malformed" | "cut", chunk: Buffer): number {
		this.#state = state;
		return chunk.length;
	}
}

/** How the end of a body is indicated (RFC 9112, 6.3). */
type Framing = "none" | "length" | "chunked" | "until_close";

class Headers {
	length: string | null = null;
	coding: string | null = null;
	persistent = false;
	idleSeconds = Number.POSITIVE_INFINITY;
	/** Kept if the response isn't 2xx. */
	kept: KeptHeaders | null = null;

	/** Returns false if the line isn't a header line, or contradicts an earlier one. */
	add(line: string): boolean {
		const header = HEADER_LINE.exec(line);
		if (header === null) return false;
		const value = header[2]!.trim();
		const name = header[1]!.toLowerCase();
		this.kept?.add(name, value);
		switch (name) {
			case "content-length":
				if (!DIGITS.test(value) || (this.length !== null && this.length !== value)) return false;
				this.length = value;
				break;
			case "transfer-encoding":
				this.coding = this.coding === null ? value : `${this.coding},${value}`;
				break;
			case "connection":
				this.#readConnection(value);
				break;
			case "keep-alive":
				this.idleSeconds = Number(KEEP_ALIVE_TIMEOUT.exec(value)?.[1] ?? Number.POSITIVE_INFINITY);
				break;
		}
		return true;
	}

	/** RFC 9112, 9.3: `close` overrides `keep-alive`, which HTTP/1.0 needs to be persistent. */
	#readConnection(value: string): void {
		const options = value
			.toLowerCase()
			.split(",")
			.map((option) => option.trim());
		if (options.includes("close")) this.persistent = false;
		else if (options.includes("keep-alive")) this.persistent = true;
	}
}

/**
 * The header fields of a response that are stored if it isn't 2xx: those that tell its owner why. No others, because any
 * of them might be a secret (`Set-Cookie`) or repeat one.
 */
export const KEPT_HEADERS: ReadonlySet<string> = new Set([
	"allow",
	"cf-mitigated",
	"cf-ray",
	"content-encoding",
	"content-type",
	"date",
	"location",
	"retry-after",
	"server",
	"via",
	"www-authenticate",
	"x-powered-by",
	"x-request-id",
]);

/** Header fields of one response, bounded by {@link RECEIVERS}. */
class KeptHeaders {
	readonly #fields = new Map<string, string>();
	#bytesLeft: number = RECEIVERS.headerBytes;

	/** By name in lower case; null if there are none. */
	get fields(): Readonly<Record<string, string>> | null {
		return this.#fields.size === 0 ? null : Object.fromEntries(this.#fields);
	}

	/** @param value as Latin-1. The first field of a name counts, and `Via` has all, until it is long enough. */
	add(name: string, value: string): void {
		if (!KEPT_HEADERS.has(name) || value === "") return;
		const known = this.#fields.get(name);
		if (known !== undefined && (name !== "via" || known.length >= RECEIVERS.headerValueBytes)) return;
		const text = fieldText(value);
		const all = known === undefined ? text : inertText(`${known}, ${text}`, RECEIVERS.headerValueBytes);
		const bytes =
			known === undefined ? name.length + Buffer.byteLength(all) : Buffer.byteLength(all) - Buffer.byteLength(known);
		if (bytes > this.#bytesLeft) return;
		this.#bytesLeft -= bytes;
		this.#fields.set(name, all);
	}
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Header values are usually ASCII; some servers send UTF-8. */
function fieldText(value: string): string {
	let text = value;
	try {
		text = UTF8.decode(Buffer.from(value, "latin1"));
	} catch {
		// It is Latin-1.
	}
	return withoutCredentials(inertText(text, RECEIVERS.headerValueBytes));
}

/** A `Location` may contain a user and password. */
const withoutCredentials = (text: string): string => text.replace(/^([\w+.-]+:)?\/\/[^/?#@]*@/, "$1//");

const EMPTY = Buffer.alloc(0);

/** Bodies are kept until their outcomes are committed, longer than the requests in Node's own pool. */
const BODIES = new BytePool();

/** The beginning of a response's body, at most {@link RECEIVERS.keptBytes}, as received. */
class Body {
	bytes: Buffer = EMPTY;

	/** Copies what there is room for, since the chunk's memory is reused. Returns false if that isn't all of it. */
	append(chunk: Uint8Array): boolean {
		const room = RECEIVERS.keptBytes - this.bytes.length;
		const taken = chunk.length > room ? chunk.subarray(0, room) : chunk;
		this.bytes = BODIES.copy(this.bytes.length === 0 ? taken : Buffer.concat([this.bytes, taken]));
		return taken === chunk;
	}
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Initial capacity for the beginning of a line, bytes. It doubles as the line grows. */
const FIRST_BYTES = 64;

/**
 * Assembles lines from chunks, looking at each byte once. A line that is complete within its chunk isn't copied; the
 * bytes of any other are, because a chunk's memory is reused.
 */
class LineBuffer {
	#kept = EMPTY;
	/** Bytes of the current, incomplete line. */
	length = 0;

	/** The end, including the line feed, of the line that continues at `from`; -1 if it doesn't end in this chunk. */
	static end(chunk: Buffer, from: number): number {
		return chunk.indexOf(LINE_FEED, from) + 1 || -1;
	}

	/** Keeps the beginning of a line: the chunk from `from` on. */
	keep(chunk: Buffer, from: number): void {
		const length = this.length + chunk.length - from;
		if (length > this.#kept.length) {
			const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, length, this.#kept.length * 2));
			this.#kept.copy(larger, 0, 0, this.length);
			this.#kept = larger;
		}
		chunk.copy(this.#kept, this.length, from);
		this.length = length;
	}

	/** Completes the line with these bytes. @returns it without CRLF or LF (RFC 9112, 2.2), as Latin-1 */
	take(chunk: Buffer, from: number, end: number): string {
		if (this.length === 0) return textOf(chunk, from, end);
		this.keep(chunk.subarray(0, end), from);
		const line = textOf(this.#kept, 0, this.length);
		this.length = 0;
		return line;
	}

	/** At most the first `length` bytes of the incomplete line, as Latin-1. */
	beginning(length: number): string {
		return this.#kept.toString("latin1", 0, Math.min(length, this.length));
	}
}

function textOf(bytes: Buffer, from: number, end: number): string {
	const upTo = end - 1 > from && bytes[end - 2] === CARRIAGE_RETURN ? end - 2 : end - 1;
	return bytes.toString("latin1", from, upTo);
}
