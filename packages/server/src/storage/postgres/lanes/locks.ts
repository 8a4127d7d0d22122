/**
 * A transaction that moves deliveries of a project (settling, replays, tests, changes of webhooks, the sweep) locks the
 * project's row in `leases`. One that numbers events locks its row in `logs`. If it needs both, it locks `logs` first;
 * if it needs several projects, it locks them in the order of their numbers. Later statements see everything that
 * earlier holders committed.
 */
import { StorageError } from "../../port.ts";
import type { Connections, PoolName } from "../connection/connections.ts";
import { isLocked, LOCKED } from "../connection/errors.ts";
import { lockedLane, lockedLog, newestLane } from "../connection/hot-rows.ts";
import { lockingSql, numberArray, numberColumns, type Session, sql } from "../connection/session.ts";

const LOCK_LOG = lockingSql((mode) => `SELECT last_seq ${lockedLog("$1", mode)}`);
const LOCK_LEASE = lockingSql(
	(mode) => `SELECT true AS held FROM posthorn.leases WHERE project_no = $1 FOR NO KEY UPDATE ${mode}`,
);

/**
 * Locks all of a project until the transaction ends. Returns the last `seq`. Rejects as `locked` if another session
 * holds it, unless it may wait.
 */
export async function lockProject(c: Session, projectNo: number, waits = true): Promise<number> {
	const [end, held] = await Promise.all([
		c.row<{ last_seq: number }>(LOCK_LOG(waits), projectNo),
		c.row(LOCK_LEASE(waits), projectNo),
	]);
	if (end === undefined || held === undefined) throw new StorageError("locked", LOCKED);
	return end.last_seq;
}

/** How many more calls of a kind may wait for rows concurrently. */
export interface WaitingRoom {
	left: number;
}

/**
 * Runs a transaction that locks one project. If another session holds the project, it runs again on the connections
 * reserved for waiting, and waits for a moment; if the waiting room is full, it rejects as `locked`.
 */
export async function holdingOne<T>(
	connections: Connections,
	pool: PoolName,
	work: (c: Session, waits: boolean) => Promise<T>,
	room: WaitingRoom = { left: Number.POSITIVE_INFINITY },
): Promise<T> {
	try {
		return await connections.holding(pool, false, (c) => work(c, false));
	} catch (error) {
		if (!isLocked(error) || room.left === 0) throw error;
	}
	room.left -= 1;
	try {
		return await connections.holding(pool, true, (c) => work(c, true));
	} finally {
		room.left += 1;
	}
}

const LOCK_LEASES = sql(`
	SELECT project_no FROM posthorn.leases WHERE project_no = ANY ($1::bigint[])
	ORDER BY project_no FOR NO KEY UPDATE SKIP LOCKED`);

/**
 * Locks the deliveries of these projects until the transaction ends, without waiting: projects that another session
 * holds are left out.
 */
export async function lockDeliveries(c: Session, projectNos: readonly number[]): Promise<Set<number>> {
	const held = await c.rows<{ project_no: number }>(LOCK_LEASES, numberArray(projectNos));
	return new Set(held.map(({ project_no }) => project_no));
}

export interface WebhookNumbers {
	readonly projectNo: number;
	readonly webhookNo: number;
}

const HOLD_LANES = lockingSql(
	(mode) => `
	SELECT g.project_no
	FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, webhook_no)
		CROSS JOIN LATERAL (SELECT true AS exists ${newestLane("g.project_no", "g.webhook_no")}) there
		LEFT JOIN LATERAL (SELECT true AS held ${lockedLane("g.project_no", "g.webhook_no", mode)}) mine ON true
	WHERE mine.held IS NULL`,
);

/**
 * Locks the lanes of these webhooks until the transaction ends, without waiting unless `waits`.
 *
 * @returns the projects with a lane that another session holds
 */
export async function holdLanes(c: Session, all: readonly WebhookNumbers[], waits: boolean): Promise<Set<number>> {
	const lanes = [...new Map(all.map((webhook) => [`${webhook.projectNo}/${webhook.webhookNo}`, webhook])).values()];
	if (lanes.length === 0) return new Set();
	const occupied = await c.rows<{ project_no: number }>(
		HOLD_LANES(waits),
		...numberColumns(lanes, "projectNo", "webhookNo"),
	);
	return new Set(occupied.map(({ project_no }) => project_no));
}

const REVISE = sql("UPDATE posthorn.logs SET revision = revision + 1 WHERE project_no = ANY ($1::bigint[])");
const WAKE = sql("UPDATE posthorn.leases SET wake_at = 0 WHERE project_no = ANY ($1::bigint[]) AND until IS NULL");

/**
 * Records a change of webhooks, a replay or a test, and sets the projects' alarms, for a caller that holds all of these
 * projects. While a project is leased, its alarm isn't set: the holder sees the new revision when it releases the lease.
 */
export async function wakeForChange(c: Session, ...projectNos: readonly number[]): Promise<void> {
	for (const projectNo of projectNos) c.changed.add(projectNo);
	const nos = numberArray(projectNos);
	await Promise.all([c.run(REVISE, nos), c.run(WAKE, nos)]);
}

/**
 * Locks on resources that belong to no project. Each is the row of the migration that created the resource. Advisory
 * locks aren't safe: any role of the database, even one that may only publish, could hold them forever.
 */

const MIGRATION = { days: 1, accounts: 2, stats: 3 } as const;

const lock = (whole: keyof typeof MIGRATION, mode = "") =>
	sql(
		`SELECT true AS held FROM posthorn.schema_versions WHERE version = ${MIGRATION[whole]} FOR NO KEY UPDATE ${mode}`,
	);

/** Held while a day of the delivery log is created or dropped. */
export const LOCK_DAYS = lock("days");
/** Held while the operator's account is created: there may be several links, but only one operator. */
export const LOCK_ACCOUNTS = lock("accounts");
/**
 * Held while counts are rolled up: concurrent roll-ups would wait for each other's rows. Returns no row if it's held.
 */
export const TRY_LOCK_STATS = lock("stats", "SKIP LOCKED");
