/** Budgets of what all parts of a node share. */

/** Names (networks, accounts, principals) that a rate limit or throttle remembers. */
export const NAMES = 10_000;

/** Names of each kind (projects, webhooks, event types) whose numbers storage caches. Others are looked up again. */
export const CACHED_NAMES = 20_000;

/** Maximum number of a node's connections to PostgreSQL, by their user. One more listens. */
export const POOLS = { publish: 2, settle: 2, engine: 3, people: 4, waiting: 5 } as const;

/**
 * A node's connections to PostgreSQL: those that stay open, and the additional ones that it briefly opens to check the
 * server.
 */
export const DATABASE_CONNECTIONS = {
	lasting: Object.values(POOLS).reduce((sum, count) => sum + count, 1),
	brief: 2,
} as const;

/** File descriptors; each connection takes one. descriptors.ts divides them. */
export const DESCRIPTORS = {
	/** For the database, files, name servers and the runtime; a quarter of the limit where that is less. */
	reserved: 128,
	/** Assumed if the operating system doesn't report the limit. */
	assumed: 1_024,
} as const;

/** Limits on the shutdown of a node. */
export const STOP = {
	/** Time in addition to an attempt's timeout, to commit the last outcomes and release leases, milliseconds. */
	graceMs: 10_000,
} as const;
