/**
 * One node sweeps at a time, so that the work is done once. Only that depends on it: steps of several nodes at once
 * (those of the previous release don't ask) delete nothing twice and nothing that is needed.
 */
import { type Session, sql } from "../connection/session.ts";
import { type LeaseTime, NOW } from "../leases/leases.ts";

/** A later end was written while the database's clock was ahead, milliseconds. */
const LONGEST_MS = 86_400_000;

const TAKE = sql(`
	INSERT INTO posthorn.sweeper AS s (one, holder, until) VALUES (true, $2, ${NOW} + $3)
	ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until
	WHERE s.holder = $2 OR s.until <= ${NOW} OR s.until > ${NOW} + ${LONGEST_MS} OR (s.holder IS NULL AND $4)`);

const END = sql(`UPDATE posthorn.sweeper SET holder = NULL, until = ${NOW} + $3 WHERE holder = $2`);

export async function takeSweep(
	c: Session,
	time: LeaseTime,
	{ holder, termMs, early }: { readonly holder: string; readonly termMs: number; readonly early: boolean },
): Promise<boolean> {
	return (await c.run(TAKE, time.database, holder, termMs, early)) > 0;
}

export async function endSweep(
	c: Session,
	time: LeaseTime,
	{ holder, restMs }: { readonly holder: string; readonly restMs: number },
): Promise<void> {
	await c.run(END, time.database, holder, restMs);
}
