import { RECEIVERS } from "../../base/budgets.ts";
import { Connection, type ConnectionParts, type Place } from "./connection.ts";

/**
 * The connections to receivers that are kept alive between requests. Those in use belong to their users and are only
 * bounded by how many requests are under way. The one released last is reused first, so that under falling load the
 * others become old and are closed.
 */
export class Connections {
	readonly #parts: ConnectionParts;
	readonly #maxIdle: number;
	/** Stacks of idle connections; an origin without any has no entry. */
	readonly #idle = new Map<string, Connection[]>();
	#idleCount = 0;
	#closed = false;

	/** @param maxIdle idle connections kept in all; released ones beyond that are closed */
	constructor(parts: ConnectionParts, maxIdle: number) {
		this.#parts = parts;
		this.#maxIdle = maxIdle;
	}

	/** How many are kept idle. */
	get idleCount(): number {
		return this.#idleCount;
	}

	/** An idle connection to the place, or else a new one, made for a project. */
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

	/** A new connection, whatever is idle. */
	open(place: Place, projectId: string): Connection {
		return new Connection(place, projectId, this.#parts, this.#forget);
	}

	/** Gives a connection back after an exchange: one that is still open waits for the next. */
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

	/** Closes the idle ones and, from now on, every one that is released. */
	close(): void {
		this.#closed = true;
		for (const connection of [...this.#idle.values()].flat()) connection.destroy();
		this.#idle.clear();
		this.#idleCount = 0;
	}

	/** Whoever uses a connection that closes is told so as its request fails. */
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
