import {
	headerNames,
	type RequestHeaders,
	requestHeaders,
	STANDARD_HEADERS,
	sign,
	signStandard,
} from "@posthorn/protocol";
import { RECEIVERS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Connection, ConnectionPool, ConnectionUser, Origin } from "../../net/connections.ts";
import { hostOf } from "../../net/egress.ts";
import {
	asError,
	detailsOf,
	isConnectionClosed,
	reasonOf,
	SendFailure,
	ShortageFailure,
	shortageOf,
} from "../../net/errors.ts";
import { ResponseParser } from "../../net/response-parser.ts";
import type { Shortages } from "../../net/shortages.ts";
import type { Deadlines, HasDeadline } from "./deadlines.ts";
import type { Sent, SentRequest, Shipment, Target } from "./outcome.ts";

/** What all attempts share. */
export interface AttemptContext {
	readonly clock: Clock;
	readonly brand: string;
	readonly connections: ConnectionPool;
	readonly deadlines: Deadlines;
	readonly shortages: Shortages;
	readonly writeRequest: RequestWriter;
	/** Writes requests, together with others that are started in the same turn of the event loop. */
	readonly batch: { write(to: Pick<Connection, "write">, request: Buffer): void };
	/** Receives the original error of every `sender_failed` outcome, for the log. Shortages are reported by kind instead. */
	onFault(error: unknown): void;
}

/**
 * One attempt: usually one exchange of a request and its response on one connection.
 *
 * The request is signed and written in one step once the connection is ready, with the current key and time. So once a
 * rotation has been confirmed, nothing signed with the old secret is sent. If the webhook was paused or deleted while
 * connecting, or this node no longer holds its project's lease, nothing is written and the attempt is cancelled.
 *
 * A second exchange follows within the same deadline if the webhook's URL changed while connecting, and at most once if
 * the receiver had closed a kept-alive connection: such a failure says nothing about the receiver, which never saw the
 * request.
 *
 * A receiver may answer before it has read the whole request. The attempt then ends once the rest has left: receivers that
 * read it later get all of it, and one that never does can't make requests pile up, because they count as in flight. One
 * that refuses the request hardly wants the rest, and soon gets no more of it.
 *
 *        ┌──────── URL changed, connection was closed ────────┐
 *        ▼                                                    │
 *     connecting ──▶ written ──▶ receiving ──▶ answered: the status is known and counts, whatever follows
 *        │             └──────────────┴──────▶ unanswered
 *        └──▶ cancelled, deferred, unanswered
 *
 * It ends exactly once, even if something throws, at its deadline at the latest, or shortly after if many others end
 * then, too. The deadline is extended by the time spent waiting for a turn to connect. That wait is bounded by the number
 * of sends in flight, since each needs one turn.
 */
export class HttpAttempt implements ConnectionUser, HasDeadline {
	readonly #shipment: Shipment;
	readonly #context: AttemptContext;
	readonly #resolve: (outcome: Sent) => void;
	#startedAt = 0;
	dueAt = 0;
	previous: HasDeadline | null = null;
	next: HasDeadline | null = null;

	// The current exchange.
	#destination: Destination | null = null;
	#connection: Connection | null = null;
	#isReused = false;
	#request: SentRequest | null = null;
	/** Whether all of the request has left, so that the receiver may have handled it. */
	#isSent = false;
	#response = new ResponseParser();
	#isExchanging = false;

	#mustBeNew = false;
	/** When part of an unfinished response was last read; null until then. */
	#readAt: number | null = null;
	/** When it was answered, if the request hadn't left by then. */
	#answeredAt: number | null = null;
	/** How many more reads may return parts of the response. */
	#readsLeft: number = RECEIVERS.reads;
	#grace: Timer | null = null;
	/** Time that earlier exchanges waited for turns to connect, milliseconds. */
	#waitedBeforeMs = 0;
	/** How much of its waiting has been added to its deadline. */
	#extendedMs = 0;
	#extension: Timer | null = null;
	#over = false;

	constructor(shipment: Shipment, context: AttemptContext, resolve: (outcome: Sent) => void) {
		this.#shipment = shipment;
		this.#context = context;
		this.#resolve = resolve;
	}

	get projectId(): string {
		return this.#shipment.target.projectId;
	}

	begin(): void {
		this.#startedAt = this.#context.clock.now();
		this.#shipment.onBegun?.(this.#startedAt);
		try {
			this.#context.deadlines.add(this);
		} catch (error) {
			this.#fail(error);
			return;
		}
		this.#exchange();
	}

	#exchange(): void {
		const { connections, brand } = this.#context;
		this.#waitedBeforeMs = this.#waitedMs;
		this.#connection = null;
		this.#request = null;
		this.#isSent = false;
		this.#response = new ResponseParser();
		try {
			const destination = destinationOf(this.#shipment.target, brand);
			const { origin } = destination;
			const connection = this.#mustBeNew
				? connections.open(origin, this.projectId)
				: connections.acquire(origin, this.projectId);
			this.#destination = destination;
			this.#connection = connection;
			this.#isReused = connection.isUsed;
			this.#isExchanging = true;
			connection.use(this);
		} catch (error) {
			if (this.#isExchanging) this.failed(asError(error));
			else this.#fail(error);
		}
	}

	/** No other code runs between these checks and the write, except writes of other requests of the batch. */
	ready(): void {
		const { writeRequest, batch } = this.#context;
		const { target } = this.#shipment;
		const destination = this.#destination!;
		if (!target.active || !this.#shipment.mayLeave()) {
			this.#endExchange("keep", () => this.#end({ kind: "cancelled" }));
		} else if (target.url !== destination.url) {
			this.#endExchange("keep", () => this.#exchange());
		} else {
			const { bytes, sent } = writeRequest(this.#shipment, destination);
			this.#request = sent;
			batch.write(this.#connection!, bytes);
			this.#shipment.onWritten?.();
		}
	}

	sent(): void {
		this.#isSent = true;
		if (this.#answeredAt !== null) this.#endAnswered();
	}

	received(chunk: Buffer): void {
		const response = this.#response;
		response.push(chunk);
		if (--this.#readsLeft < 0) {
			this.failed(new SendFailure("malformed_response", "the response comes in too many pieces"));
			return;
		}
		switch (response.state) {
			case "rest":
			case "complete":
				if (this.#connection!.isSending) this.#waitUntilSent();
				else this.#endAnswered();
				break;
			case "cut":
				this.#endAnswered();
				break;
			case "malformed":
				this.failed(new SendFailure("malformed_response", "the response is not HTTP"));
				break;
			case "body":
				this.#readAt = this.#context.clock.now();
				this.#grace ??= this.#context.clock.setTimeout(() => this.#cutNow(), RECEIVERS.bodyMs);
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

	/** Once the status line is known it counts, whatever follows it. */
	failed(error: Error): void {
		if (this.#response.status !== 0) this.#endAnswered();
		else this.#endFailed(error);
	}

	/** The deadline has passed, unless part of the time was spent waiting for a turn to connect. */
	cut(): void {
		const waitedMs = this.#waitedMs;
		const moreMs = waitedMs - this.#extendedMs;
		if (moreMs <= 0) {
			this.#cutNow();
			return;
		}
		this.#extendedMs = waitedMs;
		this.#extension = this.#context.clock.setTimeout(() => this.cut(), moreMs);
	}

	#cutNow(): void {
		const connection = this.#connection;
		if (this.#response.status !== 0) this.#endAnswered();
		else if (connection?.dialing?.resolving)
			this.#endFailed(
				new SendFailure("dns_failed", "the name was not resolved in time", { details: { dns: "timeout" } }),
			);
		else if (connection?.dialing?.isHeld)
			this.#endFailed(new SendFailure("tls_costly", "costly handshakes of the project left no time for this one"));
		else this.#endFailed(new SendFailure("timeout", "no status line came in time"));
	}

	#waitUntilSent(): void {
		if (this.#answeredAt !== null) return;
		const { clock } = this.#context;
		const { status } = this.#response;
		this.#answeredAt = clock.now();
		this.#grace?.cancel();
		if (status >= 300) this.#grace = clock.setTimeout(() => this.#cutNow(), RECEIVERS.bodyMs);
	}

	#endAnswered(): void {
		const request = this.#request;
		if (request === null) {
			this.#endFailed(new SendFailure("malformed_response", "a response came before the request"));
			return;
		}
		const { status, headers, body, truncated, persistent, state } = this.#response;
		const details = headers === null ? null : { headers };
		const isUnread = this.#connection!.isSending;
		const then = isUnread ? "destroy" : persistent ? "keep" : state === "rest" ? "drain" : "destroy";
		this.#endExchange(then, () => {
			// Time spent waiting for the rest of an unfinished body isn't the receiver's response time.
			const times = this.#timesUntil(this.#answeredAt ?? (truncated ? this.#readAt : null));
			this.#end({ kind: "answered", status, body, truncated, details, ...times, request });
		});
	}

	#endFailed(error: Error): void {
		const isStale = this.#isReused && !this.#response.heard && isConnectionClosed(error);
		this.#endExchange("destroy", () => {
			if (!isStale || this.#mustBeNew) {
				this.#fail(error);
				return;
			}
			this.#mustBeNew = true;
			this.#exchange();
		});
	}

	/** @param then what becomes of the connection */
	#endExchange(then: "keep" | "drain" | "destroy", next: () => void): void {
		if (!this.#isExchanging) return;
		this.#isExchanging = false;
		try {
			const connection = this.#connection!;
			if (then === "keep") connection.keep(this.#response.idleSeconds);
			else if (then === "drain") connection.drain(this.#response);
			else connection.destroy();
			this.#context.connections.release(connection);
			next();
		} catch (error) {
			this.#fail(error);
		}
	}

	#fail(error: unknown): void {
		if (this.#over) return;
		const shortage = shortageOf(error);
		if (shortage !== null) {
			this.#context.shortages.met(shortage, !(error instanceof ShortageFailure) || error.tried);
			if (!this.#isSent) {
				this.#end({ kind: "deferred", shortage });
				return;
			}
		}
		const reason = reasonOf(error);
		const url = this.#destination?.url ?? this.#shipment.target.url;
		const times = this.#timesUntil(null);
		const [details, request] = [detailsOf(error), this.#request];
		this.#end({ kind: "unanswered", reason: reason ?? "sender_failed", details, ...times, url, request });
		if (reason === null && shortage === null) this.#report(error);
	}

	#report(fault: unknown): void {
		try {
			this.#context.onFault(fault);
		} catch {
			// A failure to log must not become a fault of its own.
		}
	}

	#end(outcome: Sent): void {
		if (this.#over) return;
		this.#over = true;
		this.#resolve(outcome);
		this.#context.deadlines.remove(this);
		this.#extension?.cancel();
		this.#grace?.cancel();
	}

	/** Total wait for turns to connect so far, milliseconds. */
	get #waitedMs(): number {
		return this.#waitedBeforeMs + (this.#connection?.dialing?.waitedMs ?? 0);
	}

	/** @param at when it ended; now if null. Never before the start, even if the clock was set back meanwhile. */
	#timesUntil(at: number | null): { startedAt: number; endedAt: number; waitedMs: number } {
		const startedAt = this.#startedAt;
		const endedAt = Math.max(startedAt, at ?? this.#context.clock.now());
		return { startedAt, endedAt, waitedMs: Math.min(Math.floor(this.#waitedMs), endedAt - startedAt) };
	}
}

/** Where a request goes, parsed once for each URL. */
interface Destination {
	readonly url: string;
	readonly origin: Origin;
	/** The request line and those header lines that are the same for all requests to this URL. */
	readonly head: string;
}

/** Signs a shipment with the current key and time, and returns the bytes of the whole request. */
type RequestWriter = (shipment: Shipment, destination: Destination) => { bytes: Buffer; sent: SentRequest };

/** Parsed once per webhook URL, because parsing costs more than the rest of sending a request. */
const destinations = new WeakMap<Target, Destination>();

/** @throws TypeError if the webhook's URL isn't an https URL: a bug, since it was validated before */
function destinationOf(target: Target, brand: string): Destination {
	const known = destinations.get(target);
	if (known?.url === target.url) return known;
	const destination = parseDestination(target.url, brand);
	destinations.set(target, destination);
	return destination;
}

function parseDestination(url: string, brand: string): Destination {
	const parsed = new URL(url);
	const { protocol, origin, host, port, pathname, search } = parsed;
	if (protocol !== "https:") throw new TypeError("a webhook's URL is not https");
	const constant = requestHeaders({ brand, eventType: "", eventId: "", timestamp: "", signature: "" });
	const varying = new Set<string>(Object.values(headerNames(brand)));
	const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, "connection: keep-alive"];
	for (const [name, value] of Object.entries(constant)) if (!varying.has(name)) lines.push(`${name}: ${value}`);
	return {
		url,
		origin: { key: origin, hostname: hostOf(parsed), port: Number(port || 443) },
		head: `${lines.join("\r\n")}\r\n`,
	};
}

/** Characters allowed in a header's value (RFC 9110, 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const standardLines = (eventId: string, timestamp: number, signature: string): string =>
	`${STANDARD_HEADERS.id}: ${eventId}\r\n${STANDARD_HEADERS.timestamp}: ${timestamp}\r\n${STANDARD_HEADERS.signature}: v1,${signature}\r\n`;

export function createRequestWriter(brand: string, clock: Pick<Clock, "now">): RequestWriter {
	const names = headerNames(brand);
	const headerLines = ({ eventType, eventId, timestamp, signature }: Omit<RequestHeaders, "brand">): string =>
		`${names.event}: ${eventType}\r\n${names.eventId}: ${eventId}\r\n${names.signature}: ${signature}\r\n${names.timestamp}: ${timestamp}\r\n`;
	return ({ eventId, eventType, body, target }, { url, head }) => {
		if (!HEADER_VALUE.test(eventType) || !HEADER_VALUE.test(eventId))
			throw new TypeError("an event's type or id cannot be sent in a header");
		const timestamp = Math.floor(clock.now() / 1_000);
		const signature = sign(target.key, timestamp, body);
		const standardSignature = target.standardKey && signStandard(target.standardKey, eventId, timestamp, body);
		const varying = headerLines({ eventType, eventId, timestamp, signature });
		const standard = standardSignature ? standardLines(eventId, timestamp, standardSignature) : "";
		const lines = `${head}${varying}${standard}content-length: ${body.length}\r\n\r\n`;
		// One buffer, so that it is sent in one write and, if it fits, one TLS record.
		const bytes = Buffer.allocUnsafe(lines.length + body.length);
		bytes.write(lines, "latin1");
		bytes.set(body, lines.length);
		return { bytes, sent: { url, brand, timestamp, signature, ...(standardSignature && { standardSignature }) } };
	};
}
