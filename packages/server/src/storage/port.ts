/**
 * The storage port: the domain's verbs, without SQL, tables or transactions. Each engine (a folder next to this file)
 * implements {@link Storage} and passes the suite in `test/storage/conformance/`. Engines differ only in whether several
 * nodes may share the database.
 *
 * *Publish* calls `appendEvents`, *settle* calls `settle`, and only *cluster* changes leases. Users' changes (webhooks,
 * keys, replays) come through the registry and the API. A change that gives a project work sets its alarm in the same
 * transaction.
 *
 * Writes resolve once they are durable. Verbs reject only if storage fails ({@link StorageError}); every outcome that can
 * be expected is a value.
 */
import type { DeliveryStorage } from "./port/delivery.ts";
import type { Gauges, HistoryStorage, InsightStorage, RetentionStorage } from "./port/history.ts";
import type { LogStorage } from "./port/log.ts";
import type { PeerStorage } from "./port/peers.ts";
import type { ColdStorage } from "./verbs/index.ts";

/** The verbs that each engine implements itself. */
export interface NativeVerbs extends LogStorage, DeliveryStorage, HistoryStorage, InsightStorage, RetentionStorage {}
/** Those that are written once for all engines come from `verbs/`. Each verb takes one parameter object, or nothing. */
type Verbs = NativeVerbs & ColdStorage;

/** The parameter object of a verb, and what it resolves to. */
export type Params<K extends keyof Verbs> = Parameters<Verbs[K]>[0];
export type Result<K extends keyof Verbs> = Awaited<ReturnType<Verbs[K]>>;

export interface Storage extends Verbs {
	/**
	 * Names the current epoch: a stretch of the database's history in which nothing was lost. A failover begins another.
	 * A log may have lost its last events by then, and gives their numbers to other events.
	 */
	readonly epoch: string;
	/** Null if only one process can use the database. */
	readonly peers: PeerStorage | null;
	/** Resolves once a read and a write have succeeded. */
	ping(): Promise<void>;
	gauges(): Promise<Gauges>;
	/** Waits for calls in progress, then closes the database. */
	close(): Promise<void>;
}

/** Storage failed: lost, locked, full or damaged. `message` says what to do. */
export class StorageError extends Error {
	override readonly name = "StorageError";
	readonly code: StorageErrorCode;

	constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
		super(message, options);
		this.code = code;
	}
}

export const isStorageError = (error: unknown): error is StorageError => error instanceof StorageError;

/** Whether the error may be due to some rows only, such as those of a damaged page: then others can be used. */
export const isPartial = (error: unknown): boolean => error instanceof StorageError && error.code === "unusable";

/** Whether storage failed whatever the rows, so that others can't be used, either. */
export const isGeneral = (error: unknown): boolean => isStorageError(error) && !isPartial(error);

export type StorageErrorCode =
	/** Another process uses this database. */
	| "in_use"
	/** The disk is full, or the file can't grow. */
	| "full"
	/**
	 * The database is damaged, perhaps only rows of some projects; the file isn't one; a newer version wrote it; or it
	 * refuses this user, or something in it prevents the call, such as a trigger.
	 */
	| "unusable"
	/**
	 * Another session has locked one project's rows for longer than a call may wait. Other projects aren't affected.
	 */
	| "locked"
	/** Too many calls of one project are waiting. Other projects aren't affected. */
	| "busy"
	/** The connection or the worker thread is gone. */
	| "lost"
	/** The storage was closed. */
	| "closed";

export * from "./port/accounts.ts";
export * from "./port/delivery.ts";
export * from "./port/facts.ts";
export * from "./port/history.ts";
export * from "./port/log.ts";
export * from "./port/peers.ts";
export * from "./port/registry.ts";
export type { NewAccount } from "./verbs/accounts.ts";
export type { AccountStorage, FactStorage, KeyStorage, RegistryStorage, SettingStorage } from "./verbs/index.ts";
export type { Accepting } from "./verbs/members.ts";
