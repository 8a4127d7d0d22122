/** What a receiver does with one request: the bytes that it writes, when, and what it does with the connection then. */
export interface Behaviour {
	/** In words, for traces. */
	readonly text: string;
	/** From the request's last byte until it writes the first of these, milliseconds. */
	readonly delayMs: number;
	readonly bytes: Buffer;
	/** The final status, and where in `bytes` its status line ends; null if that never comes. */
	readonly status: { readonly code: number; readonly end: number } | null;
	/** Writes `bytes` at a time, `everyMs` apart; null: everything in one piece. */
	readonly pieces: { readonly bytes: number; readonly everyMs: number } | null;
	/** What comes after the last byte. `hang`: nothing, and no further request is read. */
	readonly afterwards: "next" | "end" | "reset" | "hang";
}

export interface AnswerOptions {
	/** The body, or how many bytes it has. */
	readonly body?: string | Uint8Array | number;
	/** More header lines. */
	readonly headers?: Readonly<Record<string, string>>;
	/** Statuses of interim responses before it (RFC 9110, 15.2). */
	readonly interim?: readonly number[];
	/** What marks the body's end (RFC 9112, 6.3); its length by default. */
	readonly framing?: "length" | "chunked" | "until close";
	/** Sends `Connection: close`, and closes. */
	readonly close?: boolean;
}

/** An answer of HTTP/1.1, at once and in one piece. */
export function answer(status: number, options: AnswerOptions = {}): Behaviour {
	const { framing = "length", close = framing === "until close", interim = [] } = options;
	const { body = "" } = options;
	const content = Buffer.from(typeof body === "number" ? "x".repeat(body) : body);
	const before = interim.map((code) => `HTTP/1.1 ${code} Interim\r\nx-note: interim\r\n\r\n`).join("");
	const statusLine = `HTTP/1.1 ${status} ${status < 300 ? "OK" : "Status"}\r\n`;
	const lines = Object.entries(options.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
	if (close) lines.push("connection: close\r\n");
	const hasBody = status !== 204 && status !== 304;
	if (hasBody && framing === "length") lines.push(`content-length: ${content.length}\r\n`);
	if (hasBody && framing === "chunked") lines.push("transfer-encoding: chunked\r\n");
	const head = Buffer.from(`${before}${statusLine}${lines.join("")}\r\n`, "latin1");
	return {
		text: `${status}${interim.length > 0 ? ` after ${interim.length} interim` : ""}`,
		delayMs: 0,
		bytes: Buffer.concat([head, ...(hasBody ? framed(content, framing) : [])]),
		status: { code: status, end: before.length + statusLine.length },
		pieces: null,
		afterwards: close ? "end" : "next",
	};
}

function framed(content: Buffer, framing: AnswerOptions["framing"]): Buffer[] {
	if (framing !== "chunked") return [content];
	const last = Buffer.from("0\r\n\r\n");
	if (content.length === 0) return [last];
	return [Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from("\r\n"), last];
}

/** Never followed: the sender takes it as an answer. */
export const redirect = (location: string, status = 302): Behaviour => answer(status, { headers: { location } });

/** Reads the request and never says anything. */
export const hang: Behaviour = {
	text: "hangs",
	delayMs: 0,
	bytes: Buffer.alloc(0),
	status: null,
	pieces: null,
	afterwards: "hang",
};

/** Closes the connection without an answer. */
export const closes = (how: "end" | "reset" = "end"): Behaviour => ({
	...hang,
	text: how === "end" ? "closes" : "resets",
	afterwards: how,
});

/** Sends something that isn't HTTP. */
export const garbage = (text = "SSH-2.0-OpenSSH_9.9\r\n"): Behaviour => ({
	...hang,
	text: "garbage",
	bytes: Buffer.from(text, "latin1"),
});

/** The same, so much later. */
export const later = (ms: number, behaviour: Behaviour): Behaviour => ({
	...behaviour,
	text: `${behaviour.text} after ${ms} ms`,
	delayMs: behaviour.delayMs + ms,
});

/** The same in small pieces, with a pause between them. */
export const dripping = (behaviour: Behaviour, bytes: number, everyMs: number): Behaviour => ({
	...behaviour,
	text: `${behaviour.text}, ${bytes} bytes every ${everyMs} ms`,
	pieces: { bytes, everyMs },
});

/** Only the first bytes of it, then that: a broken connection, or silence. */
export function cutShort(behaviour: Behaviour, bytes: number, afterwards: "end" | "reset" | "hang"): Behaviour {
	const { status } = behaviour;
	return {
		...behaviour,
		text: `${bytes} bytes of ${behaviour.text}, then ${afterwards}`,
		bytes: behaviour.bytes.subarray(0, bytes),
		status: status !== null && status.end <= bytes ? status : null,
		afterwards,
	};
}

/** Two answers to one request. */
export const twice = (behaviour: Behaviour): Behaviour => ({
	...behaviour,
	text: `${behaviour.text}, twice`,
	bytes: Buffer.concat([behaviour.bytes, behaviour.bytes]),
});

/** Where the body begins: what to hand to {@link cutShort} in order to cut within it. */
export const bodyStart = (behaviour: Behaviour): number =>
	behaviour.bytes.indexOf("\r\n\r\n", behaviour.status?.end ?? 0, "latin1") + 4;
