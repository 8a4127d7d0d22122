/**
 * Locks on resources that belong to no project. Each is the row of the migration that created the resource. Advisory
 * locks won't do: any role of the database may hold them as long as it likes, even one that may only publish.
 */
import { sql } from "./sql.ts";

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
