/**
 * Epochs: stretches of the database's history in which nothing was lost.
 *
 * A promoted standby may lack the last commits of the server before it, and a server restored from a backup lacks more.
 * Then what a node remembers (its leases, the ends of logs, the numbers of projects) may be wrong, although every
 * statement still succeeds. So one rule applies: all that a node knows belongs to one epoch, and is forgotten as a whole
 * when another one begins.
 *
 * - A server's history is identified by its system identifier and its timeline, which a promotion changes; by the
 *   number of a table, which a restored dump changes; and by how far its write-ahead log is on disk, which never goes
 *   back. Each connection is compared when it's opened, before anything runs on it. The table `epochs` has the current
 *   epoch for all nodes, and the first node to meet another history adds one.
 * - When a node meets another history, its connections are cut, its actors start nothing, and its caches are dropped
 *   with its {@link Connections}. A lease's generation contains its epoch, so no lease is valid in a later one. Only
 *   projects are kept of which the database lacks nothing that the node knows ({@link keptClaims}): their leases
 *   continue under another generation, and outcomes that weren't committed are settled as after any broken connection.
 * - Leases may be lost too, and a node that hasn't noticed may still send under one. So for a lease's duration after
 *   the epoch began, a lease goes only to the node that held it before: no other node held it at the same time, and
 *   that node has just stopped using it. Until then no other node takes one, a project kept without a trusted lease
 *   sends nothing, and no change is in force.
 * - Where each log ended is kept in `log_forks`. Acknowledged events beyond that are lost, and are recorded there;
 *   readers of the log from an earlier epoch learn where to continue.
 * - A database whose tables are others than those of its last epoch was restored from a dump, or moved; one whose server
 *   recovered only up to a target went back to an earlier state. If nodes ran at that time, it is put in quarantine. Other
 *   physical backups look the same as a promoted standby.
 * - A server that still has an epoch which this node has left was replaced by another server. It's refused: events
 *   that it acknowledged would be lost once it follows the other one.
 *
 * Events that a store publishes by SQL between a promotion and the first connection of a node count as kept.
 */
import { randomBytes } from "node:crypto";
import type { ClientBase, PoolConfig } from "pg";
import type { Claim, LostTail } from "../../port/peers.ts";
import { StorageError } from "../../port.ts";
import { sqlState } from "../connection/errors.ts";
import { beginQuarantine } from "../connection/quarantine.ts";
import { numberArray, textArray } from "../connection/session.ts";
import { openClient } from "../connection/session-settings.ts";
import { keptClaims } from "./claims.ts";

export interface Epoch {
	readonly no: number;
	/** Random: distinguishes it from a lost epoch of the same number. */
	readonly id: string;
	readonly system: string;
	readonly timeline: number;
}

/** How a server identifies itself. */
interface Server {
	readonly system: string;
	readonly timeline: number;
	/** How far its write-ahead log is on disk, bytes. */
	readonly position: number;
	/** The last epoch of its database. */
	readonly epoch: Epoch | null;
	/** Whether the epoch's row is the one that its transaction wrote, not a restored copy; false if that isn't known. */
	readonly isOriginal: boolean;
}

/** Forks without a known loss are kept for this many epochs. Readers from earlier epochs continue at the lowest one. */
const EPOCHS_KEPT = 8;
/** For all statements of a node that begins an epoch, milliseconds: it reads the end of every log. */
const JOIN_TIMEOUT_MS = 60_000;

/**
 * Every commit is on disk (and on the standbys that the server waits for) before it is acknowledged, regardless of the
 * role's or database's settings; stronger settings are kept.
 */
const COMMIT_DURABLY = `set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'remote_apply'
	THEN 'remote_apply' ELSE 'on' END, false)`;

/** Not a startup setting like the other limits of a session, because PostgreSQL refuses it there before version 17. */
const LIFT_LIMIT = `CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
	THEN set_config('transaction_timeout', '0', false) END`;

const describeServer = (history: string) => `
	SELECT pg_is_in_recovery() AS standby, ${COMMIT_DURABLY}, ${LIFT_LIMIT}, own.*, e.no, e.id, e.system AS epoch_system,
		e.timeline AS epoch_timeline, coalesce(e.xid = e.xmin::text::bigint, false) AS epoch_is_original
	FROM (${history}) own LEFT JOIN (SELECT *, xmin FROM posthorn.epochs ORDER BY no DESC LIMIT 1) e ON true`;

/** A standby has no write position. */
const history = (name: string, from = "") => `
	SELECT ${name} || '/' || 'posthorn.epochs'::regclass::oid AS system,
		CASE WHEN NOT pg_is_in_recovery()
			THEN ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::bigint ELSE 0 END AS timeline,
		CASE WHEN NOT pg_is_in_recovery() THEN (pg_current_wal_flush_lsn() - '0/0')::float8 ELSE 0 END AS position ${from}`;
/** From what a server may show of its history to what any server does. */
const DESCRIPTIONS = [
	describeServer(history("c.system_identifier", "FROM pg_control_system() c")),
	// For servers that only hide their identifier, such as from users that aren't administrators: their standbys may lag.
	describeServer(history("''")),
	// For services that show none of it: their servers share one storage, and a failover loses nothing.
	describeServer("SELECT '' AS system, 0::bigint AS timeline, 0::float8 AS position"),
] as const;
/** Not supported, not permitted, or missing. */
const HIDDEN = /^(0A000|42501|42883)$/;

interface ServerRow {
	readonly standby: boolean;
	readonly system: string;
	readonly timeline: number;
	readonly position: number;
	readonly no: number | null;
	readonly id: string;
	readonly epoch_system: string;
	readonly epoch_timeline: number;
	readonly epoch_is_original: boolean;
}

/** In a transaction or outside of one. */
async function describe(client: ClientBase): Promise<Server> {
	const row = await describeOn(client);
	// Once promoted, it would continue on this connection, whose history was never compared.
	if (row.standby) throw new StorageError("lost", "PostgreSQL is read-only: it is a standby.");
	const { system, timeline, position, no, id, epoch_system, epoch_timeline, epoch_is_original: isOriginal } = row;
	const epoch = no === null ? null : { no, id, system: epoch_system, timeline: epoch_timeline };
	return { system, timeline, position, epoch, isOriginal };
}

async function describeOn(client: ClientBase): Promise<ServerRow> {
	// A failed statement ends a transaction, unless there is a savepoint before it.
	const inTransaction = client.getTransactionStatus() === "T";
	if (inTransaction) await client.query("SAVEPOINT described");
	const [full, nameless, hidden] = DESCRIPTIONS;
	const ask = async (text: string) => (await client.query<ServerRow>(text)).rows[0]!;
	const otherwise = (text: string) => async (error: unknown) => {
		if (!HIDDEN.test(sqlState(error) ?? "")) throw error;
		if (inTransaction) await client.query("ROLLBACK TO described");
		return ask(text);
	};
	const row = await ask(full).catch(otherwise(nameless)).catch(otherwise(hidden));
	// Within it, rows would have another transaction's number than the one that `XID` reads.
	if (inTransaction) await client.query("RELEASE described");
	return row;
}

const isOf = (server: Server, epoch: Epoch): boolean =>
	server.system === epoch.system && server.timeline === epoch.timeline;

/** The server's history isn't the one that the earlier connections belong to. */
export class EpochEnded extends Error {
	override readonly name = "EpochEnded";
}

/** What a node remembers of its epochs. */
export class EpochMemory {
	readonly current: Epoch;
	readonly #left: ReadonlySet<string>;
	#position = 0;

	constructor(current: Epoch, left: ReadonlySet<string> = new Set()) {
		this.current = current;
		this.#left = left;
	}

	/** Throws {@link EpochEnded} if this connection leads to another history, and a StorageError if to a former one. */
	async check(client: ClientBase): Promise<void> {
		// Connections are opened concurrently: only what was known before asking can be compared.
		const position = this.#position;
		const server = await describe(client);
		this.refuseFormer(server);
		const { current } = this;
		if (!isOf(server, current) || server.epoch?.id !== current.id || server.position < position)
			throw new EpochEnded("The database's history has changed.");
		this.#position = Math.max(this.#position, server.position);
	}

	refuseFormer({ epoch, ...server }: Server): void {
		if (epoch === null || !this.#left.has(epoch.id) || !isOf({ ...server, epoch }, epoch)) return;
		throw new StorageError(
			"lost",
			"This PostgreSQL server was replaced by another one, on which the service has continued, so it isn't used. " +
				"To use it anyway, restart the service.",
		);
	}

	/** The memory of a node that continues in another epoch. */
	next(epoch: Epoch): EpochMemory {
		const left = new Set(this.#left);
		if (epoch.id !== this.current.id) left.add(this.current.id);
		left.delete(epoch.id);
		return new EpochMemory(epoch, left);
	}
}

export interface Joining {
	/** What the node remembers; null if it has just started. */
	readonly memory: EpochMemory | null;
	/** By project, the last event that the node knows to be acknowledged. */
	readonly ends: ReadonlyMap<string, number>;
	/** What it knows about the projects that it runs, under leases of its epoch number `claimed`. */
	readonly claims: () => readonly Claim[];
	readonly claimed: number;
	/** How long a lease lasts, milliseconds. */
	readonly termMs: number;
	/** The current time, unless the database reads it itself. */
	readonly now: number | null;
}

interface Joined {
	readonly epoch: Epoch;
	readonly lost: readonly LostTail[];
	/** Claims with all of their evidence present. */
	readonly kept: readonly Claim[];
	/** How long another node may still use a lost lease, milliseconds. */
	readonly opensInMs: number;
}

const LOCK = "LOCK TABLE posthorn.epochs IN SHARE ROW EXCLUSIVE MODE";

/** This transaction, as the column `xmin` of the rows that it writes shows it. */
const XID = "pg_current_xact_id()::xid::text::bigint";
/** Nothing can have been lost before the very first epoch: its leases may be taken immediately. */
const BEGIN_EPOCH = `
	INSERT INTO posthorn.epochs (no, id, system, timeline, started_at, open_at, xid)
	SELECT $1::bigint, $2, $3, $4::bigint, t.now, CASE WHEN $1::bigint = 1 THEN 0 ELSE t.now + $5::bigint END, ${XID}
	FROM (SELECT coalesce($6::bigint, posthorn.now_ms()) AS now) t RETURNING open_at`;
const FORK_LOGS = `
	INSERT INTO posthorn.log_forks (project_no, epoch, kept) SELECT project_no, $1::bigint, last_seq FROM posthorn.logs`;
/**
 * Until then, no node takes a held lease, but its holder may keep it. A row that a store's transaction has locked is
 * left out: its lease isn't taken before `open_at` either.
 */
const HOLD_LEASES = `
	UPDATE posthorn.leases SET until = $1
	WHERE project_no = ANY (ARRAY(
		SELECT project_no FROM posthorn.leases WHERE until IS NOT NULL FOR UPDATE SKIP LOCKED
	))`;
/** How long until then, milliseconds. */
const OPENS_IN =
	"SELECT open_at - coalesce($1::bigint, posthorn.now_ms()) AS ms FROM posthorn.epochs ORDER BY no DESC LIMIT 1";
/** For an epoch that a node of an earlier version began. */
const SET_XID = `UPDATE posthorn.epochs SET xid = ${XID} WHERE no = $1 AND xid IS NULL`;
/**
 * Logical replication doesn't copy sequences: on a replica they would begin again at 1. Those that are ahead aren't
 * changed, because stores may be publishing.
 */
const ADVANCE_SEQUENCES = `
	SELECT setval(s.name::regclass, s.used)
	FROM (
		VALUES (pg_get_serial_sequence('posthorn.projects', 'no'), (SELECT max(no) FROM posthorn.projects)),
			(pg_get_serial_sequence('posthorn.webhooks', 'no'), (SELECT max(no) FROM posthorn.webhooks)),
			(pg_get_serial_sequence('posthorn.events', 'no'), (SELECT no FROM posthorn.events ORDER BY no DESC LIMIT 1)),
			(pg_get_serial_sequence('posthorn.event_types', 'code'), (SELECT max(code) FROM posthorn.event_types))
	) s (name, used)
	WHERE s.used > coalesce(pg_sequence_last_value(s.name::regclass), 0)`;
const FORGET_FORKS = "DELETE FROM posthorn.log_forks WHERE epoch < $1 AND lost IS NULL";

/** Joins the server's current epoch, and begins it if no node has. */
export async function joinEpoch(
	config: PoolConfig,
	joining: Joining,
	check: (client: ClientBase) => Promise<void>,
): Promise<Joined> {
	const client = await openClient({
		...config,
		application_name: "posthorn epoch",
		query_timeout: JOIN_TIMEOUT_MS,
	});
	try {
		await config.onConnect?.(client);
		await check(client);
		await client.query(`BEGIN; SET LOCAL statement_timeout = ${JOIN_TIMEOUT_MS}; ${LOCK}`);
		const joined = await joinOn(client, joining);
		await client.query("COMMIT");
		await client.end();
		return joined;
	} catch (error) {
		// Doesn't wait for a server that may be gone.
		client.connection.stream.destroy();
		throw error;
	}
}

/** For a transaction that holds the lock. */
async function joinOn(client: ClientBase, joining: Joining): Promise<Joined> {
	const { memory, ends, claims, claimed, now } = joining;
	const server = await describe(client);
	memory?.refuseFormer(server);
	let { epoch } = server;
	// If the timeline is the same, the position must have gone back: nothing else leads here.
	if (epoch === null || !isOf(server, epoch) || epoch.id === memory?.current.id)
		epoch = await beginEpoch(client, server, joining);
	else await client.query(SET_XID, [epoch.no]);
	const lost = memory === null || ends.size === 0 ? [] : await recordLost(client, memory.current, ends, now);
	const kept = await keptClaims(client, claimed, claims());
	const [opens] = (await client.query<{ ms: number }>(OPENS_IN, [now])).rows;
	return { epoch, lost, kept, opensInMs: Math.max(0, opens!.ms) };
}

async function beginEpoch(client: ClientBase, server: Server, { memory, termMs, now }: Joining): Promise<Epoch> {
	const { epoch: before, system, timeline } = server;
	const epoch = { no: (before?.no ?? 0) + 1, id: randomBytes(4).toString("hex"), system, timeline };
	const values = [epoch.no, epoch.id, system, timeline, termMs, now];
	const begun = await client.query<{ open_at: number }>(BEGIN_EPOCH, values);
	if (before === null) return epoch;
	if (await isCopy(client, server, before, memory !== null, now)) await beginQuarantine(client);
	await client.query(ADVANCE_SEQUENCES);
	await client.query(FORK_LOGS, [epoch.no]);
	await client.query(HOLD_LEASES, [begun.rows[0]!.open_at]);
	await client.query(FORGET_FORKS, [epoch.no - EPOCHS_KEPT + 1]);
	return epoch;
}

/** Nodes that reported within this time still run, milliseconds. */
const NODE_LIVES_MS = 60_000;
/** Whether a node was running when the database had this state, but none of them has reported recently. */
const RAN_BEFORE = `
	SELECT n.seen_at IS NOT NULL OR EXISTS (SELECT FROM posthorn.leases WHERE until IS NOT NULL) AS ran,
		coalesce(n.seen_at >= coalesce($1::bigint, posthorn.now_ms()) - ${NODE_LIVES_MS}, false) AS recently
	FROM (SELECT max(seen_at) AS seen_at FROM posthorn.nodes) n`;

/**
 * Whether the database is an earlier state that was restored, while nodes ran: what they sent since isn't in it. Nodes
 * that had stopped before it was taken sent nothing since, so a database that was moved lacks nothing. Nodes that run
 * meanwhile may have been switched to a logical replica, which contains their recent reports.
 */
async function isCopy(client: ClientBase, own: Server, before: Epoch, isRunning: boolean, now: number | null) {
	// Hidden servers have the same name.
	if (own.system === "" || before.system === "") return false;
	if (own.system === before.system ? !(await wentBack(client, own, before)) : isUpgraded(own, before)) return false;
	const { ran, recently } = (await client.query<{ ran: boolean; recently: boolean }>(RAN_BEFORE, [now])).rows[0]!;
	return ran && !(isRunning && recently);
}

/**
 * Whether the same database is on another server: after `pg_upgrade`, which creates a server with another identifier and
 * keeps the tables, their numbers and rows. Restoring a dump creates tables. They may happen to get the same numbers, but
 * other transactions write their rows.
 */
function isUpgraded(own: Server, before: Epoch): boolean {
	const tableOf = (system: string) => system.split("/")[1];
	return own.isOriginal && tableOf(own.system) === tableOf(before.system);
}

/**
 * Whether the server has recovered to a point in time, or to another target. A standby with a target doesn't follow its
 * primary, and PostgreSQL refuses to promote a server that hasn't reached its target. So after a failover none is set.
 */
async function wentBack(client: ClientBase, own: Server, before: Epoch): Promise<boolean> {
	if (own.timeline === before.timeline) return false;
	const { rows } = await client.query(TARGETS);
	return rows.length > 0;
}

/** `recovery_target_timeline` isn't one of them: standbys have it. */
const TARGETS = `
	SELECT FROM pg_settings WHERE setting <> '' AND name IN (
		'recovery_target', 'recovery_target_lsn', 'recovery_target_name', 'recovery_target_time', 'recovery_target_xid'
	)`;

/**
 * The forks of logs since the epoch `$1` with the id `$2` of a reader or writer; none if it names no epoch (`$2` is
 * empty). An epoch that isn't here was lost by a failover or a restore. It may have diverged anywhere after its number
 * and before the newest epoch: a restored backup may be several epochs older than what was lost.
 */
export const FORKS_SINCE = `
	SELECT f.* FROM posthorn.log_forks f
	WHERE f.epoch > CASE
		WHEN $2::text = '' OR EXISTS (SELECT FROM posthorn.epochs e WHERE e.no = $1::bigint AND e.id = $2::text) THEN $1::bigint
		ELSE least($1::bigint, (SELECT max(e.no) FROM posthorn.epochs e)) - 1
	END`;

/** The lowest of several forks since a node's epoch is where its knowledge ends. Missing projects kept nothing. */
const RECORD_LOST = `
	WITH known AS (
		SELECT k.id, k.seq, p.no FROM unnest($3::text[], $4::bigint[]) AS k (id, seq)
		LEFT JOIN posthorn.projects p ON p.id = k.id
	), fork AS (
		SELECT DISTINCT ON (k.id) k.id, k.seq, f.project_no, f.epoch, f.kept, greatest(f.kept, f.lost) AS before
		FROM known k JOIN LATERAL (${FORKS_SINCE} AND f.project_no = k.no) f ON true
		ORDER BY k.id, f.kept, f.epoch
	), recorded AS (
		UPDATE posthorn.log_forks f SET lost = fork.seq, found_at = coalesce($5::bigint, posthorn.now_ms())
		FROM fork WHERE f.project_no = fork.project_no AND f.epoch = fork.epoch AND fork.seq > fork.before
	)
	SELECT id AS "projectId", kept, seq AS lost, seq - before AS count FROM fork WHERE seq > before
	UNION ALL SELECT id, 0, seq, seq FROM known WHERE no IS NULL`;

async function recordLost(
	client: ClientBase,
	{ no, id }: Epoch,
	ends: ReadonlyMap<string, number>,
	now: number | null,
): Promise<LostTail[]> {
	const values = [no, id, textArray([...ends.keys()]), numberArray([...ends.values()]), now];
	return (await client.query<LostTail>(RECORD_LOST, values)).rows;
}
