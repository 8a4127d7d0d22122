import type { PoolConfig } from "pg";
import { Bag, type Baggable } from "../../../base/collections.ts";
import type { DatabaseObserver, EpochKeeper, PoolState } from "../../port/peers.ts";
import { StorageError } from "../../port.ts";
import { storedGeneration, toGeneration } from "../../shared/leases.ts";
import { type Epoch, EpochMemory, type Joining, joinEpoch } from "../leases/epochs.ts";
import { Connections, type PoolName } from "./connections.ts";
import { storageError } from "./errors.ts";
import type { Hosts } from "./servers.ts";

export interface DatabaseOptions {
	readonly hosts: Hosts;
	/** How to connect to a server. */
	readonly configFor: (url: string) => PoolConfig;
	readonly observer: DatabaseObserver;
	/** How long a lease lasts unless renewed, milliseconds. */
	readonly leaseTermMs: number;
	/** The time to use instead of the database's own; null for its own. */
	readonly now: () => number | null;
}

interface Call extends Baggable {
	readonly ended: Promise<unknown>;
}

/**
 * Access to the connections. Closing it waits for the calls in progress. When the database continues in another epoch
 * (see epochs.ts), the connections are replaced.
 */
export class Database {
	readonly #options: DatabaseOptions;
	#connections: Connections;
	/** How many earlier epochs this node has been in. */
	#epochs = 0;
	#joining: Promise<void> | null = null;
	/** Called with the id of each changed project, after the commit, and whether it has work and no holder. */
	onChanged: (projectId: string, isUnowned: boolean) => void = () => undefined;
	/** Called when existing connections may lead nowhere, or to the wrong server. */
	onDistrusted: () => void = () => undefined;
	onFailed: (error: unknown) => void = () => undefined;
	readonly #epochListeners = new Map<() => void, EpochKeeper | undefined>();
	readonly #calls = new Bag<Call>();
	#closing: Promise<void> | null = null;

	private constructor(options: DatabaseOptions, memory: EpochMemory) {
		this.#options = options;
		this.#connections = this.#connect(memory);
	}

	/** Rejects as connecting does, or with a StorageError. */
	static async open(options: DatabaseOptions): Promise<Database> {
		const { epoch } = await join(options, { memory: null, ends: new Map(), claims: () => [], claimed: 0 });
		return new Database(options, new EpochMemory(epoch));
	}

	get clockAheadMs(): number {
		return this.#connections.offset.aheadMs;
	}

	/** Whether the server had no connection left within the last minute. */
	get lacksConnections(): boolean {
		return this.#connections.isLimited;
	}

	/** The current use of the connections. */
	get state(): Readonly<Record<PoolName, PoolState>> {
		return this.#connections.state;
	}

	get epoch(): Epoch {
		return this.#connections.epochs.current;
	}

	/**
	 * Calls `listener` when another epoch begins, before anything is read or written in it. `keeper` decides what can be
	 * kept.
	 *
	 * @returns unsubscribes
	 */
	onEpoch(listener: () => void, keeper?: EpochKeeper): () => void {
		this.#epochListeners.set(listener, keeper);
		return () => void this.#epochListeners.delete(listener);
	}

	/** Runs a verb of the port, with as many reads and transactions as it needs. */
	run<T>(verb: (connections: Connections) => Promise<T>): Promise<T> {
		if (this.#closing !== null) return Promise.reject(new StorageError("closed", "The storage is closed."));
		const call = this.#connections.ended ? this.#rejoin().then(() => verb(this.#connections)) : verb(this.#connections);
		this.#track(call);
		call.catch((error: unknown) => this.onFailed(error));
		return call;
	}

	/** A connection apart from these could not be opened, because there are too many. */
	makeRoom(): void {
		this.#connections.makeRoom();
	}

	/** To be called if a connection that is in no pool can't be opened: reads the login again if the server refused it. */
	renewLogin(error: unknown): void {
		this.#options.hosts.renewLogin(error);
	}

	/** Waits for calls in progress, then closes every connection. */
	close(): Promise<void> {
		this.#closing ??= (async () => {
			await Promise.allSettled(this.#calls.toArray().map(({ ended }) => ended));
			await this.#joining?.catch(() => undefined);
			await this.#connections.close();
		})();
		return this.#closing;
	}

	#connect(memory: EpochMemory): Connections {
		const { hosts, configFor, observer } = this.#options;
		const connections = new Connections(configFor(hosts.current), hosts, observer, memory, this.#epochs);
		connections.onChanged = (projectId, isUnowned) => this.onChanged(projectId, isUnowned);
		connections.onDistrusted = () => this.onDistrusted();
		connections.onEnded = () => this.#ended();
		return connections;
	}

	#ended(): void {
		this.onDistrusted();
		for (const listener of this.#epochListeners.keys()) listener();
		// The next call retries.
		this.#rejoin().catch(() => undefined);
	}

	#track(call: Promise<unknown>): void {
		const tracked: Call = { ended: call, bagIndex: -1 };
		this.#calls.add(tracked);
		const over = () => void this.#calls.delete(tracked);
		call.then(over, over);
	}

	#rejoin(): Promise<void> {
		if (this.#closing !== null && this.#joining === null)
			return Promise.reject(new StorageError("closed", "The storage is closed."));
		this.#joining ??= (async () => {
			const before = this.#connections;
			if (!before.ended) return;
			const claims = () => [...this.#epochListeners.values()].flatMap((keeper) => keeper?.claims() ?? []);
			const { epochs: memory, ends } = before;
			const claimed = this.#epochs;
			const { epoch, lost, kept, opensInMs } = await join(this.#options, { memory, ends, claims, claimed });
			this.#epochs += 1;
			const leases = kept.map(({ lease }) => {
				return { ...lease, generation: toGeneration(this.#epochs, storedGeneration(claimed, lease.generation)) };
			});
			for (const keeper of this.#epochListeners.values()) keeper?.begun(leases, opensInMs);
			this.#connections = this.#connect(before.epochs.next(epoch));
			// These connections led to a replaced server: how they end doesn't matter.
			this.#track(before.close());
			for (const tail of lost) this.#options.observer.lostTail?.(tail);
		})().finally(() => {
			this.#joining = null;
		});
		return this.#joining;
	}
}

async function join(options: DatabaseOptions, known: Omit<Joining, "termMs" | "now">) {
	const { hosts, configFor, leaseTermMs, now } = options;
	try {
		return await hosts.connect((url) =>
			joinEpoch(configFor(url), { ...known, termMs: leaseTermMs, now: now() }, (client) => hosts.check(client)),
		);
	} catch (error) {
		throw storageError(error);
	}
}
