/** Values that the instance stores about itself, by name. Times are milliseconds since the Unix epoch. */

/** The latest time that a node's clock showed and was trusted, in decimal. */
export const CLOCK_SEEN = "clock_seen_at";
/** How far trusted clocks have jumped ahead and not been made up for yet, milliseconds, in decimal. */
export const CLOCK_JUMPED = "clock_jumped_ms";

/** What a node's clock shows, compared with what was seen before. */
export interface ClockSeen {
	/** The latest trusted time. */
	readonly seenAt: number;
	/** Whether the clock is too far ahead of it to be trusted. */
	readonly isAhead: boolean;
	/** How far clocks have jumped ahead, including this one, milliseconds. */
	readonly jumpedMs: number;
}

/** Exists while the database is in quarantine, as JSON. No lease is granted meanwhile, on any node. */
export const QUARANTINE = "quarantine";

export interface QuarantineMark {
	/** When the database was restored. */
	readonly since: number;
	/** The latest time that the backup's nodes recorded, at most a minute before it was taken; null if there is none. */
	readonly backupAt: number | null;
}

/** @param value of {@link QUARANTINE}; null outside a quarantine */
export const markOf = (value: string | null): QuarantineMark | null =>
	value === null ? null : (JSON.parse(value) as QuarantineMark);
