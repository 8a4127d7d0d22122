import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { StorageError } from "../../port.ts";
import { storageError } from "../connection/errors.ts";
import { accounts, facts, initial, stats } from "./initial.ts";

/** Nodes that start together each print a valid setup link, so there may now be several. */
const severalSetupLinks = `
DROP INDEX links_for_setup;
`;

/**
 * A lane now stores its position and its open events. It used to store a cursor and the events settled beyond it, which
 * grew with every event delivered while one was in flight. The open events are those between the two that are
 * subscribed to and not settled.
 */
const openEvents = `
ALTER TABLE lanes RENAME COLUMN cursor TO position;
ALTER TABLE lanes ADD COLUMN open TEXT;
UPDATE lanes SET
	position = (SELECT max(lanes.position, max(value)) FROM json_each(lanes.ahead)),
	open = (
		SELECT nullif(json_group_array(seq), '[]')
		FROM (
			SELECT e.seq
			FROM webhooks w
				JOIN subscriptions s ON s.webhook_no = w.no
				JOIN events e ON e.project_no = w.project_no AND e.type = s.type AND e.seq > s.from_seq
			WHERE w.no = lanes.webhook_no
				AND e.seq > lanes.position AND e.seq < (SELECT max(value) FROM json_each(lanes.ahead))
				AND e.seq NOT IN (SELECT value FROM json_each(lanes.ahead))
			ORDER BY e.seq
		)
	)
WHERE ahead IS NOT NULL;
ALTER TABLE lanes DROP COLUMN ahead;
`;

/**
 * Marks deleted webhooks whose pending deliveries are still to be closed: `closing`. The index finds a project's
 * directly.
 */
const closingWebhooks = `
ALTER TABLE webhooks ADD COLUMN closing INTEGER NOT NULL DEFAULT 0;
UPDATE webhooks SET closing = 1
WHERE deleted_at IS NOT NULL AND EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no);
CREATE INDEX webhooks_closing ON webhooks (project_no, id) WHERE closing = 1;
`;

/** Attempts that were in flight when their project's lease was released, until they are settled or their time has passed. */
const handedOver = `
CREATE TABLE handed_over (
	project_no INTEGER NOT NULL,
	webhook_no INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	replay INTEGER NOT NULL,
	queue INTEGER,
	generation INTEGER NOT NULL,
	until INTEGER NOT NULL,
	PRIMARY KEY (project_no, webhook_no, seq)
) WITHOUT ROWID;
`;

/** Finds audit entries by age, to delete them. */
const auditByAge = "CREATE INDEX audit_by_age ON audit (at);";

/**
 * What API keys may do, until when, and who created them. Earlier keys may do everything, as before. Sign-in links are
 * found by account, to be deleted with its old password.
 */
const keysAndLinks = `
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'publish read manage';
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN creator_kind TEXT;
ALTER TABLE api_keys ADD COLUMN creator_id TEXT;
ALTER TABLE api_keys ADD COLUMN creator_name TEXT;
CREATE INDEX links_by_account ON links (account_id);
`;

/** For webhooks that ask for the headers of Standard Webhooks. Secrets of older versions have no second digest. */
const standardWebhooks = `
ALTER TABLE webhooks ADD COLUMN sealed_standard_digest BLOB;
ALTER TABLE webhooks ADD COLUMN standard_webhooks INTEGER NOT NULL DEFAULT 0;
`;

/** When a dead letter was dismissed: on the last attempt of its series, which nothing else changes. */
const dismissals = "ALTER TABLE attempts ADD COLUMN dismissed_at INTEGER;";

/** What helps to explain a failed attempt, as JSON; null for most. */
const details = "ALTER TABLE attempts ADD COLUMN details TEXT;";

/**
 * The index of references: see verbs/search.ts. Entries in the primary key's order, without a separate table. `ref` is
 * the reference's number.
 */
const references = `
CREATE TABLE event_references (
	project_no INTEGER NOT NULL,
	bucket INTEGER NOT NULL,
	ref INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	PRIMARY KEY (project_no, bucket, ref, seq)
) WITHOUT ROWID;

CREATE TABLE reference_ranges (
	project_no INTEGER PRIMARY KEY,
	after_seq INTEGER NOT NULL,
	through_seq INTEGER NOT NULL,
	kept_from INTEGER NOT NULL
);
`;

/** In the order of application; a database's version is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [
	initial,
	accounts,
	stats,
	facts,
	severalSetupLinks,
	openEvents,
	closingWebhooks,
	handedOver,
	auditByAge,
	keysAndLinks,
	standardWebhooks,
	dismissals,
	details,
	references,
];

/** Marks the file as ours (`PRAGMA application_id`): "phrn". */
export const APPLICATION_ID = 0x7068726e;

/** Migrates the schema, each step in its own transaction. */
export function migrate(db: DatabaseSync, path: string): void {
	const version = checkOurs(db, path);
	for (let next = version; next < MIGRATIONS.length; next++) {
		db.exec("BEGIN IMMEDIATE");
		try {
			db.exec(MIGRATIONS[next]!);
			db.exec(`PRAGMA user_version = ${next + 1}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`);
		} catch (error) {
			if (db.isTransaction) db.exec("ROLLBACK");
			throw error;
		}
	}
}

/** How many migrations the database has. Throws a StorageError if it belongs to another program or a newer version. */
function checkOurs(db: DatabaseSync, path: string): number {
	const version = pragma(db, "user_version");
	const application = pragma(db, "application_id");
	const empty = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
	if (!empty && application !== APPLICATION_ID)
		throw new StorageError("unusable", `${path} is another program's database: Posthorn needs a separate file.`);
	if (version > MIGRATIONS.length)
		throw new StorageError(
			"unusable",
			`${path} was written by a newer version of Posthorn (schema ${version}; this one knows ${MIGRATIONS.length}): ` +
				"start that version, or restore a backup made before the upgrade.",
		);
	return version;
}

function pragma(db: DatabaseSync, name: "user_version" | "application_id"): number {
	return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/** Other connections hold locks only briefly. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Reads a setting of an existing database without changing anything; null if it isn't set. Throws a StorageError
 * `unusable`, as opening would, if the file is damaged, another program's, or written by a newer version.
 */
export function readSqliteSetting(path: string, name: string): string | null {
	try {
		const db = new DatabaseSync(immutableUrl(path), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
		try {
			checkOurs(db, path);
			const made = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== undefined;
			const row = made ? db.prepare("SELECT value FROM settings WHERE name = ?").get(name) : undefined;
			return row === undefined ? null : String(row.value);
		} finally {
			db.close();
		}
	} catch (error) {
		throw storageError(error, path);
	}
}

/**
 * A database that isn't in use is read as immutable. Opening it normally would leave files next to it that belong to
 * the reader's user (https://www.sqlite.org/wal.html#readonly).
 */
function immutableUrl(path: string): URL {
	const url = pathToFileURL(resolve(path));
	const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
	if (!existsSync(`${path}-shm`) && (log?.size ?? 0) === 0) url.searchParams.set("immutable", "1");
	return url;
}
