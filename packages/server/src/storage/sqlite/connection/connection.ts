import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Names } from "./names.ts";
import { Statements } from "./statements.ts";

/** Chosen by measurement: few pages a commit without writing much that did not change. Fixed when a file is made. */
const PAGE_BYTES = 8192;
/** Other connections (backup, a shell) hold a lock for moments only. */
const BUSY_TIMEOUT_MS = 5000;
/** The writer moves what is left of the log into the database when it has this many pages (64 MB), and starts it over. */
const CHECKPOINT_PAGES = 8000;
/** What a burst made of the log file, in bytes, is given back to the disk beyond this. */
const KEPT_LOG_BYTES = 67_108_864;
/** Page caches, in KiB; what is read again is in the operating system's cache anyway. */
const WRITER_CACHE_KIB = 8_192;
const READER_CACHE_KIB = 4_096;

/** A connection with its prepared statements and the names that it has looked up. */
export class Connection {
	readonly db: DatabaseSync;
	readonly names: Names;
	readonly #statements: Statements;

	constructor(db: DatabaseSync) {
		this.db = db;
		this.#statements = new Statements(db);
		this.names = new Names(this.#statements);
	}

	/** The prepared statement for this text. */
	sql(text: string): StatementSync {
		return this.#statements.get(text);
	}

	close(): void {
		this.#statements.clear();
		this.db.close();
	}
}

/** Every commit is on disk before it is answered: `synchronous = FULL`. */
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
