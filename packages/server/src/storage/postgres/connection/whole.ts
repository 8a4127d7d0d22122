/**
 * Locks on what belongs to no project. They are rows, each of the migration that made what it stands for, and no advisory
 * locks: those may be held by any role of the database for as long as it likes, also by one that may only publish.
 */
import { sql } from "./sql.ts";

const MIGRATION = { days: 1, accounts: 2, stats: 3 } as const;

const lock = (whole: keyof typeof MIGRATION, mode = "") =>
	sql(
		`SELECT true AS held FROM posthorn.schema_versions WHERE version = ${MIGRATION[whole]} FOR NO KEY UPDATE ${mode}`,
	);

/** Whoever makes or drops a day of the delivery log holds this. */
export const LOCK_DAYS = lock("days");
/** Held by who makes the operator's account: there may be several links, and one operator. */
export const LOCK_ACCOUNTS = lock("accounts");
/** Whoever moves counts holds this, as two at once would wait for each other's rows. No row if somebody else does. */
export const TRY_LOCK_STATS = lock("stats", "SKIP LOCKED");
