import { sign } from "@posthorn/protocol";
import type { Dispatcher } from "undici";
import type { Clock } from "../../base/clock.ts";
import { Body } from "./body.ts";
import type { Connection } from "./connection.ts";
import { isConnectionClosed, SendFailure } from "./errors.ts";
import type { HeaderList } from "./header-list.ts";
import type { SentRequest } from "./outcome.ts";
import type { Shipment } from "./sender.ts";

/**
 * One request and its answer on one connection.
 *
 * A request is signed when it is dispatched, but it may be written later: after a TLS handshake, or a turn of the event
 * loop. Right before the bytes go out (`onRequestStart`) the webhook is looked at again. If its secret was rotated
 * or the stamped second is past, the request is withdrawn, unwritten, and dispatched again with a fresh signature, so
 * that once a rotation was answered nothing signed with the old secret leaves. If its URL changed, the exchange ends as
 * `moved`.
 *
 *     dispatched ──▶ written ──▶ answering ──▶ ended: answered
 *       │  ▲           │            the status is known: whatever comes now, it counts
 *       │  └ withdrawn └──▶ ended: failed (nothing came)
 *       └──▶ ended: moved, failed
 */
export class Exchange implements Dispatcher.DispatchHandler {
	readonly #shipment: Shipment;
	readonly #destination: Destination;
	readonly #connection: Connection;
	readonly #options: ExchangeOptions;
	readonly #owner: ExchangeOwner;
	readonly #reused: boolean;
	readonly #body = new Body();
	#request: SentRequest | null = null;
	#key: Shipment["target"]["key"];
	/** Set when the request was withdrawn from under `onRequestStart`. */
	#withdrawn: "moved" | "outdated" | null = null;
	#written = false;
	#status = 0;
	#ended = false;

	constructor(
		shipment: Shipment,
		destination: Destination,
		connection: Connection,
		options: ExchangeOptions,
		owner: ExchangeOwner,
	) {
		this.#shipment = shipment;
		this.#destination = destination;
		this.#connection = connection;
		this.#options = options;
		this.#owner = owner;
		this.#reused = connection.isUsed;
		this.#key = shipment.target.key;
	}

	/** The request as it was signed last. */
	get request(): SentRequest | null {
		return this.#request;
	}

	/** Signs with the key and time of now and hands the request to the connection. */
	dispatch(): void {
		const { eventId, eventType, body, target } = this.#shipment;
		const { brand, clock, headers } = this.#options;
		const timestamp = seconds(clock);
		this.#key = target.key;
		const signature = sign(this.#key, timestamp, body);
		this.#request = { url: this.#destination.url, brand, timestamp, signature };
		this.#connection.dispatch(
			{
				method: "POST",
				path: this.#destination.path,
				headers: headers({ eventType, eventId, timestamp, signature }),
				body,
			},
			this,
		);
	}

	/** Time is up: an answer whose status is known is taken as far as it came, anything else is a timeout. */
	cut(): void {
		if (this.#ended) return;
		if (this.#hasStatus()) this.#endAnswered(false);
		else if (this.#connection.isResolving)
			this.#endFailed(new SendFailure("dns_failed", "the name was not resolved in time"));
		else this.#endFailed(new SendFailure("timeout", "no status line came in time"));
	}

	onRequestStart(): void {
		const { target } = this.#shipment;
		if (target.url !== this.#destination.url) this.#withdrawn = "moved";
		else if (target.key !== this.#key || seconds(this.#options.clock) !== this.#request?.timestamp)
			this.#withdrawn = "outdated";
		// Thrown from here, the request is dropped before a byte of it is written, and the connection stays in order.
		if (this.#withdrawn !== null) throw WITHDRAWN;
		this.#connection.beginRequest();
		this.#written = true;
	}

	onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
		if (this.#ended) return;
		if (status === 101) {
			this.#endFailed(new SendFailure("malformed_response", "the receiver switched protocols unasked"));
			return;
		}
		if (status < 200) return;
		this.#status = status;
		// Mostly the whole answer is here already and handled in this turn: only later is it worth a timer.
		process.nextTick(awaitBody, this, this.#owner);
	}

	onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
		if (!this.#ended && !this.#body.append(chunk)) this.#endAnswered(false);
	}

	onResponseEnd(): void {
		if (!this.#ended) this.#endAnswered(true);
	}

	onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
		if (this.#ended) return;
		const withdrawn = this.#withdrawn;
		this.#withdrawn = null;
		if (withdrawn === "outdated") this.dispatch();
		else if (withdrawn === "moved") this.#end({ kind: "moved", intact: true });
		else if (this.#status !== 0 || (isConnectionClosed(error) && this.#hasStatus())) this.#endAnswered(false);
		else this.#endFailed(error);
	}

	get isAwaitingBody(): boolean {
		return !this.#ended && this.#status !== 0;
	}

	/** The status line decides, be it that the header lines after it never ended. */
	#hasStatus(): boolean {
		if (this.#status === 0 && this.#written) this.#status = this.#connection.status;
		return this.#status !== 0;
	}

	#endAnswered(complete: boolean): void {
		const [status, body] = [this.#status, this.#body.bytes];
		this.#end({ kind: "answered", status, body, truncated: !complete, intact: complete });
	}

	#endFailed(error: unknown): void {
		const answering = this.#written && this.#connection.isAnswering;
		const stale = this.#reused && !answering && isConnectionClosed(error);
		this.#end({ kind: "failed", error, stale, intact: false });
	}

	#end(end: ExchangeEnd): void {
		this.#ended = true;
		this.#owner.exchangeEnded(end, this.#connection);
	}
}

/** Where a request goes, taken apart once for each URL. */
export interface Destination {
	readonly url: string;
	readonly origin: string;
	readonly path: string;
}

export interface ExchangeOptions {
	readonly clock: Pick<Clock, "now">;
	readonly brand: string;
	readonly headers: HeaderList;
}

export interface ExchangeOwner {
	/** The status line is there, the body not yet all. */
	bodyAwaited(): void;
	/** Called once. */
	exchangeEnded(end: ExchangeEnd, connection: Connection): void;
}

/** `intact`: the connection may carry another request. */
export type ExchangeEnd =
	| {
			readonly kind: "answered";
			readonly status: number;
			readonly body: Uint8Array;
			/** Whether there was more, or might have been. */
			readonly truncated: boolean;
			readonly intact: boolean;
	  }
	| {
			readonly kind: "failed";
			readonly error: unknown;
			/** Whether a connection that had served before had been closed by the receiver meanwhile: no attempt. */
			readonly stale: boolean;
			readonly intact: false;
	  }
	/** The webhook's URL is another by now; nothing was written. */
	| { readonly kind: "moved"; readonly intact: true };

const WITHDRAWN = new Error("withdrawn before it was written");

function awaitBody(exchange: Exchange, owner: ExchangeOwner): void {
	if (exchange.isAwaitingBody) owner.bodyAwaited();
}

function seconds(clock: Pick<Clock, "now">): number {
	return Math.floor(clock.now() / 1_000);
}
