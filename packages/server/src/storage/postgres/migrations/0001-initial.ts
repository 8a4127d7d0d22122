/**
 * Everything is in the schema `posthorn` and qualified with it. Internally, rows refer to each other by numbers (`no`);
 * each of the port's ids is stored once, in the row that it names. Every key begins with the project's number, so
 * tables can be distributed by it. Times are milliseconds since the Unix epoch; ids are compared by bytes.
 *
 * - A project's changing parts are separate rows, so that publishing and settling don't block each other: appends lock
 *   `logs`; everything that moves deliveries (settling, users' changes, the sweep) locks `leases`. A transaction that
 *   needs both locks `logs` first. No index contains a column that they change with every commit, and pages keep room,
 *   so their updates stay on the page.
 * - At most one of `wake_at` and `until` is set: a leased project needs no alarm, because its holder takes care of it,
 *   and an expired lease makes the project due. Both are on this database's clock. `acknowledged` is the project's
 *   revision that the holder applies.
 * - `in_force` is the revision that the lease holder reports to apply; −1 until it has reported one.
 * - `nodes` has a row for each live node, which the node renews, so that nodes know their share of the work.
 * - `events.type_seq` numbers a project's events of one type, so that pending events are counted by subtraction;
 *   `events.no` is the order in which the sweep visits them.
 * - `attempts` has a partition per day, by id: an id contains its time, so days are ranges of ids, a page ordered by id
 *   only reads the newest days, and old entries are deleted by dropping their day. Its primary key finds a delivery's
 *   attempts, and rejects duplicates. `attempts_by_kind` and `attempts_by_webhook` make each filter of the log a union
 *   of index ranges.
 * - `now_ms()` is this database's time; `id_at(ms)` is the lowest id, without its prefix, that can have that time.
 */
export const sql = `
CREATE FUNCTION posthorn.now_ms() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
	RETURN floor(extract(epoch FROM now()) * 1000)::bigint;

CREATE FUNCTION posthorn.id_at(ms bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN (
		SELECT string_agg(
			substr('0123456789abcdefghjkmnpqrstvwxyz', (greatest(ms, 0) >> (5 * place) & 31)::integer + 1, 1), ''
			ORDER BY place DESC)
		FROM generate_series(0, 9) AS place
	);

CREATE TABLE posthorn.settings (
	name text PRIMARY KEY,
	value text NOT NULL
);

CREATE TABLE posthorn.event_types (
	code integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE posthorn.projects (
	no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id text COLLATE "C" NOT NULL UNIQUE,
	name text NOT NULL,
	developer boolean NOT NULL,
	created_at bigint NOT NULL
);

CREATE TABLE posthorn.logs (
	project_no bigint PRIMARY KEY REFERENCES posthorn.projects (no),
	last_seq bigint NOT NULL DEFAULT 0,
	last_test_seq bigint NOT NULL DEFAULT 0,
	revision bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 40);

CREATE TABLE posthorn.leases (
	project_no bigint PRIMARY KEY REFERENCES posthorn.projects (no),
	generation bigint NOT NULL DEFAULT 0,
	wake_at bigint,
	until bigint,
	acknowledged bigint,
	holder text,
	CHECK (wake_at IS NULL OR until IS NULL)
) WITH (fillfactor = 50);
CREATE INDEX leases_by_alarm ON posthorn.leases (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX leases_by_end ON posthorn.leases (until) WHERE until IS NOT NULL;

CREATE TABLE posthorn.nodes (
	holder text PRIMARY KEY,
	seen_at bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE posthorn.api_keys (
	id text COLLATE "C" PRIMARY KEY,
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	name text NOT NULL,
	prefix text NOT NULL,
	hash bytea NOT NULL UNIQUE,
	created_at bigint NOT NULL,
	last_used_at bigint
) WITH (fillfactor = 80);
CREATE INDEX api_keys_by_project ON posthorn.api_keys (project_no, id);

CREATE TABLE posthorn.webhooks (
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	no bigint GENERATED ALWAYS AS IDENTITY,
	id text COLLATE "C" NOT NULL,
	url text NOT NULL,
	description text NOT NULL,
	status text NOT NULL CHECK (status IN ('active', 'paused')),
	max_in_flight integer NOT NULL,
	sealed_digest bytea NOT NULL,
	created_at bigint NOT NULL,
	deleted_at bigint,
	PRIMARY KEY (project_no, no),
	UNIQUE (project_no, id)
);
CREATE INDEX webhooks_live ON posthorn.webhooks (project_no, id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON posthorn.webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE posthorn.lanes (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	cursor bigint NOT NULL,
	skip_through bigint NOT NULL DEFAULT 0,
	retries_waiting bigint NOT NULL DEFAULT 0,
	dead_letters bigint NOT NULL DEFAULT 0,
	ahead bigint[] NOT NULL DEFAULT '{}',
	PRIMARY KEY (project_no, webhook_no)
) WITH (fillfactor = 40);

CREATE TABLE posthorn.subscriptions (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	type integer NOT NULL,
	from_seq bigint NOT NULL,
	PRIMARY KEY (project_no, webhook_no, type)
);

CREATE TABLE posthorn.events (
	project_no bigint NOT NULL,
	seq bigint NOT NULL,
	no bigint GENERATED ALWAYS AS IDENTITY,
	type_seq bigint,
	created_at bigint NOT NULL,
	published_at bigint NOT NULL,
	type integer NOT NULL,
	id text COLLATE "C" NOT NULL,
	body bytea NOT NULL,
	PRIMARY KEY (project_no, seq)
);
CREATE UNIQUE INDEX events_by_id ON posthorn.events (project_no, id);
CREATE INDEX events_by_type ON posthorn.events (project_no, type, seq) INCLUDE (type_seq);
CREATE INDEX events_by_age ON posthorn.events (no);

CREATE TABLE posthorn.retries (
	project_no bigint NOT NULL,
	seq bigint NOT NULL,
	webhook_no bigint NOT NULL,
	due_at bigint NOT NULL,
	replay integer NOT NULL,
	attempt integer NOT NULL,
	queue smallint NOT NULL,
	PRIMARY KEY (project_no, seq, webhook_no)
) WITH (fillfactor = 80);
CREATE INDEX retries_by_due ON posthorn.retries (project_no, webhook_no, queue, due_at, seq);

CREATE TABLE posthorn.attempts (
	project_no bigint NOT NULL,
	seq bigint NOT NULL,
	webhook_no bigint NOT NULL,
	started_at bigint NOT NULL,
	next_retry_at bigint,
	sent_timestamp bigint,
	replay integer NOT NULL,
	attempt integer NOT NULL,
	type integer NOT NULL,
	status_code integer,
	response_ms integer NOT NULL,
	status smallint NOT NULL,
	response_truncated boolean NOT NULL,
	id text COLLATE "C" NOT NULL,
	url text NOT NULL,
	error_code text,
	error text,
	sent_brand text,
	sent_signature bytea,
	response_body bytea NOT NULL,
	PRIMARY KEY (project_no, seq, webhook_no, replay, attempt, id)
) PARTITION BY RANGE (id);
CREATE INDEX attempts_by_kind ON posthorn.attempts (project_no, status, type, id);
CREATE INDEX attempts_by_webhook ON posthorn.attempts (project_no, webhook_no, status, type, id);
CREATE INDEX attempts_failed ON posthorn.attempts (project_no, webhook_no, id) WHERE status = 3;
`;
