const HEAD_END = Buffer.from("\r\n\r\n");
const REQUEST_LINE = /^([A-Z]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ([\t\x20-\x7e\x80-\xff]*)$/;
const DIGITS = /^\d+$/;

/** A request as its bytes say. */
export interface ParsedRequest {
	readonly method: string;
	readonly path: string;
	readonly headers: ReadonlyMap<string, string>;
	readonly body: Buffer;
}

/** Reads requests with a length from the bytes of one connection (RFC 9112). It takes nothing that is not exactly right. */
export class RequestReader {
	#bytes: Buffer = Buffer.alloc(0);

	/** Requests that these bytes complete. @throws Error if they aren't a request */
	push(bytes: Buffer): ParsedRequest[] {
		this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
		const requests: ParsedRequest[] = [];
		for (;;) {
			const headEnd = this.#bytes.indexOf(HEAD_END);
			if (headEnd < 0) return requests;
			const head = parseHead(this.#bytes.toString("latin1", 0, headEnd));
			const bodyAt = headEnd + HEAD_END.length;
			const end = bodyAt + head.length;
			if (this.#bytes.length < end) return requests;
			requests.push({ ...head, body: this.#bytes.subarray(bodyAt, end) });
			this.#bytes = this.#bytes.subarray(end);
		}
	}
}

function parseHead(text: string) {
	const [first = "", ...lines] = text.split("\r\n");
	const request = REQUEST_LINE.exec(first);
	if (request === null) throw new Error(`Not a request line: ${first}`);
	const headers = new Map<string, string>();
	for (const line of lines) {
		const header = HEADER_LINE.exec(line);
		if (header === null) throw new Error(`Not a header line: ${line}`);
		const name = header[1]!.toLowerCase();
		if (headers.has(name)) throw new Error(`The header ${name} comes twice.`);
		headers.set(name, header[2]!);
	}
	const length = headers.get("content-length") ?? "";
	if (!DIGITS.test(length)) throw new Error("The request has no length.");
	if (!headers.has("host")) throw new Error("The request names no host.");
	return { method: request[1]!, path: request[2]!, headers, length: Number(length) };
}
