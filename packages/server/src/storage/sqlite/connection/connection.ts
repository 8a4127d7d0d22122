import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { CACHED_NAMES } from "../../../base/budgets.ts";
import { BoundedMap } from "../../../base/collections.ts";
import { isBusy } from "./errors.ts";

/** Chosen by measurement: few pages per commit, without rewriting much unchanged data. Fixed when a file is created. */
const PAGE_BYTES = 8192;
/** Other connections (a backup, a shell) hold a lock only briefly. */
const BUSY_TIMEOUT_MS = 5000;
/** The writer checkpoints the rest of the log and restarts it once it has this many pages (64 MB). */
const CHECKPOINT_PAGES = 8000;
/** A log file that grew beyond this in a burst is truncated to it, bytes. */
const KEPT_LOG_BYTES = 67_108_864;
/** Page caches, KiB. The operating system also caches recently read pages. */
const WRITER_CACHE_KIB = 8_192;
const READER_CACHE_KIB = 4_096;

/** Delivery log statements come in many variants (filters, types); beyond this many, the oldest is dropped. */
const MAX_STATEMENTS = 300;

/**
 * A statement in which a parameter is the limit is planned for that value, so SQLite prepares it again each time it is
 * bound, which takes longer than reading a page. It doesn't look into expressions.
 */
const withAnyLimit = (text: string): string => text.replaceAll(/\bLIMIT \?\d*/g, "$& + 0");

/** A row by the names of its columns. */
type Row = Record<string, SQLOutputValue>;

/**
 * A statement whose rows are objects of one class. Node's own rows are dictionaries to V8. Creating them and reading
 * their members takes longer, and each leaves a hidden class behind until the next full collection.
 */
class RowReader {
	readonly statement: StatementSync;
	readonly #Row: new (
		values: readonly SQLOutputValue[],
	) => Row;

	constructor(statement: StatementSync) {
		const names = statement.columns().map(({ name }) => name);
		this.statement = statement;
		statement.setReturnArrays(true);
		this.#Row = class {
			[name: string]: SQLOutputValue;
			constructor(values: readonly SQLOutputValue[]) {
				for (let i = 0; i < names.length; i++) this[names[i]!] = values[i]!;
			}
		};
	}

	all(...values: readonly SQLInputValue[]): Row[] {
		const rows = this.statement.all(...values) as unknown as SQLOutputValue[][];
		return rows.map((row) => new this.#Row(row));
	}

	get(...values: readonly SQLInputValue[]): Row | undefined {
		const row = this.statement.get(...values) as unknown as SQLOutputValue[] | undefined;
		return row && new this.#Row(row);
	}

	*iterate(...values: readonly SQLInputValue[]): Generator<Row, void> {
		for (const row of this.statement.iterate(...values)) yield new this.#Row(row as unknown as SQLOutputValue[]);
	}
}

/** A connection with its prepared statements and the names that it has looked up. */
export class Connection {
	readonly db: DatabaseSync;
	readonly names = new Names(this);
	readonly #statements = new BoundedMap<string, StatementSync>(MAX_STATEMENTS);
	readonly #readers = new BoundedMap<string, RowReader>(MAX_STATEMENTS);

	constructor(db: DatabaseSync) {
		this.db = db;
	}

	sql(text: string): StatementSync {
		return this.#statements.get(text) ?? keep(this.#statements, text, this.#prepare(text));
	}

	/** The same for one that returns many rows, or runs for each event that is sent. */
	reader(text: string): RowReader {
		return this.#readers.get(text) ?? keep(this.#readers, text, new RowReader(this.#prepare(text)));
	}

	#prepare(text: string): StatementSync {
		return this.db.prepare(withAnyLimit(text));
	}

	close(): void {
		this.#statements.clear();
		this.#readers.clear();
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
			PRAGMA synchronous = FULL;
			PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
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

/** For checkpoints only. */
export function openCheckpointer(path: string): DatabaseSync {
	return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
}

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
	readonly #webhooks = new BoundedMap<string, { no: number; projectNo: number }>(CACHED_NAMES);
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
		return this.#find(this.#projects, id, "SELECT no FROM projects WHERE id = ?", numberOf);
	}

	/** The number of a webhook of this project, deleted or not. */
	webhook(projectNo: number, id: string): number | null {
		const found = this.#find(this.#webhooks, id, "SELECT no, project_no FROM webhooks WHERE id = ?", webhookOf);
		return found?.projectNo === projectNo ? found.no : null;
	}

	webhookId(no: number): string {
		const id = this.#find(this.#webhookIds, no, "SELECT id AS name FROM webhooks WHERE no = ?", nameOf);
		if (id === null) throw new Error(`Webhook number ${no} is referred to, but doesn't exist.`);
		return id;
	}

	/** The code of an event type, or null if it was never used. */
	type(name: string): number | null {
		return this.#find(this.#types, name, "SELECT code AS no FROM event_types WHERE name = ?", numberOf);
	}

	/** The code of an event type, assigned now if it has none. For the writer. */
	internType(name: string): number {
		const code = this.type(name);
		if (code !== null) return code;
		const made = this.#c.sql("INSERT INTO event_types (name) VALUES (?)").run(name);
		return keep(this.#types, name, Number(made.lastInsertRowid));
	}

	typeName(code: number): string {
		const name = this.#find(this.#typeNames, code, "SELECT name FROM event_types WHERE code = ?", nameOf);
		if (name === null) throw new Error(`Event type ${code} is referred to, but doesn't exist.`);
		return name;
	}

	#find<K extends string | number, V>(known: Map<K, V>, key: K, text: string, of: (row: Row) => V): V | null {
		const value = known.get(key);
		if (value !== undefined) return value;
		const row = this.#c.sql(text).get(key);
		return row === undefined ? null : keep(known, key, of(row));
	}

	/** The codes of all event types ever used. */
	allTypes(): number[] {
		return this.#c
			.sql("SELECT code FROM event_types ORDER BY code")
			.all()
			.map((row) => Number(row.code));
	}
}

const numberOf = ({ no }: Row): number => Number(no);
const nameOf = ({ name }: Row): string => String(name);
const webhookOf = (row: Row) => ({ no: Number(row.no), projectNo: Number(row.project_no) });

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
		c.sql("BEGIN IMMEDIATE").run();
		const value = run();
		c.sql("COMMIT").run();
		return value;
	} catch (error) {
		// A full disk may have ended the transaction already.
		if (c.db.isTransaction) c.db.exec("ROLLBACK");
		c.names.forget();
		throw error;
	}
}
