import type { Connection } from "../connection/connection.ts";

/**
 * Records a change of webhooks, a replay or a test, and sets the project's alarm. While the project is leased, its
 * alarm isn't set: the holder sees the new revision when it releases the lease.
 */
export function ringForChange(c: Connection, projectNo: number): void {
	c.sql(
		"UPDATE projects SET revision = revision + 1, wake_at = CASE WHEN lease_until IS NULL THEN 0 END WHERE no = ?",
	).run(projectNo);
}
