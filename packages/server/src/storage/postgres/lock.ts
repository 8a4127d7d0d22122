/**
 * Who moves deliveries of a project (settling, replays, tests, changes of webhooks, the sweep) holds the project's row in
 * `leases` meanwhile, and who numbers events holds its row in `logs`; who needs both takes `logs` first, and who needs
 * several projects takes them in the order of their numbers. Statements after that see everything that the holders
 * before had committed.
 */
import { numberArray } from "./literals.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

const LOCK_LOG = sql("SELECT last_seq FROM posthorn.logs WHERE project_no = $1 FOR NO KEY UPDATE");
const LOCK_LEASE = sql("SELECT FROM posthorn.leases WHERE project_no = $1 FOR NO KEY UPDATE");

/** Holds all of a project until the transaction ends; answers with the last `seq`. */
export async function lockProject(c: Session, projectNo: number): Promise<{ lastSeq: number }> {
	const [log] = await Promise.all([c.row<{ last_seq: number }>(LOCK_LOG, projectNo), c.run(LOCK_LEASE, projectNo)]);
	return { lastSeq: log!.last_seq };
}

const LOCK_LEASES = sql(`
	SELECT FROM posthorn.leases WHERE project_no = ANY ($1::bigint[]) ORDER BY project_no FOR NO KEY UPDATE`);

/** Holds what moves deliveries of these projects until the transaction ends. */
export async function lockDeliveries(c: Session, projectNos: readonly number[]): Promise<void> {
	await c.run(LOCK_LEASES, numberArray(projectNos));
}

const REVISE = sql("UPDATE posthorn.logs SET revision = revision + 1 WHERE project_no = $1");
const RING = sql("UPDATE posthorn.leases SET wake_at = 0 WHERE project_no = $1 AND until IS NULL");

/**
 * Notes that webhooks, a replay or a test changed, and rings the project's alarm; for one who holds all of the project.
 * While a lease is held the alarm is silent: its holder sees the new revision when it gives the lease back.
 */
export async function ringForChange(c: Session, projectNo: number): Promise<void> {
	c.changed.add(projectNo);
	await Promise.all([c.run(REVISE, projectNo), c.run(RING, projectNo)]);
}
