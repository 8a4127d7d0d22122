import type { Clock } from "../../../base/clock.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";

const NOW = sql("SELECT posthorn.now_ms() AS now");

/** Compares the node's clock with the database's. */
export async function measureOffset(c: Session, clock: Pick<Clock, "now">): Promise<void> {
	const asked = clock.now();
	const row = await c.row<{ now: number }>(NOW);
	c.offset.measured(row!.now, asked, clock.now());
}
