/**
 * Internally, rows refer to each other by small integers (`no`); each of the port's ids is stored once, in the row that
 * it names.
 *
 * - `projects` has the alarm and the lease. At most one of `wake_at` and `lease_until` is set: a leased project needs
 *   no alarm, because its holder takes care of it, and an expired lease makes the project due.
 * - `events` and `attempts` have sequential rowids: rows of all projects are added at the end of the table. `type_seq`
 *   numbers a project's events of one type, so that pending events are counted by subtraction.
 * - `lanes` is separate from `webhooks` because its rows change with every commit: they are small, so few pages are
 *   written.
 * - `attempts_by_project` and `attempts_by_webhook` make each filter of the delivery log a union of index ranges.
 */
export const sql = `
CREATE TABLE settings (
	name TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE event_types (
	code INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
);

CREATE TABLE projects (
	no INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	developer INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	last_seq INTEGER NOT NULL DEFAULT 0,
	last_test_seq INTEGER NOT NULL DEFAULT 0,
	revision INTEGER NOT NULL DEFAULT 0,
	wake_at INTEGER,
	lease_holder TEXT,
	lease_generation INTEGER NOT NULL DEFAULT 0,
	lease_until INTEGER,
	CHECK (wake_at IS NULL OR lease_until IS NULL)
);
CREATE INDEX projects_by_alarm ON projects (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX projects_by_lease ON projects (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE api_keys (
	id TEXT PRIMARY KEY,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	name TEXT NOT NULL,
	prefix TEXT NOT NULL,
	hash BLOB NOT NULL UNIQUE,
	created_at INTEGER NOT NULL,
	last_used_at INTEGER
) WITHOUT ROWID;
CREATE INDEX api_keys_by_project ON api_keys (project_no, id);

CREATE TABLE webhooks (
	no INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	url TEXT NOT NULL,
	description TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
	max_in_flight INTEGER NOT NULL,
	sealed_digest BLOB NOT NULL,
	created_at INTEGER NOT NULL,
	deleted_at INTEGER
);
CREATE UNIQUE INDEX webhooks_by_project ON webhooks (project_no, id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE lanes (
	webhook_no INTEGER PRIMARY KEY,
	cursor INTEGER NOT NULL,
	ahead TEXT,
	skip_through INTEGER NOT NULL DEFAULT 0,
	retries_waiting INTEGER NOT NULL DEFAULT 0,
	dead_letters INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE subscriptions (
	webhook_no INTEGER NOT NULL,
	type INTEGER NOT NULL,
	from_seq INTEGER NOT NULL,
	PRIMARY KEY (webhook_no, type)
) WITHOUT ROWID;

CREATE TABLE events (
	no INTEGER PRIMARY KEY,
	project_no INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	id TEXT NOT NULL,
	type INTEGER NOT NULL,
	type_seq INTEGER,
	created_at INTEGER NOT NULL,
	published_at INTEGER NOT NULL,
	body BLOB NOT NULL
);
CREATE UNIQUE INDEX events_by_seq ON events (project_no, seq);
CREATE UNIQUE INDEX events_by_id ON events (id, project_no);
CREATE INDEX events_by_type ON events (project_no, type, seq, type_seq);

CREATE TABLE retries (
	project_no INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	webhook_no INTEGER NOT NULL,
	queue INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	replay INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	PRIMARY KEY (project_no, seq, webhook_no)
) WITHOUT ROWID;
CREATE INDEX retries_by_due ON retries (webhook_no, queue, due_at, seq);

CREATE TABLE attempts (
	no INTEGER PRIMARY KEY,
	id TEXT NOT NULL,
	project_no INTEGER NOT NULL,
	webhook_no INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	replay INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	type INTEGER NOT NULL,
	status INTEGER NOT NULL,
	status_code INTEGER,
	error_code TEXT,
	error TEXT,
	started_at INTEGER NOT NULL,
	response_ms INTEGER NOT NULL,
	response_truncated INTEGER NOT NULL,
	next_retry_at INTEGER,
	url TEXT NOT NULL,
	sent_brand TEXT,
	sent_timestamp INTEGER,
	sent_signature BLOB,
	response_body BLOB NOT NULL
);
CREATE UNIQUE INDEX attempts_by_delivery ON attempts (project_no, seq, webhook_no, replay, attempt);
CREATE INDEX attempts_by_project ON attempts (project_no, status, type, id);
CREATE INDEX attempts_by_webhook ON attempts (webhook_no, status, type, id);
`;
