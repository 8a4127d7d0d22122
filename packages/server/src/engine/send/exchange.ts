import { AnswerReader } from "./answer-reader.ts";
import type { Connection, ConnectionUser } from "./connection.ts";
import { isConnectionClosed, SendFailure } from "./errors.ts";
import type { SentRequest } from "./outcome.ts";
import type { Destination, RequestWriter } from "./request-writer.ts";
import type { Shipment } from "./sender.ts";

/**
 * One request and its answer on one connection.
 *
 * The request is signed and written in one go, once the connection is ready: with the key and the time of then, so that
 * once a rotation was answered nothing signed with the old secret leaves. If the webhook's URL changed while the
 * connection was made, nothing is written and the exchange ends as `moved`; if the webhook was paused or deleted, or this
 * node no longer holds its project's lease, as `withheld`.
 *
 *     connecting ──▶ written ──▶ answering ──▶ ended: answered
 *        │             │            the status is known: whatever comes now, it counts
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
	readonly #answer = new AnswerReader();
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

	/** Where it goes. */
	get url(): string {
		return this.#destination.url;
	}

	/** The request as it was written, or null as long as it was not. */
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

	/** Time is up: an answer whose status is known is taken as far as it came, anything else is a timeout. */
	cut(): void {
		if (this.#ended) return;
		if (this.#answer.status !== 0) this.#endAnswered(false);
		else if (this.#connection.isResolving)
			this.#endFailed(new SendFailure("dns_failed", "the name was not resolved in time"));
		else this.#endFailed(new SendFailure("timeout", "no status line came in time"));
	}

	/** From the checks to the write nothing else runs, or runs only what writes other requests (see {@link Burst}). */
	ready(): void {
		const { target } = this.#shipment;
		if (target.withheld || !this.#shipment.mayLeave()) {
			this.#end({ kind: "withheld" }, true);
		} else if (target.url !== this.#destination.url) {
			this.#end({ kind: "moved" }, true);
		} else {
			const { bytes, sent } = this.#writer(this.#shipment, this.#destination);
			this.#request = sent;
			this.#connection.write(bytes);
			this.#shipment.onWritten?.();
		}
	}

	received(chunk: Buffer): void {
		const answer = this.#answer;
		answer.push(chunk);
		switch (answer.state) {
			case "complete":
				this.#endAnswered(true);
				break;
			case "cut":
				this.#endAnswered(false);
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
		this.#answer.end();
		if (this.#answer.state === "complete") this.#endAnswered(true);
		else this.failed(new SendFailure("connection_reset", "the connection was closed within the answer"));
	}

	failed(error: Error): void {
		if (this.#answer.status !== 0) this.#endAnswered(false);
		else this.#endFailed(error);
	}

	/** The status line decides, whatever the body does after it. */
	#endMalformed(): void {
		if (this.#answer.status !== 0) this.#endAnswered(false);
		else this.#endFailed(new SendFailure("malformed_response", "the answer is no HTTP"));
	}

	#endAnswered(complete: boolean): void {
		const request = this.#request;
		if (request === null) {
			this.#endFailed(new SendFailure("malformed_response", "an answer came before the request"));
			return;
		}
		const { status, body, persistent } = this.#answer;
		this.#end({ kind: "answered", status, body, truncated: !complete, request }, persistent);
	}

	#endFailed(error: unknown): void {
		if (this.#ended) return;
		const stale = this.#reused && !this.#answer.heard && isConnectionClosed(error);
		this.#end({ kind: "failed", error, stale }, false);
	}

	#end(end: ExchangeEnd, intact: boolean): void {
		if (this.#ended) return;
		this.#ended = true;
		if (intact) this.#connection.rest(this.#answer.idleSeconds);
		else this.#connection.destroy();
		this.#owner.exchangeEnded(end, this.#connection);
	}
}

export interface ExchangeOwner {
	/** The head was read and something of the body may have been, but not all of it. Called again whenever more was read. */
	awaitsBody(): void;
	/** Called once; must not throw. The connection is closed, or at rest and may be used again. */
	exchangeEnded(end: ExchangeEnd, connection: Connection): void;
}

export type ExchangeEnd =
	| {
			readonly kind: "answered";
			readonly status: number;
			readonly body: Uint8Array;
			/** Whether there was more, or might have been. */
			readonly truncated: boolean;
			readonly request: SentRequest;
	  }
	| {
			readonly kind: "failed";
			readonly error: unknown;
			/** Whether a connection that had served before had been closed by the receiver meanwhile: no attempt. */
			readonly stale: boolean;
	  }
	/** The webhook's URL is another by now; nothing was written. */
	| { readonly kind: "moved" }
	/** The webhook is paused or deleted by now, or the lease is not ours; nothing was written. */
	| { readonly kind: "withheld" };
