import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { Connections } from "./connections.ts";
import type { Authority, Credentials } from "./tls/certificates.ts";

/** @param n the connection's number on this server, from 1 */
export type OnConnection<S extends Socket> = (socket: S, n: number) => void | Promise<void>;

export interface RawReceiverOptions {
	/** The authority that issues the certificate, or an existing certificate. */
	readonly authority: Authority | Credentials;
	/** What the certificate is for. By default, loopback; not used with an existing certificate. */
	readonly hosts?: readonly string[];
	/** By default, any free one. */
	readonly port?: number;
	readonly onConnection: OnConnection<TLSSocket>;
}

export type RawReceiver = Awaited<ReturnType<typeof startRawReceiver>>;

/** Starts a TLS server on loopback that passes each connection, after its handshake, to `onConnection`. */
export async function startRawReceiver({ authority, hosts, port, onConnection }: RawReceiverOptions) {
	const credentials = "issue" in authority ? await authority.issue(hosts ? { hosts } : {}) : authority;
	const server = createTlsServer(credentials);
	return await open(server, "secureConnection", port, onConnection);
}

/** Starts a TCP server on loopback that passes each connection, without any TLS, to `onConnection`. */
export async function startPlainTcp(onConnection: OnConnection<Socket>, port?: number) {
	return await open(createTcpServer({ allowHalfOpen: true }), "connection", port, onConnection);
}

async function open<S extends Socket>(
	server: Server,
	signal: "connection" | "secureConnection",
	wanted: number | undefined,
	onConnection: OnConnection<S>,
) {
	const connections = new Connections(server, signal === "secureConnection");
	let failure: Error | undefined;
	const fail = (error: unknown): void => {
		failure ??= new Error("The receiver's own behavior failed.", { cause: error });
	};
	server.on(signal, (socket: S) => {
		// Most behaviors make the peer break the connection: `close` follows and ends them.
		socket.on("error", () => {});
		Promise.try(onConnection, socket, connections.numberOf(socket)).catch(fail);
	});
	const port = await connections.listen(wanted ?? 0, "127.0.0.1");
	return {
		port,
		url: (path = "/"): string => new URL(path, `https://localhost:${port}`).href,
		ipUrl: (path = "/"): string => new URL(path, `https://127.0.0.1:${port}`).href,
		/** All connections accepted; with TLS, those whose handshake succeeded. */
		get connections(): number {
			return connections.accepted;
		},
		/** Breaks every connection. Rejects if an `onConnection` failed, so that no test ignores it. */
		async close(): Promise<void> {
			await connections.close();
			if (failure) throw failure;
		},
	};
}
