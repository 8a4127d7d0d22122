import { isIP, type LookupFunction, type TcpNetConnectOpts } from "node:net";
import {
	type ConnectionOptions,
	connect as connectTls,
	createSecureContext,
	getCACertificates,
	type TLSSocket,
} from "node:tls";
import { SendFailure } from "./errors.ts";
import type { Guard } from "./guard.ts";
import type { Resolver } from "./resolver.ts";

/**
 * Makes TLS connections to receivers, and only to addresses that the guard permits: a name is resolved once, by the
 * resolver that applies the guard, and exactly the addresses it returned are connected to. An address in the URL itself
 * is never looked up, so it is judged here.
 */
export interface Dialer {
	/**
	 * Calls `done` once, with a connected and verified socket or with why there is none; never after `cancel`. What the
	 * socket reads goes to `received`, and not through the stream.
	 */
	dial(hostname: string, port: number, done: Dialed, received: Received): Dialing;
}

export type Dialed = (error: Error | null, socket: TLSSocket | null) => void;

/** Takes what came. The bytes are overwritten by what comes next, on any connection: keep copies only. */
export type Received = (bytes: Buffer) => void;

/** A connection being made. */
export interface Dialing {
	/** Whether the name is still being resolved. */
	readonly resolving: boolean;
	/** Gives it up and frees its socket; harmless once it is done. */
	cancel(): void;
}

export interface DialerOptions {
	readonly guard: Pick<Guard, "permits">;
	readonly resolver: Resolver;
	/** PEM with certificate authorities to trust besides the machine's. */
	readonly extraCa?: string | undefined;
}

/** How long one of several addresses may take to accept the connection before the next is tried, milliseconds. */
const NEXT_ADDRESS_AFTER_MS = 1_000;

/**
 * An address that is given up so much later than it should have been, milliseconds, was given up by a process that stood
 * still meanwhile, and that does not know yet whether the address has accepted.
 */
const STOOD_STILL_MS = 250;

/** TLS sessions kept for resumption, one for each host and port (RFC 8446, 2.2), the least recently used dropped first. */
const MAX_SESSIONS = 1_000;

/** As much as a TLS record holds: what a receiver sent in one piece is mostly read in one. */
const READ_BYTES = 16_384;

/** `tls.connect` hands these on to `net.connect`; its types do not say so. */
type TcpOptions = Pick<TcpNetConnectOpts, "autoSelectFamily" | "autoSelectFamilyAttemptTimeout" | "onread">;

export function createDialer(options: DialerOptions): Dialer {
	const { guard, resolver } = options;
	const ca = [...getCACertificates("default")];
	if (options.extraCa !== undefined) ca.push(options.extraCa);
	// Made once: reading some 150 authorities anew for each connection would cost milliseconds.
	const secureContext = createSecureContext({ ca, minVersion: "TLSv1.2" });
	const sessions = new Map<string, Buffer>();
	// One for all connections: what was read is taken before anything else is read.
	const buffer = Buffer.allocUnsafeSlow(READ_BYTES);

	async function addressesOf(hostname: string): Promise<readonly string[]> {
		if (isIP(hostname) === 0) return resolver.lookup(hostname);
		if (guard.permits(hostname)) return [hostname];
		throw new SendFailure("address_not_public", `requests may not go to ${hostname}`);
	}

	function connect(
		hostname: string,
		port: number,
		addresses: readonly string[],
		done: (...dialed: [...Parameters<Dialed>, stoodStill: boolean]) => void,
		received: Received,
	): TLSSocket {
		const place = `${hostname}:${port}`;
		const session = sessions.get(place);
		const connection: ConnectionOptions & TcpOptions = {
			host: hostname,
			port,
			// Names are indicated to the server and compared with its certificate; addresses are compared only (RFC 6066, 3).
			servername: isIP(hostname) === 0 ? hostname : "",
			lookup: lookupFrom(addresses),
			autoSelectFamily: true,
			autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
			onread: {
				buffer,
				callback(length) {
					received(buffer.subarray(0, length));
					return true;
				},
			},
			ALPNProtocols: ["http/1.1"],
			secureContext,
			// Said outright, since NODE_TLS_REJECT_UNAUTHORIZED in the environment changes the default.
			rejectUnauthorized: true,
			...(session === undefined ? null : { session }),
		};
		const socket = connectTls(connection);
		socket.setNoDelay(true);
		socket.on("session", (fresh: Buffer) => {
			sessions.delete(place);
			sessions.set(place, fresh);
			if (sessions.size > MAX_SESSIONS) sessions.delete(sessions.keys().next().value ?? place);
		});
		// The first address is tried before anybody can listen.
		let triedAt = performance.now();
		let stoodStill = false;
		socket.on("connectionAttempt", () => {
			triedAt = performance.now();
		});
		socket.on("connectionAttemptTimeout", () => {
			stoodStill ||= performance.now() - triedAt > NEXT_ADDRESS_AFTER_MS + STOOD_STILL_MS;
		});
		let pending = true;
		socket.once("secureConnect", () => {
			pending = false;
			done(null, socket, stoodStill);
		});
		// Stays on for good: whoever takes the socket listens as well, but an error between the two must find a listener.
		socket.on("error", (error) => {
			if (!pending) return;
			pending = false;
			sessions.delete(place);
			done(error, null, stoodStill);
		});
		return socket;
	}

	return {
		dial(hostname, port, done, received) {
			let resolving = true;
			let cancelled = false;
			let socket: TLSSocket | null = null;
			const attempt = (addresses: readonly string[], isFirst: boolean): void => {
				const end = (error: Error | null, connected: TLSSocket | null, stoodStill: boolean): void => {
					// Nothing was sent yet, and the receiver is not to blame.
					if (error && stoodStill && isFirst && !cancelled) attempt(addresses, false);
					else done(error, connected);
				};
				try {
					socket = connect(hostname, port, addresses, end, received);
				} catch (error) {
					// A second try is made from a socket's event, where nobody would catch it.
					done(error instanceof Error ? error : new Error(String(error)), null);
				}
			};
			const run = async (): Promise<void> => {
				try {
					const addresses = await addressesOf(hostname);
					resolving = false;
					if (!cancelled) attempt(addresses, true);
				} catch (error) {
					resolving = false;
					if (!cancelled) done(error instanceof Error ? error : new Error(String(error)), null);
				}
			};
			run();
			return {
				get resolving() {
					return resolving;
				},
				cancel() {
					cancelled = true;
					socket?.destroy();
				},
			};
		},
	};
}

/**
 * What sockets call instead of resolving: gives them the addresses that were judged, and no others. It answers on the next
 * tick, as a real lookup would: an address without a route fails synchronously, which destroys a socket that
 * `tls.connect` is still setting up and nobody listens to yet, and that ends the process.
 */
function lookupFrom(addresses: readonly string[]): LookupFunction {
	const all = addresses.map((address) => ({ address, family: isIP(address) }));
	return (_hostname, options, callback) => {
		process.nextTick(() => {
			if (options.all === true) callback(null, all);
			else callback(null, all[0]!.address, all[0]!.family);
		});
	};
}
