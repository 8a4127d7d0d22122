-- In the order of application; a database's version is how many of them it has. Never edit one.

-- Migration 1
-- Internally, rows refer to each other by small integers (`no`); each of the port's ids is stored once, in the row that
-- it names.
--
-- - `projects` has the alarm and the lease. At most one of `wake_at` and `lease_until` is set: a leased project needs
--   no alarm, because its holder takes care of it, and an expired lease makes the project due.
-- - `events` and `attempts` have sequential rowids: rows of all projects are added at the end of the table. `type_seq`
--   numbers a project's events of one type, so that pending events are counted by subtraction.
-- - `lanes` is separate from `webhooks` because its rows change with every commit: they are small, so few pages are
--   written.
-- - `attempts_by_project` and `attempts_by_webhook` make each filter of the delivery log a union of index ranges.

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

-- Migration 2
-- Accounts, how users sign in, and what they did. Tokens are stored only as their SHA-256. A project's owner is a
-- member like the others; the operator needs no membership.
--
-- - `links` holds one-time tokens: the setup link, of which there is at most one, and sign-in links.
-- - `audit` has no references: it stores the names at the time of writing, and outlives what they name.

CREATE TABLE accounts (
	id TEXT PRIMARY KEY,
	email TEXT NOT NULL,
	normal_email TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	operator INTEGER NOT NULL,
	password_hash TEXT NOT NULL,
	created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX accounts_of_operator ON accounts (operator) WHERE operator = 1;

CREATE TABLE sessions (
	id TEXT PRIMARY KEY,
	token_hash BLOB NOT NULL UNIQUE,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	created_at INTEGER NOT NULL,
	last_seen_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	by_link INTEGER NOT NULL,
	user_agent TEXT NOT NULL,
	address TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_account ON sessions (account_id, id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE links (
	token_hash BLOB PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('setup', 'sign_in')),
	account_id TEXT REFERENCES accounts (id),
	expires_at INTEGER NOT NULL,
	CHECK ((kind = 'setup') = (account_id IS NULL))
) WITHOUT ROWID;
CREATE UNIQUE INDEX links_for_setup ON links (kind) WHERE kind = 'setup';
CREATE INDEX links_by_expiry ON links (expires_at);

CREATE TABLE memberships (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	account_id TEXT NOT NULL REFERENCES accounts (id),
	role TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	added_at INTEGER NOT NULL,
	PRIMARY KEY (project_no, account_id)
) WITHOUT ROWID;
CREATE INDEX memberships_by_account ON memberships (account_id, project_no);
CREATE INDEX memberships_of_owners ON memberships (project_no, account_id) WHERE role = 'owner';

CREATE TABLE invitations (
	id TEXT PRIMARY KEY,
	token_hash BLOB NOT NULL UNIQUE,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	role TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	email TEXT,
	inviter_kind TEXT NOT NULL,
	inviter_id TEXT,
	inviter_name TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX invitations_by_project ON invitations (project_no, id);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);

CREATE TABLE audit (
	no INTEGER PRIMARY KEY,
	id TEXT NOT NULL,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	at INTEGER NOT NULL,
	actor_kind TEXT NOT NULL,
	actor_id TEXT,
	actor_name TEXT NOT NULL,
	action TEXT NOT NULL,
	target_kind TEXT,
	target_id TEXT,
	target_name TEXT,
	detail TEXT NOT NULL
);
CREATE UNIQUE INDEX audit_by_project ON audit (project_no, id);

-- Migration 3
-- Counts of attempts by minute and by hour, so that statistics cost the same for a log of any length.
--
-- - `scope` is a webhook's number, or a project's number negated: all of its webhooks together, including deleted ones.
-- - `at` is the minute or hour since the Unix epoch, as `grain` says (60,000 or 3,600,000 ms).
-- - `class` is a response-time bucket: 0 begins at 1 ms, and each bucket ends where the next begins, at 2^¼ times its
--   start; −1 is for attempts closed without a request.
-- - `stats_progress` records up to which row of `attempts` they are counted.

CREATE TABLE attempt_stats (
	scope INTEGER NOT NULL,
	grain INTEGER NOT NULL,
	at INTEGER NOT NULL,
	status INTEGER NOT NULL,
	class INTEGER NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (scope, grain, at, status, class)
) WITHOUT ROWID;
CREATE INDEX attempt_stats_by_age ON attempt_stats (grain, at);

CREATE TABLE stats_progress (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	counted_through INTEGER NOT NULL
);
INSERT INTO stats_progress (id, counted_through) SELECT 1, coalesce(max(no), 0) FROM attempts;

WITH minutes AS MATERIALIZED (
	SELECT project_no, webhook_no, started_at / 60000 AS minute, status,
		CASE WHEN sent_timestamp IS NULL THEN -1 ELSE CAST(4 * log2(max(response_ms, 1)) AS INTEGER) END AS class,
		count(*) AS n
	FROM attempts GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO attempt_stats (scope, grain, at, status, class, n)
SELECT scope, grain, at, status, class, sum(n) FROM (
	SELECT webhook_no AS scope, 60000 AS grain, minute AS at, status, class, n FROM minutes
	UNION ALL SELECT -project_no, 60000, minute, status, class, n FROM minutes
	UNION ALL SELECT webhook_no, 3600000, minute / 60, status, class, n FROM minutes
	UNION ALL SELECT -project_no, 3600000, minute / 60, status, class, n FROM minutes
)
WHERE grain = 3600000
	OR at > (SELECT started_at FROM attempts ORDER BY no DESC LIMIT 1) / 60000 - 2940
GROUP BY 1, 2, 3, 4, 5;

-- Migration 4
-- What the store platform reported, kept as long as the project exists, because a repeated fact must be recognized.
-- Little is stored of each: the digest of its content, what its rule needs, and the events that it created (`events`,
-- JSON). Customers and orders contain no e-mail address; baskets and subscriptions contain the data of their events.
--
-- - Ids are the platform's, in any form; every key begins with the project.
-- - `store_customers.key` is the SHA-256 of the normalized e-mail address.
-- - `store_baskets` holds waiting baskets: one that was abandoned, removed or bought has no row. `touched_at` rises
--   with every touch. A bought basket is recognized by its order.

CREATE TABLE store_customers (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	key BLOB NOT NULL,
	PRIMARY KEY (project_no, key)
) WITHOUT ROWID;

CREATE TABLE store_orders (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	order_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	amount_cents INTEGER NOT NULL,
	refunded_cents INTEGER NOT NULL DEFAULT 0,
	currency TEXT NOT NULL,
	basket_id TEXT,
	PRIMARY KEY (project_no, order_id),
	CHECK (refunded_cents <= amount_cents)
) WITHOUT ROWID;
CREATE INDEX store_orders_by_basket ON store_orders (project_no, basket_id) WHERE basket_id IS NOT NULL;

CREATE TABLE store_refunds (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	refund_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	PRIMARY KEY (project_no, refund_id)
) WITHOUT ROWID;

CREATE TABLE store_chargebacks (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	chargeback_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	PRIMARY KEY (project_no, chargeback_id)
) WITHOUT ROWID;

CREATE TABLE store_deliverables (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	order_id TEXT NOT NULL,
	deliverable_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	PRIMARY KEY (project_no, order_id, deliverable_id)
) WITHOUT ROWID;

CREATE TABLE store_subscriptions (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	subscription_id TEXT NOT NULL,
	digest BLOB NOT NULL,
	at INTEGER NOT NULL,
	events TEXT NOT NULL,
	data TEXT NOT NULL,
	canceled_at INTEGER,
	cancel_events TEXT,
	PRIMARY KEY (project_no, subscription_id),
	CHECK ((canceled_at IS NULL) = (cancel_events IS NULL))
) WITHOUT ROWID;

CREATE TABLE store_baskets (
	no INTEGER PRIMARY KEY,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	basket_id TEXT NOT NULL,
	touched_at INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	data TEXT NOT NULL
);
CREATE UNIQUE INDEX store_baskets_by_id ON store_baskets (project_no, basket_id);
CREATE INDEX store_baskets_by_due ON store_baskets (due_at);

-- Migration 5
-- Nodes that start together each print a valid setup link, so there may now be several.

DROP INDEX links_for_setup;

-- Migration 6
-- A lane now stores its position and its open events. It used to store a cursor and the events settled beyond it, which
-- grew with every event delivered while one was in flight. The open events are those between the two that are
-- subscribed to and not settled.

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

-- Migration 7
-- Marks deleted webhooks whose pending deliveries are still to be closed: `closing`. The index finds a project's
-- directly.

ALTER TABLE webhooks ADD COLUMN closing INTEGER NOT NULL DEFAULT 0;
UPDATE webhooks SET closing = 1
WHERE deleted_at IS NOT NULL AND EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no);
CREATE INDEX webhooks_closing ON webhooks (project_no, id) WHERE closing = 1;

-- Migration 8
-- Attempts that were in flight when their project's lease was released, until they are settled or their time has passed.

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

-- Migration 9
-- Finds audit entries by age, to delete them.

CREATE INDEX audit_by_age ON audit (at);

-- Migration 10
-- What API keys may do, until when, and who created them. Earlier keys may do everything, as before. Sign-in links are
-- found by account, to be deleted with its old password.

ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'publish read manage';
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN creator_kind TEXT;
ALTER TABLE api_keys ADD COLUMN creator_id TEXT;
ALTER TABLE api_keys ADD COLUMN creator_name TEXT;
CREATE INDEX links_by_account ON links (account_id);

-- Migration 11
-- For webhooks that ask for the headers of Standard Webhooks. Secrets of older versions have no second digest.

ALTER TABLE webhooks ADD COLUMN sealed_standard_digest BLOB;
ALTER TABLE webhooks ADD COLUMN standard_webhooks INTEGER NOT NULL DEFAULT 0;

-- Migration 12
-- When a dead letter was dismissed: on the last attempt of its series, which nothing else changes.

ALTER TABLE attempts ADD COLUMN dismissed_at INTEGER;

-- Migration 13
-- What helps to explain a failed attempt, as JSON; null for most.

ALTER TABLE attempts ADD COLUMN details TEXT;

-- Migration 14
-- The index of references: see verbs/search.ts. Entries in the primary key's order, without a separate table. `ref` is
-- the reference's number.

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

-- Migration 15
-- Finds audit entries by what an action was done to, and by who did it.

CREATE INDEX audit_by_target ON audit (project_no, target_id, id);
CREATE INDEX audit_by_actor ON audit (project_no, actor_id, id);
