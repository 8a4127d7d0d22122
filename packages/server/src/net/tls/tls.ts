import { constants, X509Certificate } from "node:crypto";
import { connect as connectTcp, isIP, type Socket as TcpSocket } from "node:net";
import { Duplex } from "node:stream";
import {
	checkServerIdentity,
	connect as connectTls,
	createSecureContext,
	DEFAULT_CIPHERS,
	type DetailedPeerCertificate,
	getCACertificates,
	type PeerCertificate,
} from "node:tls";
import { HANDSHAKES, RECEIVERS } from "../../base/budgets.ts";
import { ownCopy } from "../../base/byte-pool.ts";
import type { Clock } from "../../base/clock.ts";
import { BoundedMap } from "../../base/collections.ts";
import { inertText } from "../../base/text.ts";
import { asError, type RejectedCertificate, reasonOf, SendFailure } from "../errors.ts";
import type { Connect, ConnectOptions, Socket } from "../socket.ts";
import type { Handshake } from "./handshakes.ts";

/** The maximum size of a TLS record, so that most responses need one read. */
const READ_BYTES = 16_384;

/**
 * The protocols to choose from, each after its length (RFC 7301). Node copies a DataView to memory of its own; it would
 * copy names or bytes to its pool, and each connection would keep up to 64 KB of that.
 */
const HTTP_1_1 = new DataView(Uint8Array.of(8, ...Buffer.from("http/1.1")).buffer);

/** Receives bytes in a buffer that is reused. @returns false to pause reading until the socket's `resume` is called */
export type Received = (bytes: Buffer) => boolean;

export interface TlsTarget {
	/** `name:port` */
	readonly host: string;
	readonly hostname: string;
	readonly port: number;
	readonly address: string;
	readonly metering: Metering | undefined;
	readonly received: Received;
	/** Called with the receiver's certificate (DER) before it is checked. */
	readonly presented: (certificate: Buffer) => void;
	/** Called when the connection is verified, with when the first of its certificates expires, if that is known. */
	readonly verified: (validTo: number) => void;
	/** Called if the receiver floods the connection, before the socket fails. */
	readonly flooded: () => void;
}

/** Starts TLS connections to receivers. Resumes earlier sessions, and ends connections that are flooded. */
export class TlsConnector {
	readonly #connect: Connect;
	readonly #sessions: TlsSessions;
	/** Shared by all connections: the bytes are consumed before the next read. */
	readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);

	constructor(clock: Pick<Clock, "now">, connect: Connect) {
		this.#connect = connect;
		this.#sessions = new TlsSessions(clock);
	}

	/** Starts a connection; may throw. The caller listens to its errors. */
	connect({ host, hostname, port, address, metering, received, presented, verified, flooded }: TlsTarget): Socket {
		const sessions = this.#sessions;
		const buffer = this.#buffer;
		const known = sessions.find(host);
		let validTo = known?.validTo ?? 0;
		const socket = this.#connect({
			host: address,
			port,
			// Names are sent to the server (SNI) and checked against its certificate; addresses are only checked (RFC 6066).
			servername: isIP(hostname) === 0 ? hostname : "",
			onread: { buffer, callback: (length) => received(buffer.subarray(0, length)) },
			ALPNProtocols: HTTP_1_1,
			// Explicit, because NODE_TLS_REJECT_UNAUTHORIZED in the environment changes the default.
			rejectUnauthorized: true,
			metering,
			session: metering && known?.session,
			// Not called for a resumed session: its certificate was checked when the session was created.
			checkServerIdentity: (name, certificate) => {
				validTo = validUntil(certificate);
				return checkServerIdentity(name, certificate);
			},
		});
		// Not passed in the options: if OpenSSL rejects it, `connect` throws and leaks a socket without an error listener.
		if (known !== undefined && metering === undefined && !setSession(socket, known.session)) sessions.drop(host);
		// If the check fails, Node closes the socket before it reports that, and the certificate is gone. On Node 24.15 to
		// 24.21 and 26.0 to 26.8, a call of getPeerX509Certificate hides the certificate from the check.
		socket.prependListener?.("secure", () => {
			const certificate = socket.isSessionReused?.() ? undefined : socket.getPeerCertificate?.().raw;
			if (certificate !== undefined) presented(certificate);
		});
		socket.once("secureConnect", () => {
			if (validTo > 0) verified(validTo);
		});
		let isFlooded = false;
		watchFloods(socket, (what) => {
			if (isFlooded) return;
			isFlooded = true;
			flooded();
			socket.destroy(new SendFailure("tls_failed", what));
		});
		socket.on("session", (session: Buffer) => {
			if (!isFlooded) sessions.keep(host, { session, validTo });
		});
		return socket;
	}

	/** Connections to this host don't resume an earlier session: one that did has failed. */
	dropSession(host: string): void {
		this.#sessions.drop(host);
	}
}

function setSession(socket: Socket, session: Buffer): boolean {
	try {
		socket.setSession(session);
		return true;
	} catch {
		return false;
	}
}

/**
 * Limits what a receiver can make this node compute in one turn of the event loop. With finite-field Diffie-Hellman the
 * receiver chooses the numbers, and one handshake can take seconds. Renegotiation would allow endless handshakes.
 */
const BOUNDED = { ciphers: `${DEFAULT_CIPHERS}:!kDHE`, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/** Connections over the machine's network. @param extraCa PEM with authorities to trust in addition to the machine's */
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

/** What a metered connection needs apart from its address. */
export interface Metering {
	readonly handshake: Handshake;
	/** Resolves when it may process bytes. */
	turn(): Promise<void>;
}

/** Shared by all: its bytes are copied before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(HANDSHAKES.chunkBytes);

/**
 * A TCP connection for TLS to run over. Until the handshake has ended, it waits for a turn before it hands over each
 * chunk of the receiver's bytes, and counts what that takes: a stream in JavaScript processes them at once, within
 * `push`. A socket of Node's would read and process them without asking.
 */
class MeteredStream extends Duplex {
	readonly tcp: TcpSocket;
	readonly #metering: Metering;
	/** Whether a chunk waits for its turn; the next one must not overtake it. */
	#holdsChunk = false;

	constructor(host: string, port: number, metering: Metering) {
		super({ allowHalfOpen: false });
		this.#metering = metering;
		const onread = { buffer: READ_BUFFER, callback: (length: number) => this.#received(length) };
		this.tcp = connectTcp({ host, port, noDelay: true, onread });
		this.tcp.on("error", (error) => this.destroy(error));
		this.tcp.on("end", () => this.push(null));
		this.tcp.on("close", () => this.destroy());
	}

	#received(length: number): boolean {
		const chunk = Buffer.from(READ_BUFFER.subarray(0, length));
		if (this.#metering.handshake.isOver) return this.push(chunk);
		this.#holdsChunk = true;
		this.#processInTurn(chunk).catch((error) => this.destroy(asError(error)));
		return false;
	}

	async #processInTurn(chunk: Buffer): Promise<void> {
		await this.#metering.turn();
		if (this.destroyed) return;
		this.#holdsChunk = false;
		const failure = this.#metering.handshake.process(chunk.length, () => this.push(chunk));
		if (failure === null) this.tcp.resume();
		else this.destroy(failure);
	}

	override _read(): void {
		if (!this.#holdsChunk) this.tcp.resume();
	}

	override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
		this.tcp.write(chunk, callback);
	}

	override _final(callback: () => void): void {
		this.tcp.end(callback);
	}

	override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
		this.tcp.destroy();
		callback(error);
	}
}

/** Starts a TLS connection over a {@link MeteredStream}. */
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

/** How the key log's line for a key update begins. */
const KEY_UPDATED = Buffer.from("SERVER_TRAFFIC_SECRET_N ");

/**
 * Reports a receiver that floods a connection with records that carry no data. OpenSSL handles them without a read, so
 * they count towards no other limit. The only signs of them in Node are the key log, to which OpenSSL writes a line for
 * each key update, and `secureConnect`, which Node emits again for each request to renegotiate, although OpenSSL refuses
 * it. The secrets in the key log are not kept.
 *
 * @param flooded called with what the receiver does, once or more often: OpenSSL still handles all records that were read
 *   together
 */
function watchFloods(socket: Socket, flooded: (what: string) => void): void {
	const atMost = (most: number, what: string) => {
		let count = 0;
		return () => {
			if (++count > most) flooded(what);
		};
	};
	const keyUpdated = atMost(RECEIVERS.keyUpdates, "the receiver updates its keys without end");
	socket.on("keylog", (line) => {
		if (line.subarray(0, KEY_UPDATED.length).equals(KEY_UPDATED)) keyUpdated();
	});
	socket.on("secureConnect", atMost(1 + RECEIVERS.renegotiations, "the receiver asks for new handshakes without end"));
	socket.on("session", atMost(RECEIVERS.sessionsPerConnection, "the receiver hands out TLS sessions without end"));
}

export interface TlsSession {
	readonly session: Buffer;
	/** When the first of the certificates that it was made with expires, milliseconds since the epoch. */
	readonly validTo: number;
}

/**
 * TLS sessions for resumption, one for each host and port (RFC 8446, 2.2). Resumption skips the certificate check, so a
 * session never outlives the certificates that it was made with; a session issued on resumption inherits that expiry.
 * The least recently used are dropped, and large ones aren't kept.
 */
export class TlsSessions {
	readonly #clock: Pick<Clock, "now">;
	readonly #byHost = new BoundedMap<string, TlsSession>(RECEIVERS.tlsSessions);

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	find(host: string): TlsSession | undefined {
		const known = this.#byHost.get(host);
		if (known === undefined || known.validTo > this.#clock.now()) return known;
		this.drop(host);
		return undefined;
	}

	keep(host: string, { session, validTo }: TlsSession): void {
		if (session.length > RECEIVERS.sessionBytes) this.drop(host);
		else this.#byHost.set(host, { session: ownCopy(session), validTo });
	}

	drop(host: string): void {
		this.#byHost.delete(host);
	}
}

/** Maximum number of certificates examined in a chain; OpenSSL accepts no longer chains by default. */
const MAX_CHAIN = 100;

/** When the first certificate of the chain expires, milliseconds since the epoch; 0 if any has no expiry. */
export function validUntil(certificate: PeerCertificate): number {
	let validTo = Number.POSITIVE_INFINITY;
	let each: Partial<DetailedPeerCertificate> | undefined = certificate;
	for (let i = 0; i < MAX_CHAIN && each !== undefined; i++) {
		validTo = Math.min(validTo, Date.parse(each.valid_to ?? "") || 0);
		// The root is its own issuer.
		each = each.issuerCertificate === each ? undefined : each.issuerCertificate;
	}
	return validTo;
}

/** Reasons that a certificate explains. */
const OF_CERTIFICATES: ReadonlySet<unknown> = new Set(["tls_untrusted", "tls_expired", "tls_wrong_host"]);

/** The error that ended a handshake, with the receiver's certificate (DER) if that is why. */
export function withCertificate(error: Error, certificate: Buffer | null): Error {
	const reason = reasonOf(error);
	if (reason === null || certificate === null || !OF_CERTIFICATES.has(reason)) return error;
	const facts = factsOf(new X509Certificate(toPem(certificate)));
	return new SendFailure(reason, error.message, { cause: error, details: { certificate: facts } });
}

/** Given DER, OpenSSL would first look for PEM in it, and read a certificate that the receiver's contains as text. */
function toPem(der: Buffer): string {
	const lines = der.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n");
	return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function factsOf({ subject, issuer, subjectAltName, validFrom, validTo }: X509Certificate): RejectedCertificate {
	return {
		subject: nameOf(subject),
		issuer: nameOf(issuer),
		names: hostNames(subjectAltName),
		validFrom: timeOf(validFrom),
		validTo: timeOf(validTo),
	};
}

/** A distinguished name in one line. Node separates its parts by line feeds. */
const nameOf = (name: string | undefined): string =>
	inertText((name ?? "").replaceAll("\n", ", "), RECEIVERS.certificateNameLength);

/** From `DNS:a.example, IP Address:192.0.2.1`. Node quotes names that contain a comma or another special character. */
function hostNames(subjectAltName: string | undefined): string[] {
	const all = (subjectAltName ?? "").split(", ").filter((name) => /^(DNS|IP Address):/.test(name));
	return all
		.slice(0, RECEIVERS.certificateNames)
		.map((name) => inertText(name.slice(name.indexOf(":") + 1), RECEIVERS.certificateNameLength));
}

function timeOf(text: string): number | null {
	const at = Date.parse(text);
	return Number.isNaN(at) ? null : at;
}
