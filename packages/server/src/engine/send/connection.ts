import type { EventEmitter } from "node:events";
import type { TLSSocket } from "node:tls";
import { Client, type Dispatcher } from "undici";
import type { Dialer, Dialing } from "./dial.ts";
import { SendFailure } from "./errors.ts";
import { StatusTap } from "./status-tap.ts";

/** How long a connection is kept without a request, milliseconds. Receivers that hint at less are heard (Keep-Alive). */
const IDLE_MS = 4_000;

/** The most that an answer's header lines may take together, bytes. */
const MAX_HEADER_BYTES = 16 * 1_024;

/**
 * One connection to one origin: one undici client that connects when the first request is dispatched, carries one
 * request at a time, and is never connected again once it has closed.
 */
export class Connection {
	readonly origin: string;
	readonly #client: Client;
	readonly #dialer: Dialer;
	#dialing: Dialing | null = null;
	#socket: TLSSocket | null = null;
	#tap: StatusTap | null = null;
	#requests = 0;

	/**
	 * @param onClose Called once it was connected and has closed, by whatever cause.
	 * @param onFault Told of errors that nobody else can be told of.
	 */
	constructor(
		origin: string,
		dialer: Dialer,
		onClose: (connection: Connection) => void,
		onFault: (error: unknown) => void,
	) {
		this.origin = origin;
		this.#dialer = dialer;
		this.#client = new Client(origin, {
			connect: (options, callback) => {
				if (this.#dialing !== null) {
					// undici connects again by itself when a request waits: ours must not go anywhere unasked.
					callback(new SendFailure("connection_reset", "the connection closed before the request was written"), null);
					return;
				}
				// The dot of the root may end a host in a URL, but belongs neither into DNS lookups here nor into certificates.
				const hostname = options.hostname.replace(/\.$/, "");
				this.#dialing = this.#dialer.dial(hostname, Number(options.port || 443), (error, socket) => {
					this.#socket = socket;
					if (socket === null) callback(error ?? new Error("no connection and no error"), null);
					else {
						this.#tap = new StatusTap(socket);
						callback(null, socket);
					}
				});
			},
			allowH2: false,
			pipelining: 1,
			keepAliveTimeout: IDLE_MS,
			keepAliveMaxTimeout: IDLE_MS,
			maxHeaderSize: MAX_HEADER_BYTES,
			// Attempts have a deadline of their own.
			headersTimeout: 0,
			bodyTimeout: 0,
		});
		this.#client.on("disconnect", () => onClose(this));
		// undici emits what a handler throws; without a listener the process would end.
		const emitter: EventEmitter = this.#client;
		emitter.on("error", onFault);
	}

	/** Whether a request may be dispatched on it, as far as is known. */
	get isOpen(): boolean {
		return !this.#client.destroyed && this.#socket !== null && !this.#socket.destroyed;
	}

	/** Whether it is still looking for the receiver's address. */
	get isResolving(): boolean {
		return this.#dialing?.resolving === true;
	}

	/** Whether a request was written to it before. */
	get isUsed(): boolean {
		return this.#requests > 0;
	}

	/** Whether any byte came in answer to the request written last. */
	get isAnswering(): boolean {
		return this.#tap?.heard === true;
	}

	/** The status of the answer to the request written last, as soon as its status line is there; until then 0. */
	get status(): number {
		return this.#tap?.status ?? 0;
	}

	/** To be called right before a request is written. */
	beginRequest(): void {
		this.#requests++;
		this.#tap?.begin();
	}

	dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
		this.#client.dispatch(options, handler);
	}

	/** Closes it at once, whatever is under way; harmless when repeated. */
	destroy(onDestroyed: () => void = nothing): void {
		this.#dialing?.cancel();
		this.#client.destroy(null, onDestroyed);
	}
}

function nothing(): void {}
