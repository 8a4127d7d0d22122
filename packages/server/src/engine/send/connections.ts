import { Connection } from "./connection.ts";
import type { Dialer } from "./dial.ts";

/** Idle connections kept in all and to one origin; released ones beyond that are closed. */
const MAX_IDLE = 1_024;
const MAX_IDLE_PER_ORIGIN = 128;

/**
 * The connections to receivers that are kept alive between requests. Those in use belong to their users and are only
 * bounded by how many requests are under way. The one released last is reused first, so that under falling load the
 * others become old and are closed.
 */
export class Connections {
	readonly #dialer: Dialer;
	readonly #onFault: (error: unknown) => void;
	/** Stacks of idle connections; an origin without any has no entry. */
	readonly #idle = new Map<string, Connection[]>();
	#idleCount = 0;
	#closed = false;

	constructor(dialer: Dialer, onFault: (error: unknown) => void) {
		this.#dialer = dialer;
		this.#onFault = onFault;
	}

	/** How many are kept idle. */
	get idleCount(): number {
		return this.#idleCount;
	}

	/** An idle connection to the origin (as in {@link URL.origin}), or else a new one. */
	acquire(origin: string): Connection {
		const stack = this.#idle.get(origin);
		while (stack !== undefined && stack.length > 0) {
			const connection = stack.pop()!;
			this.#idleCount--;
			if (stack.length === 0) this.#idle.delete(origin);
			if (connection.isOpen) return connection;
			connection.destroy();
		}
		return this.open(origin);
	}

	/** A new connection, whatever is idle. */
	open(origin: string): Connection {
		return new Connection(origin, this.#dialer, (closed) => this.#forget(closed), this.#onFault);
	}

	/** Gives a connection back after an exchange that left it in order. */
	release(connection: Connection): void {
		const stack = this.#idle.get(connection.origin);
		const full = this.#idleCount >= MAX_IDLE || (stack?.length ?? 0) >= MAX_IDLE_PER_ORIGIN;
		if (this.#closed || full || !connection.isOpen) {
			connection.destroy();
			return;
		}
		if (stack === undefined) this.#idle.set(connection.origin, [connection]);
		else stack.push(connection);
		this.#idleCount++;
	}

	/** Closes the idle ones and, from now on, every one that is released. */
	async close(): Promise<void> {
		this.#closed = true;
		const idle = [...this.#idle.values()].flat();
		await Promise.all(idle.map((connection) => new Promise<void>((resolve) => connection.destroy(resolve))));
	}

	/** Whoever uses a connection that closes is told so as its request fails. */
	#forget(connection: Connection): void {
		const stack = this.#idle.get(connection.origin);
		const at = stack?.indexOf(connection) ?? -1;
		if (stack === undefined || at < 0) return;
		stack.splice(at, 1);
		this.#idleCount--;
		if (stack.length === 0) this.#idle.delete(connection.origin);
		connection.destroy();
	}
}
