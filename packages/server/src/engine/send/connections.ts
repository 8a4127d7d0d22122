import { RECEIVERS } from "../../base/budgets.ts";
import { Connection, type ConnectionParts, type Place } from "./connection.ts";

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
