import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { CACHED_NAMES } from "../../../base/budgets.ts";
import { BoundedMap } from "../../../base/collections.ts";
import { isBusy } from "./errors.ts";

/**
 * A commit writes each page that it changes as a whole, and an event changes one in each index, so that a project's single
 * events write much more than their size. Larger pages only suit events of many kilobytes. Fixed when a file is created.
 */
const PAGE_BYTES = 4096;
/** Other connections (a backup, a shell) hold a lock only briefly. */
export const BUSY_TIMEOUT_MS = 5000;
/** The writer checkpoints the rest of the log and restarts it once its pages have this many bytes. */
const CHECKPOINT_BYTES = 65_536_000;
/** A log file that grew beyond this in a burst is truncated to it, bytes. */
const KEPT_LOG_BYTES = 67_108_864;
/** Page caches, KiB. The operating system also caches recently read pages. */
const WRITER_CACHE_KIB = 8_192;
const READER_CACHE_KIB = 4_096;

/** Delivery log statements come in many variants (filters, types); beyond this many, the oldest is dropped. */
const MAX_STATEMENTS = 300;

/**
 * A statement in which a parameter is the limit is planned for that value, so SQLite prepares it again each time it is
 * bound, which takes longer than reading a page. From 3.54 the same applies to what a column equals. It doesn't look into
 * expressions, and a plus sign changes no value.
 */
const PLANNED_FOR_VALUES = /(?:\bLIMIT|(?<![<>!])=) (?=\?)/g;
/** Before 3.54, without the other plus signs, statements take less time. */
const PLANNED_FOR_LIMITS = /\bLIMIT (?=\?)/g;

/** A statement that SQLite prepares once. */
export function forAnyValues(text: string, sqlite: string = process.versions.sqlite!): string {
	const [major, minor] = sqlite.split(".").map(Number) as [number, number];
	const isNew = major > 3 || minor >= 54;
	return text.replaceAll(isNew ? PLANNED_FOR_VALUES : PLANNED_FOR_LIMITS, "$&+");
}

/** A row by the names of its columns. */
export type Row = Record<string, unknown>;

/**
 * A prepared statement, whose rows are objects of one class. Node's own rows are dictionaries to V8. Creating them and
 * reading their members takes longer, and each leaves a hidden class behind until the next full collection.
 */
class Prepared {
	readonly statement: StatementSync;
	readonly #Row: new (
		values: readonly SQLOutputValue[],
	) => Row;

	constructor(statement: StatementSync) {
		const names = statement.columns().map(({ name }) => name);
		this.statement = statement;
		statement.setReturnArrays(true);
		this.#Row = class {
			[name: string]: unknown;
			constructor(values: readonly SQLOutputValue[]) {
				for (let i = 0; i < names.length; i++) this[names[i]!] = values[i]!;
			}
		};
	}

	all(values: readonly SQLInputValue[]): Row[] {
		const rows = this.statement.all(...values) as unknown as SQLOutputValue[][];
		return rows.map((row) => new this.#Row(row));
	}

	get(values: readonly SQLInputValue[]): Row | undefined {
		const row = this.statement.get(...values) as unknown as SQLOutputValue[] | undefined;
		return row && new this.#Row(row);
	}

	*iterate(values: readonly SQLInputValue[]): Generator<Row, void> {
		for (const row of this.statement.iterate(...values)) yield new this.#Row(row as unknown as SQLOutputValue[]);
	}
}

/** A connection with its prepared statements and the names that it has looked up. */
export class Connection {
	readonly db: DatabaseSync;
	readonly names = new Names(this);
	readonly #statements = new BoundedMap<string, Prepared>(MAX_STATEMENTS);

	constructor(db: DatabaseSync) {
		this.db = db;
	}

	prepare(text: string): Prepared {
		const known = this.#statements.get(text);
		return known ?? keep(this.#statements, text, new Prepared(this.db.prepare(forAnyValues(text))));
	}

	/** A statement's rows. Their type isn't checked. */
	rows<R extends object = Row>(text: string, ...values: readonly SQLInputValue[]): R[] {
		return this.prepare(text).all(values) as R[];
	}

	/** The first row, or undefined. */
	row<R extends object = Row>(text: string, ...values: readonly SQLInputValue[]): R | undefined {
		return this.prepare(text).get(values) as R | undefined;
	}

	/** Reads rows one by one, as the caller asks for them. */
	each<R extends object = Row>(text: string, ...values: readonly SQLInputValue[]): Iterable<R> {
		return this.prepare(text).iterate(values) as Iterable<R>;
	}

	/** Runs a statement and returns how many rows it changed. */
	run(text: string, ...values: readonly SQLInputValue[]): number {
		return Number(this.prepare(text).statement.run(...values).changes);
	}

	close(): void {
		this.#statements.clear();
		this.db.close();
	}
}

/** Every commit is on disk before its calls return: `synchronous = FULL`. */
export function openWriter(path: string): DatabaseSync {
	const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
	try {
		db.exec(`
			PRAGMA page_size = ${PAGE_BYTES};
			PRAGMA journal_mode = WAL;
		`);
		db.exec(`
			PRAGMA synchronous = FULL;
			PRAGMA wal_autocheckpoint = ${CHECKPOINT_BYTES / pageBytes(db)};
			PRAGMA journal_size_limit = ${KEPT_LOG_BYTES};
			PRAGMA cache_size = -${WRITER_CACHE_KIB};
			PRAGMA temp_store = MEMORY;
		`);
	} catch (error) {
		db.close();
		throw error;
	}
	return db;
}

/** Of this file, which an earlier version may have created with another size. */
export const pageBytes = (db: DatabaseSync): number => Number(db.prepare("PRAGMA page_size").get()!.page_size);

export function openReader(path: string): DatabaseSync {
	const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: true });
	db.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}; PRAGMA temp_store = MEMORY;`);
	return db;
}

/**
 * Reads several index ranges as one, in order: SQLite merges them row by row, without sorting and without reading
 * further than necessary.
 *
 * @param ranges selects without ORDER BY, each of which its index can return in the order of `orderBy`
 */
export function mergedRanges(ranges: readonly string[], orderBy: string): string {
	return `${ranges.join(" UNION ALL ")} ORDER BY ${orderBy} LIMIT ?`;
}

/**
 * Which number belongs to which name. A number is never given to another name, so cached entries stay valid; only
 * numbers assigned in a rolled-back transaction have to be forgotten.
 */
class Names {
	readonly #c: Connection;
	readonly #projects = new BoundedMap<string, number>(CACHED_NAMES);
	readonly #webhooks = new BoundedMap<string, Webhook>(CACHED_NAMES);
	readonly #webhookIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly #types = new BoundedMap<string, number>(CACHED_NAMES);
	readonly #typeNames = new BoundedMap<number, string>(CACHED_NAMES);

	constructor(c: Connection) {
		this.#c = c;
	}

	forget(): void {
		this.#projects.clear();
		this.#webhooks.clear();
		this.#webhookIds.clear();
		this.#types.clear();
		this.#typeNames.clear();
	}

	project(id: string): number | null {
		return this.#find(this.#projects, id, "SELECT no AS value FROM projects WHERE id = ?");
	}

	/** The number of a webhook of this project, deleted or not. */
	webhook(projectNo: number, id: string): number | null {
		const known = this.#webhooks.get(id);
		const found = known ?? this.#c.row<Webhook>("SELECT no, project_no FROM webhooks WHERE id = ?", id);
		if (known === undefined && found !== undefined) this.#webhooks.set(id, found);
		return found?.project_no === projectNo ? found.no : null;
	}

	webhookId(no: number): string {
		const id = this.#find(this.#webhookIds, no, "SELECT id AS value FROM webhooks WHERE no = ?");
		if (id === null) throw new Error(`Webhook number ${no} is referred to, but doesn't exist.`);
		return id;
	}

	/** The code of an event type, or null if it was never used. */
	type(name: string): number | null {
		return this.#find(this.#types, name, "SELECT code AS value FROM event_types WHERE name = ?");
	}

	/** The code of an event type, assigned now if it has none. For the writer. */
	internType(name: string): number {
		const code = this.type(name);
		if (code !== null) return code;
		const made = this.#c.row<{ code: number }>("INSERT INTO event_types (name) VALUES (?) RETURNING code", name);
		return keep(this.#types, name, made!.code);
	}

	typeName(code: number): string {
		const name = this.#find(this.#typeNames, code, "SELECT name AS value FROM event_types WHERE code = ?");
		if (name === null) throw new Error(`Event type ${code} is referred to, but doesn't exist.`);
		return name;
	}

	#find<K extends string | number, V>(known: Map<K, V>, key: K, text: string): V | null {
		const value = known.get(key);
		if (value !== undefined) return value;
		const row = this.#c.row<{ value: V }>(text, key);
		return row === undefined ? null : keep(known, key, row.value);
	}

	/** The codes of all event types ever used. */
	allTypes(): number[] {
		return this.#c.rows<{ code: number }>("SELECT code FROM event_types ORDER BY code").map(({ code }) => code);
	}
}

interface Webhook {
	readonly no: number;
	readonly project_no: number;
}

function keep<K, V>(map: Map<K, V>, key: K, value: V): V {
	map.set(key, value);
	return value;
}

/** The outcome of one operation of a batch. */
export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/**
 * Runs operations in one transaction. They fail only because of bugs or a full disk, so there is no savepoint around
 * each, which would copy every page it touches. If one fails, the transaction is rolled back and each runs again in its
 * own transaction, so only the failing one is undone. If another program holds the lock, all fail.
 */
export function commitTogether(c: Connection, operations: readonly (() => unknown)[]): Outcome[] {
	try {
		const values = inTransaction(c, () => operations.map((operation) => operation()));
		return values.map((value) => ({ ok: true, value }));
	} catch (error) {
		// None has run, and each would wait for the lock as long again.
		if (operations.length === 1 || isBusy(error)) return operations.map(() => ({ ok: false, error }));
		return operations.flatMap((operation) => commitTogether(c, [operation]));
	}
}

function inTransaction<T>(c: Connection, run: () => T): T {
	try {
		c.run("BEGIN IMMEDIATE");
		const value = run();
		c.run("COMMIT");
		return value;
	} catch (error) {
		// A full disk may have ended the transaction already.
		if (c.db.isTransaction) c.db.exec("ROLLBACK");
		c.names.forget();
		throw error;
	}
}
