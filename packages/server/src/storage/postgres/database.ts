import type { PoolConfig } from "pg";
import type { DatabaseObserver, PoolState } from "../port/observer.ts";
import { StorageError } from "../port.ts";
import { Connections, type PoolName } from "./connections.ts";
import type { Hosts } from "./hosts.ts";

/** For so long a database that had no room for something counts as full, milliseconds. */
const FULL_FOR_MS = 3_000;

/** The way to the connections: open until it is closed, and closed once everything that came in is out again. */
export class Database {
	readonly #connections: Connections;
	#refusedFull: StorageError | null = null;
	#refusedFullAt = 0;
	readonly #underWay = new Set<Promise<unknown>>();
	#closing: Promise<void> | null = null;

	constructor(config: PoolConfig, hosts: Hosts, observer?: DatabaseObserver) {
		this.#connections = new Connections(config, hosts, observer);
	}

	/** How the connections are used just now. */
	get state(): Readonly<Record<PoolName, PoolState>> {
		return this.#connections.state;
	}

	/** Has each project that was changed told of, by its id, after the commit. */
	onChanged(listener: (projectId: string) => void): void {
		this.#connections.onChanged = listener;
	}

	/** Has it told that connections made so far may lead nowhere, or to where they should not. */
	onDistrusted(listener: () => void): void {
		this.#connections.onDistrusted = listener;
	}

	/** Runs a verb of the port, as many reads and transactions as it takes. */
	run<T>(verb: (connections: Connections) => Promise<T>): Promise<T> {
		if (this.#closing !== null) return Promise.reject(new StorageError("closed", "The storage is closed."));
		const call = verb(this.#connections);
		this.#underWay.add(call);
		const over = () => this.#underWay.delete(call);
		call.then(over, (error: unknown) => {
			over();
			if (!(error instanceof StorageError) || error.code !== "full") return;
			this.#refusedFull = error;
			this.#refusedFullAt = performance.now();
		});
		return call;
	}

	/**
	 * Throws as a write did that the database had no room for, if that was just now: others that need less may go through
	 * meanwhile.
	 */
	mustHaveRoom(): void {
		if (this.#refusedFull && performance.now() - this.#refusedFullAt < FULL_FOR_MS) throw this.#refusedFull;
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
