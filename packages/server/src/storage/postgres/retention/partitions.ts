/**
 * The days of the delivery log. A day begins at midnight UTC and is a range of ids. Its table is created ahead when the
 * database is opened or swept, and on demand for an attempt of a day without one. There is no default partition: its
 * rows would block creating their own day.
 */
import { lowestSuffixAt } from "../../../base/ids.ts";
import { StorageError } from "../../port.ts";
import type { IdRange } from "../../shared/deliveries.ts";
import { isOverlap } from "../connection/errors.ts";
import { type Row, type Session, sql } from "../connection/session.ts";
import { LOCK_DAYS } from "../lanes/locks.ts";

const DAY_MS = 86_400_000;
/** Days that are created ahead, including today. */
const DAYS_AHEAD = 3;
/** How many webhooks the planner assumes a day's attempts to have. */
const ASSUMED_WEBHOOKS = 1_000;
/** A day as the number of days since the Unix epoch. */
type Day = number;

/** An id begins with its time, in this many characters. The first few of them give it to a third of a day. */
const TIME_CHARACTERS = 10;
const COARSE_CHARACTERS = 5;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const IS_TIME = new RegExp(`^[${ALPHABET}]{${TIME_CHARACTERS}}`);

/**
 * When an id was created, milliseconds since the Unix epoch, by its first characters (assuming the lowest value for the
 * others).
 */
function timeOf(storedId: string, characters: number): number {
	let ms = 0;
	for (let i = 0; i < TIME_CHARACTERS; i++) {
		const digit = i < characters ? ALPHABET.indexOf(storedId[i] ?? "") : 0;
		if (digit < 0) throw new Error(`"${storedId}" isn't an attempt id: it contains no time.`);
		ms = ms * 32 + digit;
	}
	return ms;
}

const dayOf = (ms: number): Day => Math.floor(ms / DAY_MS);

export const beginningOfDay = (ms: number): number => dayOf(ms) * DAY_MS;

/** The stored ids of a day: from `from`, before `to`. */
const boundsOf = (day: Day) => ({ from: lowestSuffixAt(day * DAY_MS), to: lowestSuffixAt((day + 1) * DAY_MS) });

const tableOf = (day: Day): string =>
	`attempts_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** How many days a search for the newest attempts begins with, including the last one. */
const NEWEST_DAYS = 2;

/** One range, or one and an older one. */
export type Ranges = readonly [newest: IdRange, ...older: IdRange[]];

/**
 * A range as its newest days, up to today, and the days before them, if it has any: a statement sets up scans of all
 * days that its parameters don't exclude.
 */
export function newestDaysFirst(range: IdRange, now: number): Ranges {
	const { from, to } = range;
	const end = IS_TIME.test(to) ? Math.min(timeOf(to, TIME_CHARACTERS), now) : now;
	const between = lowestSuffixAt(beginningOfDay(end) - (NEWEST_DAYS - 1) * DAY_MS);
	if (between <= from || between >= to) return [range];
	return [
		{ from: between, to },
		{ from, to: between },
	];
}

export const withDayAround = ({ from, to }: IdRange): IdRange => ({
	from: lowestSuffixAt(timeOf(from, TIME_CHARACTERS) - DAY_MS),
	to: IS_TIME.test(to) ? lowestSuffixAt(timeOf(to, TIME_CHARACTERS) + DAY_MS) : to,
});

function daysOf(storedIds: Iterable<string>): Set<Day> {
	const days = new Set<Day>();
	/** By coarse time, the day, or null if midnight falls within it. */
	const known = new Map<string, Day | null>();
	for (const id of storedIds) {
		const coarse = id.slice(0, COARSE_CHARACTERS);
		let day = known.get(coarse);
		if (day === undefined) {
			const from = timeOf(id, COARSE_CHARACTERS);
			const last = from + 32 ** (TIME_CHARACTERS - COARSE_CHARACTERS) - 1;
			day = dayOf(from) === dayOf(last) ? dayOf(from) : null;
			known.set(coarse, day);
		}
		days.add(day ?? dayOf(timeOf(id, TIME_CHARACTERS)));
	}
	return days;
}

/** The days known to exist. They may have been dropped since: then the insert fails. */
export class KnownDays {
	readonly #days = new Set<Day>();

	/** Those of these ids' days that may not have a table yet. */
	missing(storedIds: Iterable<string>): Day[] {
		return [...daysOf(storedIds)].filter((day) => !this.#days.has(day));
	}

	add(days: Iterable<Day>): void {
		for (const day of days) this.#days.add(day);
	}

	forget(): void {
		this.#days.clear();
	}
}

/** The days that should exist at this time. */
export function daysAhead(now: number): Day[] {
	return Array.from({ length: DAYS_AHEAD }, (_, i) => dayOf(now) + i);
}

const LIST = sql(`
	SELECT c.relname AS name, c.relnamespace = 'posthorn'::regnamespace AS "isOurs"
	FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
	WHERE i.inhparent = 'posthorn.attempts'::regclass
	ORDER BY c.relname`);

interface Partition extends Row {
	readonly name: string;
	/** Whether it is in our schema. */
	readonly isOurs: boolean;
}

/**
 * The tables of days, oldest first. An administrator may have attached others, such as one for all other days, or moved
 * a day to another schema to keep it.
 */
export async function listDays(c: Session): Promise<{ readonly table: string; readonly end: number }[]> {
	const rows = await c.rows<Partition>(LIST);
	return rows.flatMap(({ name, isOurs }) => {
		const found = isOurs ? /^attempts_(\d{4})(\d\d)(\d\d)$/.exec(name) : null;
		if (found === null) return [];
		const [, year, month, date] = found;
		return { table: name, end: Date.UTC(Number(year), Number(month) - 1, Number(date) + 1) };
	});
}

const IS_TAKEN = sql(`
	SELECT FROM pg_catalog.pg_class WHERE relnamespace = 'posthorn'::regnamespace AND relname = $1`);

/**
 * The owner of the log, if this is another role to which the user may give tables. New days are given to it: other
 * members of that role, such as the user that replaces this one, couldn't read or drop them otherwise.
 */
const OTHER_OWNER = sql(`
	SELECT quote_ident(pg_get_userbyid(c.relowner)) AS name
	FROM pg_catalog.pg_class c
	WHERE c.oid = 'posthorn.attempts'::regclass AND pg_get_userbyid(c.relowner) <> current_user
		AND has_schema_privilege(c.relowner, c.relnamespace, 'CREATE')
		AND pg_has_role(c.relowner, CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)`);

/**
 * Creates the missing tables of these days, in its own transaction. Rejects with a StorageError, `unusable`, if one
 * exists that isn't a part of the log, or another partition is in its place: an administrator has detached or attached
 * it.
 */
export async function makeDays(c: Session, days: readonly Day[]): Promise<void> {
	await c.run(LOCK_DAYS);
	const there = new Set((await c.rows<Partition>(LIST)).map(({ name }) => name));
	const missing = days.filter((day) => !there.has(tableOf(day)));
	if (missing.length === 0) return;
	const owner = await c.row<{ name: string }>(OTHER_OWNER);
	for (const day of missing) {
		const table = tableOf(day);
		if ((await c.row(IS_TAKEN, table)) !== undefined)
			throw new StorageError(
				"unusable",
				`The table posthorn.${table} isn't a partition of posthorn.attempts, so attempts of this day can't ` +
					"be logged: attach it, or move it to another schema. Pending work then continues.",
			);
		const { from, to } = boundsOf(day);
		// Attached rather than created as a partition, so that reads and writes of other days continue meanwhile. If one
		// webhook had nearly all attempts, statistics would suggest that all webhooks do, and the planner would choose
		// indexes other than a webhook's own.
		await c
			.command(`
			CREATE TABLE posthorn.${table} (LIKE posthorn.attempts INCLUDING ALL);
			ALTER TABLE posthorn.${table} ALTER webhook_no SET (n_distinct = ${ASSUMED_WEBHOOKS});
			ALTER TABLE posthorn.attempts ATTACH PARTITION posthorn.${table} FOR VALUES FROM ('${from}') TO ('${to}')`)
			.catch((error: unknown) => {
				if (!isOverlap(error)) throw error;
				throw new StorageError(
					"unusable",
					`The table posthorn.${table} can't become a partition of posthorn.attempts (${error.message}): detach the ` +
						"partition that takes the attempts of this day. Pending work then continues.",
					{ cause: error },
				);
			});
		if (owner !== undefined) await c.command(`ALTER TABLE posthorn.${table} OWNER TO ${owner.name}`);
	}
}

/**
 * Drops a day, in its own transaction and with a brief exclusive lock on the log, which it waits for no longer than
 * others may wait for it.
 */
export async function dropDay(c: Session, table: string): Promise<void> {
	await c.command("SET LOCAL lock_timeout = 1000");
	await c.run(LOCK_DAYS);
	await c.command(`DROP TABLE IF EXISTS posthorn.${table}`);
}
