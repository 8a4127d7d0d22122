const HEAD_END = Buffer.from("\r\n\r\n");
const NUMBER_KEY = Buffer.from('"data":{"n":');
const AT_KEY = Buffer.from(',"at":');
/** A request with a longer head is refused, bytes. */
const MAX_HEAD = 65_536;

/** One request's head as text and its body as bytes, both valid only until the callback returns. */
export type OnRequest = (head: string, body: Buffer) => void;

/**
 * Splits a connection's bytes into requests (RFC 9112) with a content-length. Requests may be split and coalesced over
 * chunks in any way. Throws on a head that is too long or lacks a length.
 */
export class RequestSplitter {
	readonly #onRequest: OnRequest;
	/** The received part of the current request, and its total length. */
	#parts: Buffer[] = [];
	#length = 0;
	/** The length at which that request is complete; 0 while unknown. */
	#wanted = 0;

	constructor(onRequest: OnRequest) {
		this.#onRequest = onRequest;
	}

	/** @returns how many requests the chunk completed */
	push(chunk: Buffer): number {
		let bytes = chunk;
		if (this.#length > 0) {
			this.#parts.push(chunk);
			this.#length += chunk.length;
			if (this.#length < this.#wanted) return 0;
			bytes = Buffer.concat(this.#parts, this.#length);
		}
		let at = 0;
		let completed = 0;
		this.#wanted = 0;
		while (at < bytes.length) {
			const headEnd = bytes.indexOf(HEAD_END, at);
			if (headEnd === -1) {
				if (bytes.length - at > MAX_HEAD) throw new Error("The request's head is too long.");
				break;
			}
			const head = bytes.toString("latin1", at, headEnd);
			const bodyAt = headEnd + HEAD_END.length;
			const bodyEnd = bodyAt + contentLength(head);
			if (bodyEnd > bytes.length) {
				this.#wanted = bodyEnd - at;
				break;
			}
			this.#onRequest(head, bytes.subarray(bodyAt, bodyEnd));
			at = bodyEnd;
			completed++;
		}
		this.#length = bytes.length - at;
		this.#parts = this.#length === 0 ? [] : [bytes.subarray(at)];
		return completed;
	}
}

function contentLength(head: string): number {
	const found = /\r\ncontent-length: *(\d{1,9})(?:\r|$)/i.exec(head);
	if (!found) throw new Error("The request has no content-length.");
	return Number(found[1]);
}

/** The request line's target, without its query. */
export function pathOf(head: string): string {
	const start = head.indexOf(" ") + 1;
	const path = head.slice(start, head.indexOf(" ", start));
	const query = path.indexOf("?");
	return query === -1 ? path : path.slice(0, query);
}

/** A head's fields, with lower-cased names. */
export function headersOf(head: string): Record<string, string> {
	const lines = head.split("\r\n").slice(1);
	return Object.fromEntries(
		lines.map((line) => {
			const colon = line.indexOf(":");
			return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
		}),
	);
}

/** An event's number, and when it was created in epoch milliseconds; NaN if unknown. */
export interface Mark {
	n: number;
	at: number;
}

/** Epoch times beyond this are microseconds. */
const MICROSECONDS_FROM = 1e14;

/** Reads `"data":{"n":<integer>` and, right after it, `,"at":<epoch ms or µs>` into `mark`. @returns whether n is present */
export function readMark(body: Buffer, mark: Mark): boolean {
	const key = body.indexOf(NUMBER_KEY);
	if (key === -1) return false;
	let at = key + NUMBER_KEY.length;
	const first = at;
	let n = 0;
	for (let digit = body[at]! - 48; digit >= 0 && digit <= 9; digit = body[++at]! - 48) n = n * 10 + digit;
	if (at === first) return false;
	mark.n = n;
	mark.at = Number.NaN;
	for (let i = 0; i < AT_KEY.length; i++) if (body[at + i] !== AT_KEY[i]) return true;
	at += AT_KEY.length;
	const start = at;
	while (isOfNumber(body[at])) at++;
	const value = Number(body.toString("latin1", start, at));
	mark.at = value >= MICROSECONDS_FROM ? value / 1000 : value;
	return true;
}

function isOfNumber(byte: number | undefined): boolean {
	return byte !== undefined && ((byte >= 48 && byte <= 57) || byte === 46);
}
