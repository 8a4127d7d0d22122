import { headerNames, type RequestHeaders, requestHeaders, sign } from "@posthorn/protocol";
import type { Clock } from "../../base/clock.ts";
import type { Connection, ConnectionUser, Place } from "../../net/connections.ts";
import { isConnectionClosed, SendFailure } from "../../net/errors.ts";
import { hostOf } from "../../net/guard.ts";
import { ResponseParser } from "../../net/response-parser.ts";
import type { SentRequest } from "./outcome.ts";
import type { Shipment } from "./sender.ts";

/**
 * One request and its response on one connection.
 *
 * The request is signed and written in one step once the connection is ready, with the current key and time. So once a
 * rotation has been confirmed, nothing signed with the old secret is sent. If the webhook's URL changed while
 * connecting, nothing is written and the exchange ends as `moved`; if the webhook was paused or deleted, or this node
 * no longer holds its project's lease, it ends as `withheld`.
 *
 *     connecting ──▶ written ──▶ receiving ──▶ ended: answered
 *        │             │            the status is known and counts, whatever follows
 *        │             └──▶ ended: failed (nothing came)
 *        └──▶ ended: moved, withheld, failed
 */
export class Exchange implements ConnectionUser {
	readonly #shipment: Shipment;
	readonly #destination: Destination;
	readonly #connection: Connection;
	readonly #writer: RequestWriter;
	readonly #owner: ExchangeOwner;
	readonly #reused: boolean;
	readonly #response = new ResponseParser();
	#request: SentRequest | null = null;
	#ended = false;

	constructor(
		shipment: Shipment,
		destination: Destination,
		connection: Connection,
		writer: RequestWriter,
		owner: ExchangeOwner,
	) {
		this.#shipment = shipment;
		this.#destination = destination;
		this.#connection = connection;
		this.#writer = writer;
		this.#owner = owner;
		this.#reused = connection.isUsed;
	}

	/** The URL that the request goes to. */
	get url(): string {
		return this.#destination.url;
	}

	/** The request as written; null until then. */
	get request(): SentRequest | null {
		return this.#request;
	}

	/** How long it has waited for a turn to connect so far, milliseconds. */
	get waitedMs(): number {
		return this.#connection.waitedMs;
	}

	begin(): void {
		this.#connection.use(this);
	}

	/** Ends the exchange at its deadline: with a truncated response if the status is known, otherwise as a failure. */
	cut(): void {
		if (this.#ended) return;
		if (this.#response.status !== 0) this.#endAnswered();
		else if (this.#connection.isResolving)
			this.#endFailed(new SendFailure("dns_failed", "the name was not resolved in time"));
		else if (this.#connection.isHeld)
			this.#endFailed(new SendFailure("tls_costly", "costly handshakes of the project left no time for this one"));
		else this.#endFailed(new SendFailure("timeout", "no status line came in time"));
	}

	/** No other code runs between these checks and the write, except writes of other requests (see {@link Burst}). */
	ready(): void {
		const { target } = this.#shipment;
		if (target.withheld || !this.#shipment.mayLeave()) {
			this.#end({ kind: "withheld" }, "rest");
		} else if (target.url !== this.#destination.url) {
			this.#end({ kind: "moved" }, "rest");
		} else {
			const { bytes, sent } = this.#writer(this.#shipment, this.#destination);
			this.#request = sent;
			this.#connection.write(bytes);
			this.#shipment.onWritten?.();
		}
	}

	received(chunk: Buffer): void {
		const response = this.#response;
		response.push(chunk);
		switch (response.state) {
			case "rest":
			case "complete":
			case "cut":
				this.#endAnswered();
				break;
			case "malformed":
				this.#endMalformed();
				break;
			case "body":
				this.#owner.awaitsBody();
				break;
			case "head":
				break;
		}
	}

	ended(): void {
		this.#response.end();
		if (this.#response.state === "complete") this.#endAnswered();
		else this.failed(new SendFailure("connection_reset", "the connection was closed within the response"));
	}

	failed(error: Error): void {
		if (this.#response.status !== 0) this.#endAnswered();
		else this.#endFailed(error);
	}

	/** Once the status line is known it counts, whatever follows it. */
	#endMalformed(): void {
		if (this.#response.status !== 0) this.#endAnswered();
		else this.#endFailed(new SendFailure("malformed_response", "the response is not HTTP"));
	}

	#endAnswered(): void {
		const request = this.#request;
		if (request === null) {
			this.#endFailed(new SendFailure("malformed_response", "a response came before the request"));
			return;
		}
		const { status, body, truncated, persistent, state } = this.#response;
		const then = persistent ? "rest" : state === "rest" ? "drain" : "destroy";
		this.#end({ kind: "answered", status, body, truncated, request }, then);
	}

	#endFailed(error: unknown): void {
		if (this.#ended) return;
		const stale = this.#reused && !this.#response.heard && isConnectionClosed(error);
		this.#end({ kind: "failed", error, stale }, "destroy");
	}

	/** @param then what becomes of the connection */
	#end(end: ExchangeEnd, then: "rest" | "drain" | "destroy"): void {
		if (this.#ended) return;
		this.#ended = true;
		if (then === "rest") this.#connection.rest(this.#response.idleSeconds);
		else if (then === "drain") this.#connection.drain(this.#response);
		else this.#connection.destroy();
		this.#owner.exchangeEnded(end, this.#connection);
	}
}

export interface ExchangeOwner {
	/** The head has been read, but not all of the body. Called again after each read. */
	awaitsBody(): void;
	/** Called once; must not throw. The connection is closed, idle, or draining. */
	exchangeEnded(end: ExchangeEnd, connection: Connection): void;
}

export type ExchangeEnd =
	| {
			readonly kind: "answered";
			readonly status: number;
			readonly body: Uint8Array;
			/** Whether there was more body, or might have been. */
			readonly truncated: boolean;
			readonly request: SentRequest;
	  }
	| {
			readonly kind: "failed";
			readonly error: unknown;
			/**
			 * Whether the receiver had closed a reused connection in the meantime. Such a failure doesn't count as an
			 * attempt.
			 */
			readonly stale: boolean;
	  }
	/** The webhook's URL has changed; nothing was written. */
	| { readonly kind: "moved" }
	/** The webhook was paused or deleted, or the lease lost; nothing was written. */
	| { readonly kind: "withheld" };

/** Where a request goes, parsed once for each URL. */
export interface Destination extends Place {
	readonly url: string;
	/** The request line and those header lines that are the same for all requests to this URL. */
	readonly head: Buffer;
}

/** Signs a shipment with the current key and time, and returns the bytes of the whole request. */
export type RequestWriter = (shipment: Shipment, destination: Destination) => { bytes: Buffer; sent: SentRequest };

/** Characters allowed in a header's value (RFC 9110, 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Parses a webhook's URL. @throws TypeError if it isn't an https URL: a bug, since it was validated before */
export function createDestination(url: string, brand: string): Destination {
	const parsed = new URL(url);
	const { protocol, origin, host, port, pathname, search } = parsed;
	if (protocol !== "https:") throw new TypeError("a webhook's URL is not https");
	const constant = requestHeaders({ brand, eventType: "", eventId: "", timestamp: "", signature: "" });
	const varying = new Set<string>(Object.values(headerNames(brand)));
	const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, "connection: keep-alive"];
	for (const [name, value] of Object.entries(constant)) if (!varying.has(name)) lines.push(`${name}: ${value}`);
	return {
		url,
		origin,
		hostname: hostOf(parsed),
		port: Number(port || 443),
		head: Buffer.from(`${lines.join("\r\n")}\r\n`, "latin1"),
	};
}

export function createRequestWriter(brand: string, clock: Pick<Clock, "now">): RequestWriter {
	const names = headerNames(brand);
	const headerLines = ({ eventType, eventId, timestamp, signature }: Omit<RequestHeaders, "brand">): string =>
		`${names.event}: ${eventType}\r\n${names.eventId}: ${eventId}\r\n${names.signature}: ${signature}\r\n${names.timestamp}: ${timestamp}\r\n`;
	return ({ eventId, eventType, body, target }, { url, head }) => {
		if (!HEADER_VALUE.test(eventType) || !HEADER_VALUE.test(eventId))
			throw new TypeError("an event's type or id cannot be sent in a header");
		const timestamp = Math.floor(clock.now() / 1_000);
		const signature = sign(target.key, timestamp, body);
		const varying = headerLines({ eventType, eventId, timestamp, signature });
		const lines = `${varying}content-length: ${body.length}\r\n\r\n`;
		// One buffer, so that it is sent in one write and, if it fits, one TLS record.
		const bodyAt = head.length + lines.length;
		const bytes = Buffer.allocUnsafe(bodyAt + body.length);
		bytes.set(head);
		bytes.write(lines, head.length, "latin1");
		bytes.set(body, bodyAt);
		return { bytes, sent: { url, brand, timestamp, signature } };
	};
}
