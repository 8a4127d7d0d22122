import type { PoolConfig } from "pg";
import { StorageError } from "../port.ts";
import { Connections } from "./connections.ts";

/** The way to the connections: open until it is closed, and closed once everything that came in is out again. */
export class Database {
	readonly #connections: Connections;
	readonly #underWay = new Set<Promise<unknown>>();
	#closing: Promise<void> | null = null;

	constructor(config: PoolConfig) {
		this.#connections = new Connections(config);
	}

	/** Has each project that was changed told of, by its id, after the commit. */
	onChanged(listener: (projectId: string) => void): void {
		this.#connections.onChanged = listener;
	}

	/** Runs a verb of the port, as many reads and transactions as it takes. */
	run<T>(verb: (connections: Connections) => Promise<T>): Promise<T> {
		if (this.#closing !== null) return Promise.reject(new StorageError("closed", "The storage is closed."));
		const call = verb(this.#connections);
		this.#underWay.add(call);
		const over = () => this.#underWay.delete(call);
		call.then(over, over);
		return call;
	}

	/** Waits for what is under way, then closes every connection. */
	close(): Promise<void> {
		this.#closing ??= (async () => {
			await Promise.allSettled(this.#underWay);
			await this.#connections.close();
		})();
		return this.#closing;
	}
}
