import { randomBytes, randomInt } from "node:crypto";
import { PROJECTS, ROOM } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { DatabaseObserver } from "../port/peers.ts";
import type { PeerStorage, Storage } from "../port.ts";
import { Room } from "../shared/room.ts";
import { Database } from "./connection/database.ts";
import { Hosts, placeOf } from "./connection/servers.ts";
import { sql } from "./connection/session.ts";
import { checkSessions } from "./connection/session-settings.ts";
import { readGauges } from "./lanes/lanes.ts";
import { peersOf } from "./leases/peers.ts";
import { Wakes } from "./leases/wake.ts";
import { epochName } from "./log/log.ts";
import { prepareDatabase } from "./migrations/index.ts";
import { PostgresNode } from "./node.ts";
import { daysAhead, makeDays } from "./retention/partitions.ts";
import { callsOf } from "./verbs.ts";

export { expectNoNodes, quarantinePostgres } from "./connection/quarantine.ts";

export interface PostgresStorage extends Storage {
	readonly peers: PeerStorage;
	/** The server and database that it currently uses: `host:port/database`. */
	readonly place: string;
	/** How its connections are currently used. */
	readonly pools: Database["state"];
	/** Whether the server, the database or the user had no connection left within the last minute. */
	readonly lacksConnections: boolean;
	/** How far the database's clock is ahead of this node's, milliseconds. */
	readonly clockAheadMs: number;
}

/** Sets what `posthorn.publish` reads. */
const SET_MAX_EVENT_BYTES = sql(`
	INSERT INTO posthorn.settings AS s (name, value) VALUES ('max_event_bytes', $1)
	ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE s.value <> excluded.value`);
/** Writes a row, so that the disk is involved, and reads it. */
const PING = sql(`
	INSERT INTO posthorn.settings (name, value) VALUES ('ping', '1')
	ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING value`);

const LARGE_EVENT = sql(`
	INSERT INTO posthorn.events (project_no, seq, type, created_at, published_at, id, body)
	VALUES (0, $1::bigint, 0, 0, 0, $1::text, $2)`);

export interface PostgresOptions {
	/**
	 * `postgres://user:password@host/database`. The database must exist, and its user must be allowed to create a schema
	 * in it. With several hosts, separated by commas, connections go to the one that accepts writes.
	 */
	readonly url: string;
	/** Called when the server refuses the login: the URL with a user and password that may have been replaced, or null. */
	readonly reread?: (() => string | null) | undefined;
	/** The node's clock. Leases don't depend on it, so nodes' clocks may differ. */
	readonly clock: Pick<Clock, "now">;
	/** How long a lease lasts unless renewed, milliseconds. By default, that of budgets.ts. */
	readonly leaseTermMs?: number;
	/** Maximum size of the data of events published by SQL, bytes. By default, the value set by the last node to start. */
	readonly maxEventBytes?: number;
	/** Whether leases use `clock` instead of the database's: for tests that move time. */
	readonly leasesByClock?: boolean;
	/** Whether to migrate a schema of an earlier version, as by default. Otherwise it is refused. */
	readonly migrates?: boolean;
	/** Notified of connections, commits and leases. */
	readonly observer?: DatabaseObserver;
}

/**
 * Opens a database that many nodes may share, and migrates it (PostgreSQL 14 or later). Rejects with a StorageError:
 * `lost` if it can't be reached, `unusable` if it refuses this user, is newer than this version (or older, see
 * `migrates`), or is behind a pooler that doesn't preserve sessions.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<PostgresStorage> {
	const { url, clock, leaseTermMs = PROJECTS.leaseTermMs } = options;
	const { maxEventBytes, leasesByClock = false, migrates, observer = {} } = options;
	const hosts = new Hosts(url, options.reread);
	const { configFor } = await hosts.connect(checkSessions);
	await prepareDatabase(hosts, migrates);
	const connection = () => configFor(hosts.current);
	const now = () => (leasesByClock ? clock.now() : null);
	const database = await Database.open({ hosts, configFor, observer, leaseTermMs, now });
	try {
		await database.run((connections) =>
			connections.transaction("engine", async (c) => {
				await makeDays(c, daysAhead(clock.now()));
				if (maxEventBytes !== undefined) await c.run(SET_MAX_EVENT_BYTES, String(maxEventBytes));
			}),
		);
		const node = new PostgresNode(database, { clock, leaseTermMs, leasesByClock, observer });
		const storage = storageOf(node, new Wakes(database, connection), () => placeOf(hosts.current));
		// Compares the clocks before any future time is stored.
		await storage.nextAlarm();
		return storage;
	} catch (error) {
		await database.close();
		throw error;
	}
}

/** Makes the log larger by a row that isn't kept. It is of no project, so nothing waits for it. */
async function probeRoom(node: PostgresNode): Promise<void> {
	const undone = Symbol("undone");
	const seq = randomInt(1, 2 ** 47);
	const written = node.write(async (c) => {
		await c.run(LARGE_EVENT, seq, randomBytes(ROOM.probeBytes));
		throw undone;
	});
	await written.catch((error: unknown) => {
		if (error !== undone) throw error;
	});
}

function storageOf(node: PostgresNode, wakes: Wakes, place: () => string): PostgresStorage {
	const { database } = node;
	const room = new Room(() => probeRoom(node));
	database.onFailed = (error) => room.failed(error);
	return {
		...callsOf(node),
		peers: peersOf(node, wakes),
		get epoch() {
			return epochName(database.epoch);
		},
		get place() {
			return place();
		},
		get pools() {
			return database.state;
		},
		get lacksConnections() {
			return database.lacksConnections;
		},
		get clockAheadMs() {
			return database.clockAheadMs;
		},
		async ping() {
			await room.check();
			await node.write((c) => c.run(PING));
		},
		gauges: () => node.read(readGauges),
		async close() {
			await wakes.close();
			await database.close();
		},
	};
}

/** Migrates a database without opening it. Rejects like {@link openPostgresStorage}. */
export function migratePostgres(url: string): Promise<void> {
	return prepareDatabase(new Hosts(url));
}
