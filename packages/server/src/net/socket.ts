import { isIPv6, type TcpNetConnectOpts } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import type { ConnectionOptions, PeerCertificate } from "node:tls";
import { codeOf } from "./errors.ts";
import type { Metering } from "./tls/tls.ts";

/** The parts of a TLS socket that the sender uses. */
export interface Socket {
	readonly writable: boolean;
	/** Number of bytes that were written and haven't left. */
	readonly writableLength: number;
	/** @param sent called once they have left, or with the error if they couldn't */
	write(bytes: Uint8Array, sent?: (error?: Error | null) => void): unknown;
	/** Continues reading after `onread` returned false. */
	resume(): unknown;
	destroy(error?: Error): unknown;
	setNoDelay(on: boolean): unknown;
	/** Offers a session to resume; call this before it connects. Throws if the session is invalid. */
	setSession(session: Buffer): void;
	/** Calls back after this long without a read or write. */
	setTimeout(ms: number, callback?: () => void): unknown;
	/** The receiver's certificate, while the socket is open; absent if there is no real TLS. */
	getPeerCertificate?(): Partial<PeerCertificate>;
	/** Whether the handshake resumed an earlier session, so that no certificate is checked. */
	isSessionReused?(): boolean;
	/** Node emits `secure` once the handshake has ended, before it checks the certificate. */
	prependListener?(event: "secure", listener: () => void): unknown;
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

/** Errors for an address of a family of which this machine has no address. */
const WITHOUT_FAMILY = new Set(["EADDRNOTAVAIL", "ENETUNREACH", "EHOSTUNREACH", "EAFNOSUPPORT", "EINVAL"]);

/** Whether connecting to `target` failed because this machine has no address of its family. */
export function isFamilyMissing(error: Error, target: string, interfaces?: Interfaces): boolean {
	if (!WITHOUT_FAMILY.has(codeOf(error))) return false;
	try {
		return !hasLocalAddressFor(target, interfaces);
	} catch {
		// Listing the addresses takes a file descriptor. While there is none, nothing says that one is missing.
		return false;
	}
}
