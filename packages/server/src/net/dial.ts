import { isIP } from "node:net";
import { SENDS } from "../base/budgets.ts";
import { type Clock, STOOD_STILL_MS, Stopwatch, type Timer } from "../base/clock.ts";
import { Turns } from "../base/turns.ts";
import type { Guard } from "./egress.ts";
import { asError, SendFailure, ShortageFailure, shortageOf } from "./errors.ts";
import { FirstAddress } from "./first-address.ts";
import type { Resolver } from "./resolver.ts";
import type { Shortages } from "./shortages.ts";
import { type Connect, type Interfaces, isFamilyMissing, type Socket } from "./socket.ts";
import type { Handshake, Handshakes, HandshakeUser } from "./tls/handshakes.ts";
import { createConnect, type Metering, type Received, TlsConnector, withCertificate } from "./tls/tls.ts";

/**
 * Makes TLS connections to receivers, only to addresses that the guard permits. A name is resolved once, by the
 * resolver, which applies the guard, and only the addresses it returned are connected to. An address in the URL itself
 * is never looked up, so it is checked here, as is the port.
 */
export interface Dialer {
	dial(request: DialRequest): Dialing;
}

/** Its callbacks must not throw. */
interface DialRequest {
	readonly hostname: string;
	readonly port: number;
	/** The project to connect for: starting a connection is expensive, so projects take turns. */
	readonly owner: string;
	/** Called once, with a connected and verified socket or with the error; never after `cancel`. */
	readonly done: Dialed;
	/** Called with the bytes that the socket reads, which don't go through the stream. */
	readonly received: Received;
}

/** @param validTo when the receiver's certificate expires, milliseconds since the Unix epoch */
export type Dialed = (dialed: Socket | Error, validTo?: number) => void;

export interface Dialing {
	readonly resolving: boolean;
	/** Whether it may not connect yet because of costly handshakes. */
	readonly isHeld: boolean;
	/** Whether the handshake is or was metered: the connection then costs more per request. */
	readonly isMetered: boolean;
	/** How long it has waited for its turns so far, milliseconds. */
	readonly waitedMs: number;
	/** Abandons the connection and frees its socket. Has no effect once it is done. */
	cancel(): void;
}

export interface DialerOptions {
	readonly guard: Pick<Guard, "refusal" | "permitsPort">;
	readonly resolver: Resolver;
	readonly clock: Clock;
	/** PEM with certificate authorities to trust in addition to the machine's. */
	readonly extraCa?: string | undefined;
	/** Creates the sockets; defaults to the machine's network. */
	readonly connect?: Connect | undefined;
	/** Asked before a connection is made, and notified when one succeeds. */
	readonly shortages?: Shortages | undefined;
	/** Limits what the receivers' handshakes cost; without it, none is metered. */
	readonly handshakes?: Handshakes | undefined;
	/** Defaults to the machine's network interfaces. */
	readonly interfaces?: Interfaces | undefined;
}

/** Resources that every connection needs. */
const NEEDED = ["descriptors", "memory"] as const;

/**
 * How long each of several addresses has to accept the connection before the next is tried, milliseconds. The kernel needs
 * as long to send a lost packet again, so the address gets another try, with twice the time, if no other accepts.
 */
const NEXT_ADDRESS_AFTER_MS = 1_000;

interface Candidate {
	readonly address: string;
	/** How long it has to accept if there are others to try, milliseconds. */
	readonly limitMs: number;
}

interface Shared extends DialerOptions {
	readonly tls: TlsConnector;
	readonly turns: Turns;
	readonly firstAddress: FirstAddress;
}

export function createDialer(options: DialerOptions): Dialer {
	const shared: Shared = {
		...options,
		tls: new TlsConnector(options.clock, options.connect ?? createConnect(options.extraCa)),
		turns: new Turns(SENDS.dialMsPerTurn, options.clock),
		firstAddress: new FirstAddress(),
	};
	return {
		dial(request) {
			const dial = new Dial(shared, request);
			dial.start();
			return dial;
		},
	};
}

/**
 * One connection being made. It tries the addresses one after another, each with its own socket, until one accepts. It
 * then stays with that address, even if the TLS handshake fails.
 *
 * Every socket has an error listener for its whole life: an unhandled error event would end the process.
 *
 *                    ┌──────────── stopped ─────────────┐
 *                    ▼                       │          │
 *     resolving ──▶ held ──▶ its turn ──▶ connecting ──▶ handshake ──▶ done: a socket
 *         │                               │  ▲  │           │
 *         │                               └──┘  └───────────┴──▶ done: why there is none
 *         └──▶ done                         next address
 */
class Dial implements Dialing, HandshakeUser {
	resolving = true;
	readonly #shared: Shared;
	readonly #request: DialRequest;
	/** `name:port` */
	readonly #host: string;
	/** All addresses of the host. */
	#addresses: readonly string[] = [];
	/** Those to try, in order. */
	readonly #left: Candidate[] = [];
	/** The newest address tried, not counting second tries. */
	#lastTried: string | null = null;
	/** The one being tried. */
	#candidate: Candidate | null = null;
	readonly #errors: Error[] = [];
	/** Errors of addresses whose family this machine has no address of: reported only if there are no others. */
	readonly #unreachable: Error[] = [];
	#socket: Socket | null = null;
	#accepted = false;
	/** The receiver's (DER), until it is checked. */
	#certificate: Buffer | null = null;
	#validTo: number | undefined;
	#timer: Timer | null = null;
	#handshake: Handshake | null = null;
	/** Runs while it waits for a turn. */
	readonly #waiting: Stopwatch;
	/** How often it was admitted: if it was stopped while it waited for its turn, it waits for another. */
	#admissions = 0;
	#over = false;

	constructor(shared: Shared, request: DialRequest) {
		this.#shared = shared;
		this.#request = request;
		this.#host = `${request.hostname}:${request.port}`;
		this.#waiting = new Stopwatch(shared.clock);
	}

	async start(): Promise<void> {
		try {
			this.#addresses = await this.#resolve();
			for (const address of this.#shared.firstAddress.choose(this.#host, this.#addresses))
				this.#left.push({ address, limitMs: NEXT_ADDRESS_AFTER_MS });
			this.resolving = false;
			if (this.#over) return;
			const { handshakes } = this.#shared;
			if (handshakes === undefined) this.admitted();
			else this.#handshake = handshakes.request(this.#request.owner, this.#host, this);
		} catch (error) {
			this.resolving = false;
			this.#end(asError(error));
		}
	}

	admitted(): void {
		const admission = ++this.#admissions;
		const connect = (): void => {
			if (this.#over || admission !== this.#admissions) return;
			const short = NEEDED.find((shortage) => this.#shared.shortages?.blocks(shortage));
			if (short !== undefined) throw new ShortageFailure(short, "known from other connections", false);
			this.#connectNext();
		};
		const turn = this.#waiting.during(this.#shared.turns.take(this.#request.owner));
		turn.then(connect).catch((error) => this.#end(asError(error)));
	}

	stopped(): void {
		this.#admissions++;
		const socket = this.#socket;
		if (socket === null) return;
		// The same address is connected to again.
		this.#left.unshift(this.#candidate!);
		this.#socket = null;
		this.#accepted = false;
		this.#timer?.cancel();
		socket.destroy();
	}

	get waitedMs(): number {
		return this.#waiting.ms;
	}

	get isHeld(): boolean {
		return this.#handshake?.isWaiting === true;
	}

	get isMetered(): boolean {
		return this.#handshake?.isMetered === true;
	}

	cancel(): void {
		if (!this.#over) this.#rotate();
		this.#over = true;
		this.#timer?.cancel();
		this.#socket?.destroy();
		this.#handshake?.cancel();
	}

	async #resolve(): Promise<readonly string[]> {
		const { guard, resolver } = this.#shared;
		const { hostname, port } = this.#request;
		if (!guard.permitsPort(port)) throw new SendFailure("port_not_allowed", `requests may not go to port ${port}`);
		if (isIP(hostname) === 0) return resolver.lookup(hostname);
		const refusal = guard.refusal(hostname);
		if (refusal === null) return [hostname];
		throw new SendFailure(refusal, `requests may not go to ${hostname}`);
	}

	#connectNext(): void {
		while (!this.#over) {
			const candidate = this.#left.shift();
			if (candidate === undefined) {
				const errors = this.#errors.length > 0 ? this.#errors : this.#unreachable;
				this.#end(errors.length === 1 ? errors[0]! : new AggregateError(errors));
				return;
			}
			this.#candidate = candidate;
			if (candidate.limitMs === NEXT_ADDRESS_AFTER_MS) this.#lastTried = candidate.address;
			try {
				this.#connect(candidate);
				return;
			} catch (error) {
				this.#giveUp(candidate, asError(error));
			}
		}
	}

	#connect(candidate: Candidate): void {
		const { hostname, port, received } = this.#request;
		const socket = this.#shared.tls.connect({
			host: this.#host,
			hostname,
			port,
			address: candidate.address,
			metering: this.#metering,
			received,
			presented: (certificate) => {
				this.#certificate = certificate;
			},
			verified: (validTo) => {
				this.#validTo = validTo;
			},
			flooded: () => this.#handshake?.flooded(),
		});
		this.#socket = socket;
		socket.on("error", (error) => this.#failed(candidate, socket, error));
		socket.on("close", () => {
			this.#failed(candidate, socket, new SendFailure("connection_reset", "the connection was closed"));
		});
		socket.setNoDelay(true);
		socket.once("connect", () => {
			this.#accepted = true;
			this.#timer?.cancel();
			this.#shared.firstAddress.accepted(this.#host, this.#addresses, candidate.address);
			for (const shortage of [...NEEDED, "ports"] as const) this.#shared.shortages?.passed(shortage);
		});
		socket.once("secureConnect", () => this.#secured(socket));
		if (this.#left.length > 0) this.#limitTime(candidate);
	}

	#limitTime(candidate: Candidate): void {
		const { clock } = this.#shared;
		const { limitMs } = candidate;
		const since = clock.elapsed();
		this.#timer = clock.setTimeout(() => {
			if (clock.elapsed() - since > limitMs + STOOD_STILL_MS) {
				this.#limitTime(candidate);
				return;
			}
			this.#giveUp(candidate, null);
			this.#connectNext();
		}, limitMs);
	}

	get #metering(): Metering | undefined {
		const handshake = this.#handshake;
		if (handshake === null || !handshake.isMetered) return undefined;
		const turn = (): Promise<void> => this.#waiting.during(this.#shared.handshakes!.turns.take(this.#request.owner));
		return { handshake, turn };
	}

	#secured(socket: Socket): void {
		if (this.#over || socket !== this.#socket) return;
		this.#end(this.#handshake?.succeeded() ?? socket);
	}

	#failed(candidate: Candidate, socket: Socket, error: Error): void {
		if (this.#over || socket !== this.#socket) return;
		if (this.#accepted) {
			this.#shared.tls.dropSession(this.#host);
			this.#handshake?.failed();
			// The connection may already have failed for another reason when it turned out what the handshake took.
			this.#end(this.#handshake?.failure ?? withCertificate(error, this.#certificate));
		} else {
			this.#giveUp(candidate, error);
			this.#connectNext();
		}
	}

	/** @param error null if the address hasn't accepted in time: it gets another try */
	#giveUp({ address, limitMs }: Candidate, error: Error | null): void {
		const socket = this.#socket;
		this.#socket = null;
		if (error === null) this.#left.push({ address, limitMs: 2 * limitMs });
		else if (isFamilyMissing(error, address, this.#shared.interfaces))
			this.#unreachable.push(new SendFailure("host_unreachable", "no local address of its family", { cause: error }));
		else this.#errors.push(error);
		// Whatever the address did, there were resources for the socket.
		if (shortageOf(error) === null) for (const shortage of NEEDED) this.#shared.shortages?.passed(shortage);
		this.#timer?.cancel();
		socket?.destroy();
	}

	/** Unless an address has accepted, the next connection begins with one that wasn't tried. */
	#rotate(): void {
		if (this.#accepted || this.#lastTried === null) return;
		this.#shared.firstAddress.failed(this.#host, this.#addresses, this.#lastTried);
	}

	#end(dialed: Socket | Error): void {
		if (this.#over) return;
		if (dialed instanceof Error) this.#rotate();
		this.#over = true;
		this.#certificate = null;
		this.#timer?.cancel();
		this.#handshake?.cancel();
		if (dialed instanceof Error) this.#socket?.destroy();
		this.#request.done(dialed, this.#validTo);
	}
}
