/** The mark of a restored database, which sends nothing until an operator releases it (see engine/quarantine.ts). */
import { sql } from "./sql.ts";
import { rows, type Steps } from "./verb.ts";

/** The setting that exists while the database is in quarantine. No lease is granted meanwhile, on any node. */
export const QUARANTINE = "quarantine";

/** What the setting says, as JSON. Times are milliseconds since the Unix epoch. */
export interface QuarantineMark {
	/** When the database was restored. */
	readonly since: number;
	/** The latest time that the backup's nodes recorded, at most a minute before it was taken; null if there is none. */
	readonly backupAt: number | null;
}

/** @param seen the setting {@link CLOCK_SEEN} of the backup */
export const newMark = (seen: string | null, now = Date.now()): string =>
	JSON.stringify({ since: now, backupAt: seen === null ? null : Number(seen) } satisfies QuarantineMark);

/**
 * What is deleted as the mark is set: ways in that may have ended since the backup, such as because their account was
 * removed or the invitation was used. They are easily issued again.
 */
export const ENDS_ON_RESTORE = ["sessions", "links", "invitations"] as const;

/** Allows leases again. */
export function* endQuarantine(): Steps<void> {
	yield* rows(sql`DELETE FROM posthorn.settings WHERE name = ${QUARANTINE}`);
}
