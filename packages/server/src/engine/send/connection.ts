import { RECEIVERS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Burst, BurstTarget } from "./burst.ts";
import type { Dialer, Dialing } from "./dial.ts";
import { asError, SendFailure } from "./errors.ts";
import type { Socket } from "./socket.ts";

/** How long a connection is kept without a request, milliseconds. Receivers that hint at less are heard (Keep-Alive). */
const IDLE_MS = 4_000;
/** How much earlier than the receiver says it is given up, so that no request crosses its closing on the way. */
const IDLE_MARGIN_MS = 1_000;

/**
 * One TLS connection to one origin. It connects when it is first used, carries one request at a time, and is never
 * connected again once it has closed.
 *
 * Sockets and timers call it, and nothing would catch what they are thrown: the process would end. So whatever its user
 * throws is the failure of that use. And it reads no more of a receiver in one turn of the event loop than
 * {@link RECEIVERS} allows, so that one that floods it cannot hold up the others.
 */
export class Connection implements BurstTarget {
	readonly place: Place;
	readonly #owner: string;
	readonly #parts: ConnectionParts;
	readonly #onClose: (connection: Connection) => void;
	#dialing: Dialing | null = null;
	#socket: Socket | null = null;
	#user: ConnectionUser | null = null;
	#requests = 0;
	/** Bytes read since it was taken for an exchange, or since it last paused. */
	#read = 0;
	#idleMs = IDLE_MS;
	#closed = false;

	/**
	 * @param owner the project that it is made for; others may use it later
	 * @param onClose Called once, when it has closed while nobody used it.
	 */
	constructor(place: Place, owner: string, parts: ConnectionParts, onClose: (connection: Connection) => void) {
		this.place = place;
		this.#owner = owner;
		this.#parts = parts;
		this.#onClose = onClose;
	}

	/** Whether a request may be written to it, as far as is known. */
	get isOpen(): boolean {
		return !this.#closed && this.#socket !== null && this.#socket.writable;
	}

	/** Whether it is still looking for the receiver's address. */
	get isResolving(): boolean {
		return this.#dialing?.resolving === true;
	}

	/** How long its current use has waited for a turn to connect so far, milliseconds. */
	get waitedMs(): number {
		return this.#dialing?.waitedMs ?? 0;
	}

	/** Whether a request was written to it before. */
	get isUsed(): boolean {
		return this.#requests > 0;
	}

	/** Takes it for one exchange: `user.ready()` is called as soon as it is connected, at once where it is already. */
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
		this.#parts.burst.write(this, request);
	}

	/** Called by the burst. */
	writeNow(request: Buffer): void {
		try {
			this.#socket?.write(request);
		} catch (error) {
			this.#fail(asError(error));
		}
	}

	/** Ends the use and keeps the connection for the next one, for as long as the receiver says that it keeps it. */
	rest(idleSeconds: number): void {
		this.#user = null;
		const idleMs = Math.min(IDLE_MS, idleSeconds * 1_000 - IDLE_MARGIN_MS);
		if (idleMs <= 0) this.destroy();
		else if (idleMs !== this.#idleMs) {
			this.#idleMs = idleMs;
			this.#guarded(() => this.#socket?.setTimeout(idleMs));
		}
	}

	/** Closes it at once, whatever is under way; its user is not told. Harmless when repeated, never throws. */
	destroy(): void {
		this.#user = null;
		this.#closed = true;
		try {
			this.#dialing?.cancel();
			this.#socket?.destroy();
		} catch {
			// It is given up, whether or not its socket can be closed.
		}
	}

	readonly #dialed = (error: Error | null, socket: Socket | null): void => {
		if (socket === null) {
			this.#fail(error ?? new SendFailure("connection_reset", "no connection came about"));
			return;
		}
		this.#socket = socket;
		this.#guarded(() => {
			// Rearmed by whatever is read or written. A request under way has a deadline of its own.
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
		// What nobody asked for is nobody's answer, and leaves it open whose the next one would be.
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

/** What all connections of a sender share. */
export interface ConnectionParts {
	readonly dialer: Dialer;
	readonly burst: Burst;
	readonly clock: Pick<Clock, "setImmediate">;
}

/** Where a connection leads. */
export interface Place {
	/** As in {@link URL.origin}. */
	readonly origin: string;
	/** A name without the dot of the root, or an address without brackets. */
	readonly hostname: string;
	readonly port: number;
}

/** Who uses a connection, from `use` until `rest`, `destroy` or `failed`. What it throws comes back to it as `failed`. */
export interface ConnectionUser {
	/** It is connected: now or never is the time to write. */
	ready(): void;
	/** Something came; the bytes hold only until this returns. */
	received(bytes: Buffer): void;
	/** The receiver will send nothing more. */
	ended(): void;
	/** It closed, or never came about. Called once at most; must not throw. */
	failed(error: Error): void;
}
