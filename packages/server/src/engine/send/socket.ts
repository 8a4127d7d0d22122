import type { TcpNetConnectOpts } from "node:net";
import { type ConnectionOptions, connect as connectTls, createSecureContext, getCACertificates } from "node:tls";

/** What the sender uses of a TLS socket. */
export interface Socket {
	readonly writable: boolean;
	write(bytes: Uint8Array): unknown;
	/** Reads on after `onread` returned false. */
	resume(): unknown;
	destroy(error?: Error): unknown;
	setNoDelay(on: boolean): unknown;
	/** Offers a session to resume; before it has connected. Throws if it isn't one. */
	setSession(session: Buffer): void;
	/** Calls back when nothing was read or written for so long. */
	setTimeout(ms: number, callback?: () => void): unknown;
	on(event: "error", listener: (error: Error) => void): unknown;
	on(event: "session", listener: (session: Buffer) => void): unknown;
	on(event: "end" | "close", listener: () => void): unknown;
	once(event: "connect" | "secureConnect", listener: () => void): unknown;
}

/** `tls.connect` hands `onread` on to `net.connect`; its types do not say so. */
export type ConnectOptions = Pick<TcpNetConnectOpts, "host" | "port" | "onread"> & ConnectionOptions;

/** Begins a TLS connection; may throw. */
export type Connect = (options: ConnectOptions) => Socket;

/** @param extraCa PEM with certificate authorities to trust besides the machine's */
export function createConnect(extraCa?: string): Connect {
	const ca = [...getCACertificates("default")];
	if (extraCa !== undefined) ca.push(extraCa);
	// Made once: reading some 150 authorities again for each connection would cost milliseconds.
	const secureContext = createSecureContext({ ca, minVersion: "TLSv1.2" });
	// Node documents the option `session`, but not the method that it calls.
	return (options) => connectTls({ ...options, secureContext }) as ReturnType<typeof connectTls> & Socket;
}
