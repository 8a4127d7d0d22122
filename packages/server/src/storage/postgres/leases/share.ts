import type { Share } from "../../port.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import type { LeaseTime } from "./leases.ts";

const NOW = "coalesce($1::bigint, posthorn.now_ms())";

const REPORT = sql(`
	INSERT INTO posthorn.nodes (holder, seen_at) VALUES ($2, ${NOW})
	ON CONFLICT (holder) DO UPDATE SET seen_at = excluded.seen_at`);
/** Deletes nodes that were killed. Skips one that is currently reporting, without waiting for it. */
const FORGET = sql(`
	DELETE FROM posthorn.nodes WHERE holder = ANY (ARRAY(
		SELECT holder FROM posthorn.nodes WHERE seen_at < ${NOW} - $2 FOR UPDATE SKIP LOCKED
	))`);
const SHARE = sql(`
	SELECT
		(SELECT count(*) FROM posthorn.nodes WHERE seen_at >= ${NOW} - $2)::bigint AS nodes,
		(SELECT count(*) FROM posthorn.leases WHERE until IS NOT NULL)::bigint
			+ (SELECT count(*) FROM posthorn.leases WHERE wake_at <= ${NOW})::bigint AS projects`);

/** @param livesMs how long after its last report a node counts as alive */
export async function share(c: Session, time: LeaseTime, holder: string, livesMs: number): Promise<Share> {
	await c.run(REPORT, time.database, holder);
	await c.run(FORGET, time.database, livesMs);
	const row = await c.row<{ nodes: number; projects: number }>(SHARE, time.database, livesMs);
	return { nodes: row!.nodes, projects: row!.projects };
}

const LEAVE = sql("DELETE FROM posthorn.nodes WHERE holder = $1");

export async function leave(c: Session, holder: string): Promise<void> {
	await c.run(LEAVE, holder);
}
