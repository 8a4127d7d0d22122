/**
 * The connections to PostgreSQL, in one pool for each use, so that no use waits for another: publishing, settling, the
 * engine (leases, lanes, windows of the log), `access` (who may call the API) and `people` (the rest of the API, the
 * sweep). Transactions that may wait for a project's rows have their own pool: however many projects are locked, the
 * others never run out of connections. All pools are small, and connections are opened on demand.
 *
 * Failures reject with a StorageError; bugs reject as they are. A transaction that conflicted with another one is
 * retried here. One whose connection broke isn't, because it may have been committed: only idempotent calls (reads, and
 * verbs that say so) are retried, by their callers.
 *
 * If the server has no connection left, each pool keeps one for a while, and calls wait for it. Otherwise whichever pools
 * were busy first would keep theirs, and outcomes might wait without end.
 *
 * All connections lead to one history of the database, its epoch (see epochs.ts). Once one of them doesn't, all of them
 * end, along with everything cached, and others replace them.
 *
 * A connection that doesn't respond, or that leads to a server that has become read-only, shows that the route to the
 * database has changed: existing connections are no longer used. When a call takes long, another connection checks
 * whether the server still responds (servers.ts).
 */
import { setTimeout as wait } from "node:timers/promises";
import { Client, Pool, type PoolClient, type PoolConfig } from "pg";
import { CACHED_NAMES, LOCKED_ROWS, POOLS } from "../../../base/budgets.ts";
import { BoundedMap } from "../../../base/collections.ts";
import type { ConnectionUse, DatabaseObserver, PoolState } from "../../port/peers.ts";
import { StorageError } from "../../port.ts";
import { ClockOffset } from "../../shared/leases.ts";
import { EpochEnded, type EpochMemory } from "../leases/epochs.ts";
import { KnownDays } from "../retention/partitions.ts";
import { connectError, isConflict, isConnectionLost, isOutOfConnections, isWayLost, storageError } from "./errors.ts";
import { NameCache } from "./names.ts";
import { type Hosts, Probe } from "./servers.ts";
import { Session } from "./session.ts";

export type PoolName = ConnectionUse;

/** An idle connection is closed after this long, milliseconds. */
const IDLE_MS = 60_000;
/** How often a transaction is retried, and the longest delay before it, milliseconds. */
const CONFLICT_RETRIES = 8;
const CONFLICT_WAIT_MS = 50;
/** For how long each pool has one connection after the server had none left, milliseconds. */
const LIMITED_MS = 60_000;
/** How long connections may take to close, milliseconds. */
const LEAVE_MS = 1_000;

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";
const BEGIN_FROZEN = "BEGIN ISOLATION LEVEL REPEATABLE READ";
const BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

const ENDED =
	"PostgreSQL has continued from an earlier state, as after a failover. Everything is read again and retried.";

type Work<T> = (c: Session) => Promise<T>;

export class Connections {
	readonly names = new NameCache();
	readonly offset = new ClockOffset();
	readonly days = new KnownDays();
	/** By project, the last event known to be committed. */
	readonly ends = new BoundedMap<string, number>(CACHED_NAMES);
	readonly epochs: EpochMemory;
	/** Called once, when the database turns out to be in another epoch. */
	onEnded: () => void = () => undefined;
	/** Numbers of projects whose logs another session held when last checked. */
	readonly suspects = new Set<number>();
	/** Called after a commit with the id of each project that the transaction changed. */
	onChanged: (projectId: string, isUnowned: boolean) => void = () => undefined;
	/** Called when existing connections are no longer used. */
	onDistrusted: () => void = () => undefined;
	readonly #hosts: Hosts;
	readonly #observer: DatabaseObserver;
	readonly #verified = new WeakSet<PoolClient>();
	readonly #distrusted = new WeakSet<PoolClient>();
	readonly #pools: Readonly<Record<PoolName, Pool>>;
	readonly #open = new Set<PoolClient>();
	/** By pool, those that are open, and not about to be closed. The pool also counts those being opened, which may fail. */
	readonly #usable = new Map<Pool, Set<PoolClient>>();
	readonly #probe: Probe;
	/** Its number among the epochs that this node has been in, from 0. */
	readonly #epoch: number;
	#ended = false;
	/** Runs while each pool has one connection. */
	#limited: NodeJS.Timeout | undefined;

	constructor(config: PoolConfig, hosts: Hosts, observer: DatabaseObserver, epochs: EpochMemory, epoch = 0) {
		this.#hosts = hosts;
		this.#observer = observer;
		this.epochs = epochs;
		this.#epoch = epoch;
		this.#probe = new Probe(
			() => ({ ...config, connectionString: hosts.current }),
			() => this.#cut(),
		);
		const open = (name: PoolName) => {
			const pool = new Pool({ ...config, max: POOLS[name], idleTimeoutMillis: IDLE_MS, pipeline: true });
			const usable = new Set<PoolClient>();
			this.#usable.set(pool, usable);
			pool.on("connect", (client) => {
				this.#open.add(client);
				usable.add(client);
				observer.connected?.(name);
				client.once("end", () => {
					this.#open.delete(client);
					usable.delete(client);
				});
				client.on("error", () => undefined);
			});
			pool.on("release", (broken, client) => {
				if (broken) usable.delete(client);
			});
			// A broken connection rejects its user's calls, and the pool drops an idle one: the next call opens another, or
			// fails if that's impossible. Without a listener the process would end.
			pool.on("error", () => observer.disconnected?.(name));
			return pool;
		};
		this.#pools = eachPool(open);
	}

	/** Whether the database is in another epoch: these connections are no longer used. */
	get ended(): boolean {
		return this.#ended;
	}

	/** Whether the server had no connection left within the last minute: each pool has one at most. */
	get isLimited(): boolean {
		return this.#limited !== undefined;
	}

	/** The current use of each pool. */
	get state(): Readonly<Record<PoolName, PoolState>> {
		return eachPool((name) => {
			const { totalCount, idleCount, waitingCount } = this.#pools[name];
			return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
		});
	}

	/** Reads without a transaction: each statement sees the newest state. Retries once if a connection had broken. */
	read<T>(pool: PoolName, work: Work<T>): Promise<T> {
		return asStorageErrors(async () => {
			try {
				return await this.#with(pool, work);
			} catch (error) {
				if (!isConnectionLost(error)) throw error;
				return await this.#with(pool, work);
			}
		});
	}

	/** Reads several times from one state of the database. */
	snapshot<T>(pool: PoolName, work: Work<T>): Promise<T> {
		return asStorageErrors(() => this.#with(pool, (c) => inTransaction(c, BEGIN_SNAPSHOT, work)));
	}

	/**
	 * Runs `work` in a transaction, again from the beginning if it conflicted with another one.
	 *
	 * @param lockMs how long it may wait for a row; by default, the session's limit
	 */
	transaction<T>(pool: PoolName, work: Work<T>, lockMs?: number): Promise<T> {
		if (lockMs !== undefined) return this.transaction(pool, (c) => limited(c, lockMs, work));
		return this.#transaction(pool, BEGIN, work);
	}

	/** The same, but everything that `work` reads is from one state of the database. */
	frozen<T>(pool: PoolName, work: Work<T>): Promise<T> {
		return this.#transaction(pool, BEGIN_FROZEN, work);
	}

	#transaction<T>(pool: PoolName, begin: string, work: Work<T>): Promise<T> {
		return asStorageErrors(async () => {
			for (let tries = 1; ; tries++) {
				try {
					return await this.#with(pool, async (c) => {
						const begun = performance.now();
						const value = await inTransaction(c, begin, work);
						this.#observer.committed?.(pool, (performance.now() - begun) / 1_000);
						for (const projectNo of c.changed) this.#tellChanged(projectNo, c.unowned.has(projectNo));
						return value;
					});
				} catch (error) {
					if (!isConflict(error) || tries > CONFLICT_RETRIES) throw error;
					this.#observer.repeated?.(pool);
					await wait(Math.random() * CONFLICT_WAIT_MS);
				}
			}
		});
	}

	/**
	 * Runs `work`, which locks project rows, in a transaction. `waits`: it concerns one project, and may wait briefly for
	 * the rows, on connections reserved for that. Rejects as `locked` if they stay locked.
	 */
	holding<T>(pool: PoolName, waits: boolean, work: Work<T>): Promise<T> {
		if (!waits) return this.transaction(pool, work);
		return this.transaction("waiting", work, LOCKED_ROWS.waitMs);
	}

	/** Closes every connection. No call may be in progress. */
	async close(): Promise<void> {
		// If one breaks meanwhile, this only waits for its end.
		const closed = [...this.#open].map((client) => new Promise<void>((resolve) => client.once("end", resolve)));
		const late = setTimeout(() => {
			for (const client of this.#open) destroy(client);
		}, LEAVE_MS);
		await Promise.all(Object.values(this.#pools).map((pool) => pool.end()));
		await Promise.all(closed);
		clearTimeout(late);
		clearTimeout(this.#limited);
	}

	/** Leaves each pool one connection. Those in use are closed as they are returned. */
	makeRoom(): void {
		clearTimeout(this.#limited);
		this.#limited = setTimeout(() => {
			this.#limited = undefined;
			for (const [name, pool] of Object.entries(this.#pools)) pool.options.max = POOLS[name as PoolName];
		}, LIMITED_MS).unref();
		for (const pool of Object.values(this.#pools)) {
			pool.options.max = 1;
			for (let left = Math.min(pool.idleCount, this.#usable.get(pool)!.size - 1); left > 0; left--)
				pool.connect().then(
					(client) => client.release(this.#isSpare(pool)),
					() => undefined,
				);
		}
	}

	/** Whether a pool has a connection more than it may keep. */
	#isSpare(pool: Pool): boolean {
		return this.#usable.get(pool)!.size > pool.options.max!;
	}

	/** A connection of this pool. If another one can't be opened, waits for one that it has. */
	async #checkOut(pool: Pool): Promise<PoolClient> {
		try {
			return await pool.connect();
		} catch (error) {
			if (!isOutOfConnections(error)) throw error;
			this.makeRoom();
			if (pool.totalCount === 0) throw error;
			return await pool.connect();
		}
	}

	/**
	 * Checks a connection before its first use. The pool's own `verify` would leak a connection whose caller stops
	 * waiting meanwhile.
	 */
	async #verify(client: PoolClient): Promise<PoolClient> {
		if (this.#verified.has(client)) return client;
		try {
			await this.#hosts.check(client);
			await this.epochs.check(client);
		} catch (error) {
			if (error instanceof EpochEnded) this.#end();
			client.release(error as Error);
			throw error;
		}
		this.#verified.add(client);
		return client;
	}

	#end(): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#cut();
		this.onEnded();
	}

	/** Statements in flight fail as `lost`. */
	#cut(): void {
		this.#distrust();
		for (const client of this.#open) destroy(client);
	}

	#keepEnds({ ends }: Session): void {
		for (const [projectNo, seq] of ends) {
			const projectId = this.names.projectIds.get(projectNo);
			if (projectId !== undefined) this.ends.set(projectId, Math.max(seq, this.ends.get(projectId) ?? 0));
		}
	}

	#tellChanged(projectNo: number, isUnowned: boolean): void {
		const projectId = this.names.projectIds.get(projectNo);
		if (projectId !== undefined) this.onChanged(projectId, isUnowned);
	}

	async #with<T>(pool: PoolName, work: Work<T>): Promise<T> {
		const client = await this.#connect(this.#pools[pool]);
		let broken: Error | undefined;
		const unwatch = this.#probe.watch();
		try {
			const session = new Session(client, this.names, this.offset, this.#epoch);
			const value = await work(session);
			this.#keepEnds(session);
			return value;
		} catch (error) {
			// A transaction that couldn't be rolled back must not return to the pool either.
			if (isConnectionLost(error) || client.getTransactionStatus() !== "I") broken = error as Error;
			if (isConnectionLost(error)) this.#observer.disconnected?.(pool);
			if (isWayLost(error) && !this.#distrusted.has(client)) this.#distrust();
			if (this.#distrusted.has(client)) broken = error as Error;
			throw error;
		} finally {
			unwatch();
			client.release(broken ?? this.#isSpare(this.#pools[pool]));
		}
	}

	async #connect(pool: Pool): Promise<PoolClient> {
		for (;;) {
			if (this.#ended) throw new StorageError("lost", ENDED);
			const client = await this.#hosts
				.connect(async (url) => {
					pool.options.connectionString = url;
					return this.#verify(await this.#checkOut(pool));
				})
				.catch((error: unknown) => {
					throw error instanceof EpochEnded ? new StorageError("lost", ENDED, { cause: error }) : connectError(error);
				});
			if (!this.#distrusted.has(client)) return client;
			client.release(true);
			destroy(client);
		}
	}

	#distrust(): void {
		for (const client of this.#open) this.#distrusted.add(client);
		this.onDistrusted();
	}
}

const eachPool = <T>(of: (name: PoolName) => T): Record<PoolName, T> =>
	Object.fromEntries(Object.keys(POOLS).map((name) => [name, of(name as PoolName)])) as Record<PoolName, T>;

/** Doesn't wait for a server that may be gone. */
function destroy(client: PoolClient): void {
	if (client instanceof Client) client.connection.stream.destroy();
}

/** Errors of the driver become {@link StorageError}s. */
async function asStorageErrors<T>(run: () => Promise<T>): Promise<T> {
	try {
		return await run();
	} catch (error) {
		throw storageError(error);
	}
}

async function limited<T>(c: Session, lockMs: number, work: Work<T>): Promise<T> {
	const set = c.command(`SET LOCAL lock_timeout = ${lockMs}`);
	const [value] = await Promise.all([work(c), set]);
	return value;
}

async function inTransaction<T>(c: Session, begin: string, work: Work<T>): Promise<T> {
	const begun = c.command(begin);
	try {
		const [, value] = await Promise.all([begun, work(c)]);
		await c.commit();
		return value;
	} catch (error) {
		// Pipelined statements after the failed one fail too, and may reject first.
		const first = c.failure ?? error;
		if (!isConnectionLost(first)) await c.command("ROLLBACK");
		throw first;
	}
}
