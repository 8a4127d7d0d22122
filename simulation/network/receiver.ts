import { answer, type Behaviour } from "./behaviour.ts";
import type { ReceiverConnection } from "./receiver-connection.ts";
import type { Draw, SeenRequest } from "./types.ts";

/** What becomes of a connection that a node begins. Times are milliseconds. */
export type Acceptance =
	/** `sessions`: how many TLS sessions are issued, one by default. */
	| { readonly kind: "accept"; readonly acceptMs?: number; readonly handshakeMs?: number; readonly sessions?: number }
	/** No server is listening. */
	| { readonly kind: "refuse" }
	/** Someone on the way says so: EHOSTUNREACH unless given. */
	| { readonly kind: "unreachable"; readonly code?: string }
	/** Nothing comes back, not even an acknowledgement. */
	| { readonly kind: "silent" }
	/** It is accepted, and then: nothing, a reset, an orderly end, */
	| { readonly kind: "mute" | "reset" | "close"; readonly acceptMs?: number }
	/** or the TLS handshake fails with this code, such as CERT_HAS_EXPIRED. */
	| { readonly kind: "tls"; readonly code: string; readonly acceptMs?: number };

/** How long a receiver keeps connections. */
export interface KeepAlive {
	/** Without a request, milliseconds. */
	readonly idleMs: number;
	/** How many requests it accepts before it closes without notice. */
	readonly requests: number;
}

export const ACCEPTED: Acceptance = { kind: "accept" };
const OK = answer(200, { body: "ok" });

/**
 * A server that webhooks are delivered to. It decides what to do for each connection and each request, so that all of it
 * may change at any time. Draws come from streams that are named after the receiver and `keyOf`, so that what happens to
 * one request does not depend on others.
 */
export class Receiver {
	readonly name: string;
	/** Names and addresses in its certificate. */
	certificateNames: readonly string[];
	accept: (address: string, draw: Draw) => Acceptance = () => ACCEPTED;
	/** @param nth how many requests with this key came before */
	behave: (request: SeenRequest, draw: Draw, nth: number) => Behaviour = () => OK;
	/** The name of a request's random stream, together with the number of earlier requests with the same key. */
	keyOf: (request: SeenRequest) => string = ({ path }) => path;
	keepAlive: KeepAlive = { idleMs: 5_000, requests: Number.POSITIVE_INFINITY };
	/** Whole requests that it got. */
	requests = 0;
	readonly #connections = new Set<ReceiverConnection>();
	readonly #counts = new Map<string, number>();

	constructor(name: string, certificateNames: readonly string[] = [name]) {
		this.name = name;
		this.certificateNames = certificateNames;
	}

	/** Connections that are open at its end. */
	get connections(): number {
		return this.#connections.size;
	}

	/** Closes all connections, even during requests. */
	closeAll(how: "end" | "reset" = "reset"): void {
		for (const connection of [...this.#connections]) connection.close(how);
	}

	/** Closes connections without a request in progress. */
	closeIdle(how: "end" | "reset" = "end"): void {
		for (const connection of [...this.#connections]) if (connection.isIdle) connection.close(how);
	}

	// ── for the network ──

	opened(connection: ReceiverConnection): void {
		this.#connections.add(connection);
	}

	closed(connection: ReceiverConnection): void {
		this.#connections.delete(connection);
	}

	/** How many requests with this key came before; counts this one. */
	countOf(key: string): number {
		const count = this.#counts.get(key) ?? 0;
		this.#counts.set(key, count + 1);
		return count;
	}
}
