/**
 * Whether others can read what a connection to the database carries. `local`: it doesn't leave this machine.
 * `unverified`: it is encrypted, but someone in between could pretend to be the server.
 */
export type Privacy = "local" | "encrypted" | "unverified" | "readable";

/** This end of a connection. It has no address if it goes through a file, and only TLS has the last two. */
interface OwnEnd {
	readonly remoteAddress?: string | undefined;
	readonly localAddress?: string | undefined;
	readonly encrypted?: boolean;
	readonly authorized?: boolean;
}

/** The server's end, which is of another connection if there is a proxy or a pooler in between. */
interface ServerEnd {
	readonly encrypted: boolean | null;
	readonly clientAddress: string | null;
	readonly serverAddress: string | null;
}

export function privacyOf(socket: object, server: ServerEnd): Privacy {
	const { remoteAddress, localAddress, encrypted = false, authorized = false }: OwnEnd = socket;
	const leaves = isElsewhere(remoteAddress, localAddress);
	const arrives = isElsewhere(server.clientAddress, server.serverAddress);
	if ((leaves && !encrypted) || (arrives && server.encrypted === false)) return "readable";
	if (leaves && !authorized) return "unverified";
	return leaves ? "encrypted" : "local";
}

const LOOPBACK = /^(?:(?:::ffff:)?127\.|::1$)/;

const isElsewhere = (address: string | null | undefined, own: string | null | undefined): boolean =>
	address !== null && address !== undefined && !LOOPBACK.test(address) && address !== own;
