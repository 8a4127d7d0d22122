import { constants } from "node:crypto";
import type { TcpNetConnectOpts } from "node:net";
import { isIPv6 } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import {
	type ConnectionOptions,
	connect as connectTls,
	createSecureContext,
	DEFAULT_CIPHERS,
	getCACertificates,
} from "node:tls";
import { MeteredStream, type Metering } from "./metered-stream.ts";

/** The parts of a TLS socket that the sender uses. */
export interface Socket {
	readonly writable: boolean;
	write(bytes: Uint8Array): unknown;
	/** Continues reading after `onread` returned false. */
	resume(): unknown;
	destroy(error?: Error): unknown;
	setNoDelay(on: boolean): unknown;
	/** Offers a session to resume; call this before it connects. Throws if the session is invalid. */
	setSession(session: Buffer): void;
	/** Calls back after this long without a read or write. */
	setTimeout(ms: number, callback?: () => void): unknown;
	on(event: "error", listener: (error: Error) => void): unknown;
	on(event: "session", listener: (session: Buffer) => void): unknown;
	/** Calls back with each line of the key log, as OpenSSL derives a secret. */
	on(event: "keylog", listener: (line: Buffer) => void): unknown;
	on(event: "secureConnect" | "end" | "close", listener: () => void): unknown;
	once(event: "connect" | "secureConnect", listener: () => void): unknown;
}

/** `tls.connect` passes `onread` on to `net.connect`, although its types don't say so. */
export type ConnectOptions = Pick<TcpNetConnectOpts, "port" | "onread"> &
	ConnectionOptions & {
		readonly host: string;
		/** Given if the handshake is metered. It then begins at once, and can offer only the session among the options. */
		readonly metering?: Metering | undefined;
	};

/** Starts a TLS connection; may throw. */
export type Connect = (options: ConnectOptions) => Socket;

/**
 * Limits what a receiver can make this node compute in one turn of the event loop. With finite-field Diffie-Hellman the
 * receiver chooses the numbers, and one handshake can take seconds. Renegotiation would allow endless handshakes.
 */
const BOUNDED = { ciphers: `${DEFAULT_CIPHERS}:!kDHE`, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/** @param extraCa PEM with certificate authorities to trust in addition to the machine's */
export function createConnect(extraCa?: string): Connect {
	const ca = [...getCACertificates("default")];
	if (extraCa !== undefined) ca.push(extraCa);
	// Created once: reading about 150 authorities again for each connection would cost milliseconds.
	const secureContext = createSecureContext({ ca, minVersion: "TLSv1.2", ...BOUNDED });
	return ({ metering, ...options }) =>
		metering === undefined
			? // Node documents the `session` option, but not the method that it calls.
				(connectTls({ ...options, secureContext }) as ReturnType<typeof connectTls> & Socket)
			: connectMetered({ ...options, secureContext }, metering);
}

function connectMetered(options: ConnectOptions, metering: Metering): Socket {
	const { port, onread, ...tlsOptions } = options;
	// The host stays among the options, because the certificate is checked against it if it's an address in the URL.
	const stream = new MeteredStream(options.host, port, metering);
	let socket: ReturnType<typeof connectTls> & Socket;
	try {
		socket = connectTls({ ...tlsOptions, socket: stream }) as typeof socket;
	} catch (error) {
		stream.destroy();
		// OpenSSL rejects damaged sessions.
		if (options.session === undefined) throw error;
		return connectMetered({ ...options, session: undefined }, metering);
	}
	stream.tcp.once("connect", () => socket.emit("connect"));
	// Node itself reads into a buffer only from native sockets. No chunk is larger than a TLS record, nor than the buffer.
	if (onread)
		socket.on("data", (chunk: Buffer) => {
			const buffer = onread.buffer as Uint8Array;
			buffer.set(chunk);
			if (!onread.callback(chunk.length, buffer)) socket.pause();
		});
	return socket;
}

/** What `os.networkInterfaces` returns. */
export type Interfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>;

/**
 * Whether this machine has an address from which it could connect to `target`: one of the same family, on the loopback
 * interface for a loopback target, on any other interface otherwise. Link-local IPv6 addresses don't count, because
 * they reach no receiver.
 *
 * Without such an address, connecting always fails with EADDRNOTAVAIL or ENETUNREACH. IPv6 disabled by sysctl gives the
 * same error as exhausted local ports, but only the latter is a shortage, and temporary.
 */
export function hasLocalAddressFor(target: string, interfaces: Interfaces = networkInterfaces): boolean {
	const family = isIPv6(target) ? "IPv6" : "IPv4";
	const internal = target === "::1" || target.startsWith("127.");
	return Object.values(interfaces()).some((addresses) =>
		addresses?.some((each) => each.family === family && each.internal === internal && !/^fe[89ab]/i.test(each.address)),
	);
}
