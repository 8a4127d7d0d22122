import { HANDSHAKES, RECEIVERS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { Dialer, Dialing } from "./dial.ts";
import { asError, SendFailure } from "./errors.ts";
import type { Socket } from "./socket.ts";

/**
 * Connections to receivers that are kept alive between requests. Those in use belong to their users and are bounded
 * only by the number of requests in flight. The most recently released connection is reused first, so that the others
 * become idle and close when load falls.
 */
export class Connections {
	readonly #parts: ConnectionParts;
	readonly #maxIdle: number;
	/** Stacks of idle connections; an origin without any has no entry. */
	readonly #idle = new Map<string, Connection[]>();
	#idleCount = 0;
	#closed = false;

	/** @param maxIdle maximum number of idle connections in total; any others are closed on release */
	constructor(parts: ConnectionParts, maxIdle: number) {
		this.#parts = parts;
		this.#maxIdle = maxIdle;
	}

	get idleCount(): number {
		return this.#idleCount;
	}

	/** An idle connection to this origin, or a new one made for this project. */
	acquire(place: Place, projectId: string): Connection {
		const { origin } = place;
		const stack = this.#idle.get(origin);
		while (stack !== undefined && stack.length > 0) {
			const connection = stack.pop()!;
			this.#idleCount--;
			if (stack.length === 0) this.#idle.delete(origin);
			if (connection.isOpen) return connection;
			connection.destroy();
		}
		return this.open(place, projectId);
	}

	/** A new connection, even if others are idle. */
	open(place: Place, projectId: string): Connection {
		return new Connection(place, projectId, this.#parts, this.#forget);
	}

	/** Returns a connection after an exchange. If it is still open, it is kept for the next one. */
	release(connection: Connection): void {
		const { origin } = connection.place;
		const stack = this.#idle.get(origin);
		const full = this.#idleCount >= this.#maxIdle || (stack?.length ?? 0) >= RECEIVERS.idleConnections;
		if (this.#closed || full || !connection.isOpen) {
			connection.destroy();
			return;
		}
		if (stack === undefined) this.#idle.set(origin, [connection]);
		else stack.push(connection);
		this.#idleCount++;
	}

	/** Closes the idle connections, and from now on every connection when it is released. */
	close(): void {
		this.#closed = true;
		for (const connection of [...this.#idle.values()].flat()) connection.destroy();
		this.#idle.clear();
		this.#idleCount = 0;
	}

	/** For connections that close while idle. A closing connection in use fails its user's request instead. */
	readonly #forget = (connection: Connection): void => {
		const { origin } = connection.place;
		const stack = this.#idle.get(origin);
		const at = stack?.indexOf(connection) ?? -1;
		if (stack === undefined || at < 0) return;
		stack.splice(at, 1);
		this.#idleCount--;
		if (stack.length === 0) this.#idle.delete(origin);
	};
}

/**
 * How long an idle connection is kept, milliseconds. A shorter time in the receiver's `Keep-Alive` header takes
 * precedence.
 */
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
export class Connection implements RequestTarget {
	readonly place: Place;
	readonly #owner: string;
	readonly #parts: ConnectionParts;
	readonly #onClose: (connection: Connection) => void;
	#dialing: Dialing | null = null;
	#socket: Socket | null = null;
	#user: ConnectionUser | null = null;
	#requests = 0;
	#maxRequests = Number.POSITIVE_INFINITY;
	/** Bytes read since it was taken for an exchange, or since it last paused. */
	#read = 0;
	#idleMs = IDLE_MS;
	#closed = false;

	/**
	 * @param owner the project that it is made for; others may use it later
	 * @param onClose called once, when it closes while unused
	 */
	constructor(place: Place, owner: string, parts: ConnectionParts, onClose: (connection: Connection) => void) {
		this.place = place;
		this.#owner = owner;
		this.#parts = parts;
		this.#onClose = onClose;
	}

	/** Whether it appears to be open, so that a request may be written to it. */
	get isOpen(): boolean {
		return !this.#closed && this.#socket !== null && this.#socket.writable;
	}

	/** Whether the receiver's name is still being resolved. */
	get isResolving(): boolean {
		return this.#dialing?.resolving === true;
	}

	/** Whether it may not connect yet because of costly handshakes of its project. */
	get isHeld(): boolean {
		return this.#dialing?.isHeld === true;
	}

	/** How long its current use has waited for a turn to connect so far, milliseconds. */
	get waitedMs(): number {
		return this.#dialing?.waitedMs ?? 0;
	}

	/** Whether a request has been written to it. */
	get isUsed(): boolean {
		return this.#requests > 0;
	}

	/** Takes the connection for one exchange. Calls `user.ready()` once it is connected, immediately if it already is. */
	use(user: ConnectionUser): void {
		this.#user = user;
		this.#read = 0;
		if (this.#socket !== null) {
			this.#dialing = null;
			user.ready();
		} else {
			const { hostname, port } = this.place;
			this.#dialing ??= this.#parts.dialer.dial(hostname, port, this.#dialed, this.#received, this.#owner);
		}
	}

	write(request: Buffer): void {
		this.#requests++;
		this.#parts.writer.write(this, request);
	}

	/** Called by the queue. */
	writeNow(request: Buffer): void {
		try {
			this.#socket?.write(request);
		} catch (error) {
			this.#fail(asError(error));
		}
	}

	/** Ends the use and keeps the connection idle, no longer than the receiver says that it will. */
	rest(idleSeconds: number): void {
		this.#user = null;
		const idleMs = Math.min(IDLE_MS, idleSeconds * 1_000 - IDLE_MARGIN_MS);
		if (idleMs <= 0 || this.#requests >= this.#maxRequests) this.destroy();
		else if (idleMs !== this.#idleMs) {
			this.#idleMs = idleMs;
			this.#guarded(() => this.#socket?.setTimeout(idleMs));
		}
	}

	/** Closes it immediately without notifying its user. May be repeated; never throws. */
	destroy(): void {
		this.#user = null;
		this.#closed = true;
		try {
			this.#dialing?.cancel();
			this.#socket?.destroy();
		} catch {
			// It is abandoned even if its socket can't be closed.
		}
	}

	readonly #dialed = (error: Error | null, socket: Socket | null): void => {
		if (socket === null) {
			this.#fail(error ?? new SendFailure("connection_reset", "no connection came about"));
			return;
		}
		this.#socket = socket;
		if (this.#dialing?.isMetered) this.#maxRequests = HANDSHAKES.requestsPerConnection;
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
		// These bytes answer no request. Keeping the connection would leave unclear which request the next ones answer.
		if (this.#user === null) {
			this.#close();
			return false;
		}
		try {
			this.#user.received(bytes);
		} catch (error) {
			this.#fail(asError(error));
		}
		this.#read += Math.max(bytes.length, RECEIVERS.leastBytesPerRead);
		if (this.#read < RECEIVERS.readBytesPerTurn) return true;
		this.#read = 0;
		this.#parts.clock.setImmediate(this.#readOn);
		return false;
	};

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

export interface ConnectionParts {
	readonly dialer: Dialer;
	readonly writer: RequestQueue;
	readonly clock: Pick<Clock, "setImmediate">;
}

/** Writes requests at once, or together with others of the same turn of the event loop. */
export interface RequestQueue {
	write(to: RequestTarget, request: Buffer): void;
}

export interface RequestTarget {
	writeNow(request: Buffer): void;
}

/** The origin that a connection leads to. */
export interface Place {
	/** As in {@link URL.origin}. */
	readonly origin: string;
	/** A name without its trailing dot, or an address without brackets. */
	readonly hostname: string;
	readonly port: number;
}

/**
 * The user of a connection, from `use` until `rest`, `destroy` or `failed`. Its exceptions come back to it as `failed`.
 */
export interface ConnectionUser {
	/** The connection is ready: the request must be written now or not at all. */
	ready(): void;
	/** Bytes were read; they are valid only during this call. */
	received(bytes: Buffer): void;
	/** The receiver will send nothing more. */
	ended(): void;
	/** The connection closed, or was never made. Called at most once; must not throw. */
	failed(error: Error): void;
}
