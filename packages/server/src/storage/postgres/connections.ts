/**
 * The connections to PostgreSQL, in pools by who works with them, so that none waits behind another: publishing,
 * settling, the engine (leases, lanes, windows of the log) and people (the API, the sweep). All are small and opened
 * when they are needed.
 *
 * What fails comes out as a StorageError, or as it is when it is a mistake of ours. A transaction that lost against
 * another one is done again here; one whose connection broke is not: whether it was committed is not known, so only
 * what can be told twice (reads, and the verbs that say so) is tried again, by those who know.
 *
 * A connection that gives no answer at all, or leads to a server that has become read-only, says that the way to the
 * database has changed: those that were made before are not used any more.
 */
import { setTimeout as wait } from "node:timers/promises";
import { Client, Pool, type PoolClient, type PoolConfig } from "pg";
import type { ConnectionUse, DatabaseObserver, PoolState } from "../port/observer.ts";
import { ClockOffset } from "./clock-offset.ts";
import { isConflict, isConnectionLost, isWayLost, storageError } from "./errors.ts";
import type { Hosts } from "./hosts.ts";
import { NameCache } from "./name-cache.ts";
import { Session } from "./session.ts";

/** Connections at most, for each node. */
const POOLS: Readonly<Record<ConnectionUse, number>> = { publish: 2, settle: 2, engine: 3, people: 4 };
export type PoolName = ConnectionUse;

/** A connection that nobody used for this long is closed, milliseconds. */
const IDLE_MS = 60_000;
/** How often a transaction is done again, and how long it waits before, milliseconds at most. */
const CONFLICT_RETRIES = 8;
const CONFLICT_WAIT_MS = 50;
/** At the end connections may take this long to take their leave, milliseconds. */
const LEAVE_MS = 1_000;

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";
const BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

type Work<T> = (c: Session) => Promise<T>;

export class Connections {
	readonly names = new NameCache();
	readonly offset = new ClockOffset();
	/** Told of each project that a transaction has changed, by its id, after the commit. */
	onChanged: (projectId: string) => void = () => undefined;
	/** Told when connections made so far are not used any more. */
	onDistrusted: () => void = () => undefined;
	readonly #hosts: Hosts;
	readonly #observer: DatabaseObserver;
	readonly #distrusted = new WeakSet<PoolClient>();
	readonly #pools: Readonly<Record<PoolName, Pool>>;
	readonly #open = new Set<PoolClient>();

	constructor(config: PoolConfig, hosts: Hosts, observer: DatabaseObserver = {}) {
		this.#hosts = hosts;
		this.#observer = observer;
		const verify: PoolConfig["verify"] = (client, done) => void hosts.check(client).then(() => done(), done);
		const open = (name: PoolName) => {
			const pool = new Pool({ ...config, max: POOLS[name], idleTimeoutMillis: IDLE_MS, pipeline: true, verify });
			pool.on("connect", (client) => {
				this.#open.add(client);
				observer.connected?.(name);
				client.once("end", () => this.#open.delete(client));
				client.on("error", () => undefined);
			});
			// A connection that breaks tells whoever uses it, and the pool lets go of an idle one: the next call opens another,
			// and tells if there is none to be had. Without a listener the process would end.
			pool.on("error", () => observer.disconnected?.(name));
			return pool;
		};
		this.#pools = { publish: open("publish"), settle: open("settle"), engine: open("engine"), people: open("people") };
	}

	/** How each pool is used just now. */
	get state(): Readonly<Record<PoolName, PoolState>> {
		const stateOf = ({ totalCount, idleCount, waitingCount }: Pool): PoolState => {
			return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
		};
		const { publish, settle, engine, people } = this.#pools;
		return { publish: stateOf(publish), settle: stateOf(settle), engine: stateOf(engine), people: stateOf(people) };
	}

	/** Reads by statements of their own, each of which sees the newest state. Once more if a connection had broken. */
	read<T>(pool: PoolName, work: Work<T>): Promise<T> {
		return told(async () => {
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
		return told(() => this.#with(pool, (c) => inTransaction(c, BEGIN_SNAPSHOT, work)));
	}

	/** Runs `work` in a transaction, from the beginning again when another one was in its way. */
	transaction<T>(pool: PoolName, work: Work<T>): Promise<T> {
		return told(async () => {
			for (let tries = 1; ; tries++) {
				try {
					return await this.#with(pool, async (c) => {
						const begun = performance.now();
						const value = await inTransaction(c, BEGIN, work);
						this.#observer.committed?.(pool, (performance.now() - begun) / 1_000);
						for (const projectNo of c.changed) this.#tellChanged(projectNo);
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

	/** Closes every connection. Nothing may be under way any more. */
	async close(): Promise<void> {
		// Also of one that breaks on the way the end is all that is waited for.
		const closed = [...this.#open].map((client) => new Promise<void>((resolve) => client.once("end", resolve)));
		const late = setTimeout(() => {
			for (const client of this.#open) destroy(client);
		}, LEAVE_MS);
		await Promise.all(Object.values(this.#pools).map((pool) => pool.end()));
		await Promise.all(closed);
		clearTimeout(late);
	}

	#tellChanged(projectNo: number): void {
		const projectId = this.names.projectIds.get(projectNo);
		if (projectId !== undefined) this.onChanged(projectId);
	}

	async #with<T>(pool: PoolName, work: Work<T>): Promise<T> {
		const client = await this.#connect(this.#pools[pool]);
		let broken: Error | undefined;
		try {
			return await work(new Session(client, this.names, this.offset));
		} catch (error) {
			// A transaction that could not be rolled back must not come back to the pool either.
			if (isConnectionLost(error) || client.getTransactionStatus() !== "I") broken = error as Error;
			if (isConnectionLost(error)) this.#observer.disconnected?.(pool);
			if (isWayLost(error) && !this.#distrusted.has(client)) this.#distrust();
			if (this.#distrusted.has(client)) broken = error as Error;
			throw error;
		} finally {
			client.release(broken);
		}
	}

	async #connect(pool: Pool): Promise<PoolClient> {
		for (;;) {
			const client = await this.#hosts.connect((url) => {
				pool.options.connectionString = url;
				return pool.connect();
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

/** Without waiting for a server that may not be there. */
function destroy(client: PoolClient): void {
	if (client instanceof Client) client.connection.stream.destroy();
}

async function told<T>(run: () => Promise<T>): Promise<T> {
	try {
		return await run();
	} catch (error) {
		throw storageError(error);
	}
}

async function inTransaction<T>(c: Session, begin: string, work: Work<T>): Promise<T> {
	const begun = c.command(begin);
	try {
		const [, value] = await Promise.all([begun, work(c)]);
		await c.commit();
		return value;
	} catch (error) {
		// Of statements that were sent together those behind the one that failed fail as well, and may be heard of first.
		const first = c.failure ?? error;
		if (!isConnectionLost(first)) await c.command("ROLLBACK");
		throw first;
	}
}
