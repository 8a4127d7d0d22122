import { HANDSHAKES, RECEIVERS } from "../base/budgets.ts";
import type { Clock, Timer } from "../base/clock.ts";
import type { Dialed, Dialer, Dialing } from "./dial.ts";
import { asError, SendFailure } from "./errors.ts";
import type { ResponseParser } from "./response-parser.ts";
import type { Socket } from "./socket.ts";

export interface ConnectionPoolOptions {
	readonly dialer: Dialer;
	readonly clock: Pick<Clock, "now" | "setImmediate" | "setTimeout">;
	/** Maximum number of kept connections in total; any others are closed on release. */
	readonly maxKept: number;
	/** From 0 to below 1. */
	readonly random: () => number;
}

/**
 * Connections to receivers that are kept alive between requests: idle ones, and those that still read the remainder of
 * a response. Those in use belong to their users and are bounded only by the number of requests in flight. The most
 * recently released connection is reused first, so that the others become idle and close when load falls. If there is no
 * room for another one, the origin with the most closes one, so that busy receivers don't cost quiet ones a handshake for
 * each request. If every origin has only one, a random one is closed for an origin that has none. So a busy one keeps its
 * connection for many requests, however many quiet origins there are.
 */
export class ConnectionPool {
	readonly #options: ConnectionPoolOptions;
	/** Stacks of kept connections; an origin without any has no entry. */
	readonly #kept = new Map<string, Connection[]>();
	keptCount = 0;
	#closed = false;

	constructor(options: ConnectionPoolOptions) {
		this.#options = options;
	}

	/** An idle connection to this origin, or a new one made for this project. */
	acquire(origin: Origin, projectId: string): Connection {
		for (;;) {
			const connection = this.#kept.get(origin.key)?.findLast((kept) => !kept.isDraining);
			if (connection === undefined) return this.open(origin, projectId);
			this.#forget(connection);
			if (connection.isOpen) return connection;
			connection.destroy();
		}
	}

	/** A new connection, even if others are idle. */
	open(origin: Origin, projectId: string): Connection {
		return new Connection(origin, projectId, this.#options, this.#forget);
	}

	/** Returns a connection after an exchange. If it is still open, it is kept for the next one, otherwise closed. */
	release(connection: Connection): void {
		const { key } = connection.origin;
		const stack = this.#kept.get(key);
		const kept = stack?.length ?? 0;
		const mayKeep = !this.#closed && connection.isOpen && kept < RECEIVERS.idleConnections && this.#makeRoom(kept);
		if (!mayKeep) {
			connection.destroy();
			return;
		}
		if (stack === undefined) this.#kept.set(key, [connection]);
		else stack.push(connection);
		this.keptCount++;
	}

	/** Whether an origin that keeps this many may keep another one. */
	#makeRoom(kept: number): boolean {
		if (this.keptCount < this.#options.maxKept) return true;
		const stacks = [...this.#kept.values()];
		let largest: readonly Connection[] = stacks[Math.floor(this.#options.random() * stacks.length)] ?? [];
		for (const stack of stacks) if (stack.length > largest.length) largest = stack;
		const [oldest] = largest;
		if (oldest === undefined || (kept > 0 && largest.length <= kept + 1)) return false;
		this.#forget(oldest);
		oldest.destroy();
		return true;
	}

	/** Closes the kept connections, and from now on every connection when it is released. */
	close(): void {
		this.#closed = true;
		for (const connection of [...this.#kept.values()].flat()) connection.destroy();
		this.#kept.clear();
		this.keptCount = 0;
	}

	/** For connections that close while kept. A closing connection in use fails its user's request instead. */
	readonly #forget = (connection: Connection): void => {
		const { key } = connection.origin;
		const stack = this.#kept.get(key);
		const at = stack?.lastIndexOf(connection) ?? -1;
		if (stack === undefined || at < 0) return;
		stack.splice(at, 1);
		this.keptCount--;
		if (stack.length === 0) this.#kept.delete(key);
	};
}

/** How long an idle connection is kept, milliseconds, unless the receiver's `Keep-Alive` header says less. */
const IDLE_MS = 4_000;
/** How long before the receiver's own timeout to close, so that no request is sent while the receiver is closing. */
const IDLE_MARGIN_MS = 1_000;

/**
 * One TLS connection to one origin. It connects when it is first used, carries one request at a time, and never
 * reconnects after it has closed.
 *
 * Sockets and timers call it, and an exception thrown at them would end the process. So anything that its user throws
 * becomes a failure of that use. It also reads no more from a receiver per turn of the event loop than {@link
 * RECEIVERS} allows, so that a receiver that floods it can't delay others.
 */
export class Connection {
	readonly origin: Origin;
	readonly #owner: string;
	readonly #options: ConnectionPoolOptions;
	readonly #onClose: (connection: Connection) => void;
	/** Its dialing from the first use on; null before that, and once it is used again. */
	dialing: Dialing | null = null;
	#socket: Socket | null = null;
	#validTo = Number.POSITIVE_INFINITY;
	#user: ConnectionUser | null = null;
	#requests = 0;
	#maxRequests = Number.POSITIVE_INFINITY;
	/** Bytes read since it was taken for an exchange, or since it last paused. */
	#read = 0;
	#idleMs = IDLE_MS;
	/** The response whose remainder is being read, in how many more reads, and until when. */
	#undrained: ResponseParser | null = null;
	#drainReadsLeft = 0;
	#drainTimer: Timer | null = null;
	#closed = false;

	/**
	 * @param owner the project that it is made for; others may use it later
	 * @param onClose called once, when it closes while unused
	 */
	constructor(
		origin: Origin,
		owner: string,
		options: ConnectionPoolOptions,
		onClose: (connection: Connection) => void,
	) {
		this.origin = origin;
		this.#owner = owner;
		this.#options = options;
		this.#onClose = onClose;
	}

	/** Whether it appears to be open, and its certificate is still valid, so that a request may be written to it. */
	get isOpen(): boolean {
		if (this.#closed || this.#socket === null || !this.#socket.writable) return false;
		return this.#options.clock.now() < this.#validTo;
	}

	/** Whether it still reads the remainder of a response, and can't be used yet. */
	get isDraining(): boolean {
		return this.#undrained !== null;
	}

	get isUsed(): boolean {
		return this.#requests > 0;
	}

	/** Whether part of a request still waits to be sent: the receiver doesn't read as fast. */
	get isSending(): boolean {
		return (this.#socket?.writableLength ?? 0) > 0;
	}

	/** Takes the connection for one exchange. Calls `user.ready()` once it is connected, immediately if it already is. */
	use(user: ConnectionUser): void {
		this.#user = user;
		this.#read = 0;
		if (this.#socket !== null) {
			this.dialing = null;
			user.ready();
		} else {
			const { hostname, port } = this.origin;
			const request = { hostname, port, owner: this.#owner, done: this.#dialed, received: this.#received };
			this.dialing ??= this.#options.dialer.dial(request);
		}
	}

	write(request: Buffer): void {
		this.#requests++;
		this.#guarded(() => this.#socket?.write(request, this.#sent));
	}

	/** Ends the use and keeps the connection idle, no longer than the receiver says that it will. */
	keep(idleSeconds: number): void {
		this.#user = null;
		const idleMs = Math.min(IDLE_MS, idleSeconds * 1_000 - IDLE_MARGIN_MS);
		if (idleMs <= 0 || this.#requests >= this.#maxRequests) this.destroy();
		else if (idleMs !== this.#idleMs) {
			this.#idleMs = idleMs;
			this.#guarded(() => this.#socket?.setTimeout(idleMs));
		}
	}

	/**
	 * Ends the use, and reads the remainder of its response. Then the connection is idle, or closed if that is too long,
	 * takes too long, or isn't valid.
	 */
	drain(response: ResponseParser): void {
		this.keep(response.idleSeconds);
		if (this.#closed) return;
		this.#undrained = response;
		this.#drainReadsLeft = RECEIVERS.drainReads;
		this.#drainTimer = this.#options.clock.setTimeout(() => this.#close(), RECEIVERS.drainMs);
	}

	/** Closes it immediately without notifying its user. May be repeated; never throws. */
	destroy(): void {
		this.#user = null;
		this.#closed = true;
		this.#endDrain();
		try {
			this.dialing?.cancel();
			this.#socket?.destroy();
		} catch {
			// It is abandoned even if its socket can't be closed.
		}
	}

	/** @param error why the request couldn't leave; the socket emits it, too, which ends the use */
	readonly #sent = (error?: Error | null): void => {
		if (!error && !this.isSending) this.#guarded(() => this.#user?.sent());
	};

	readonly #dialed: Dialed = (socket, validTo = Number.POSITIVE_INFINITY) => {
		if (socket instanceof Error) {
			this.#fail(socket);
			return;
		}
		this.#socket = socket;
		this.#validTo = validTo;
		if (this.dialing?.isMetered) this.#maxRequests = HANDSHAKES.requestsPerConnection;
		this.#guarded(() => {
			// Reset by every read and write. A request in flight has its own deadline.
			socket.setTimeout(this.#idleMs, () => {
				if (this.#user === null) this.#close();
			});
			socket.on("end", () => {
				if (this.#user === null) this.#close();
				else this.#guarded(() => this.#user?.ended());
			});
			socket.on("error", (reason) => this.#fail(reason));
			socket.on("close", () => this.#fail(new SendFailure("connection_reset", "the connection was closed")));
			this.#user?.ready();
		});
	};

	readonly #received = (bytes: Buffer): boolean => {
		try {
			if (this.#user !== null) this.#user.received(bytes);
			else if (!this.#drained(bytes)) {
				this.#close();
				return false;
			}
		} catch (error) {
			this.#fail(asError(error));
		}
		this.#read += Math.max(bytes.length, RECEIVERS.leastBytesPerRead);
		if (this.#read < RECEIVERS.readBytesPerTurn) return true;
		this.#read = 0;
		this.#options.clock.setImmediate(this.#readOn);
		return false;
	};

	/** Reads the remainder of a response. Returns false if the connection can't be kept. */
	#drained(bytes: Buffer): boolean {
		const response = this.#undrained;
		// These bytes answer no request. Keeping the connection would leave unclear which request the next ones answer.
		if (response === null) return false;
		response.push(bytes);
		if (response.state === "rest") return --this.#drainReadsLeft > 0;
		this.#endDrain();
		return response.persistent;
	}

	#endDrain(): void {
		this.#undrained = null;
		this.#drainTimer?.cancel();
		this.#drainTimer = null;
	}

	readonly #readOn = (): void => {
		if (!this.#closed) this.#guarded(() => this.#socket?.resume());
	};

	#guarded(run: () => void): void {
		try {
			run();
		} catch (error) {
			this.#fail(asError(error));
		}
	}

	#fail(error: Error): void {
		const user = this.#user;
		this.#user = null;
		if (user === null) this.#close();
		else user.failed(error);
	}

	#close(): void {
		if (this.#closed) return;
		this.destroy();
		this.#onClose(this);
	}
}

/** The scheme, host and port of a URL. */
export interface Origin {
	/** As in {@link URL.origin}. */
	readonly key: string;
	/** A name without its trailing dot, or an address without brackets. */
	readonly hostname: string;
	readonly port: number;
}

/** The user of a connection, until `keep`, `drain`, `destroy` or `failed`. Its exceptions come back as `failed`. */
export interface ConnectionUser {
	/** The connection is ready: the request must be written now or not at all. */
	ready(): void;
	/** All of the request has left. */
	sent(): void;
	/** Bytes were read; they are valid only during this call. */
	received(bytes: Buffer): void;
	/** The receiver will send nothing more. */
	ended(): void;
	/** The connection closed, or was never made. Called at most once; must not throw. */
	failed(error: Error): void;
}
