import type { Connection } from "../connection/connection.ts";

/**
 * Notes that webhooks, a replay or a test changed, and rings the project's alarm. While a lease is held the alarm is
 * silent: its holder sees the new revision when it gives the lease back.
 */
export function ringForChange(c: Connection, projectNo: number): void {
	c.sql(
		"UPDATE projects SET revision = revision + 1, wake_at = CASE WHEN lease_until IS NULL THEN 0 END WHERE no = ?",
	).run(projectNo);
}
