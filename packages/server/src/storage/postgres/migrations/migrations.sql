-- In the order of application; a database's version is how many of them it has. Never edit one.

-- Migration 1
-- Everything is in the schema `posthorn` and qualified with it. Internally, rows refer to each other by numbers (`no`);
-- each of the port's ids is stored once, in the row that it names. Every key begins with the project's number, so
-- tables can be distributed by it. Times are milliseconds since the Unix epoch; ids are compared by bytes.
--
-- - A project's changing parts are separate rows, so that publishing and settling don't block each other: appends lock
--   `logs`; everything that moves deliveries (settling, users' changes, the sweep) locks `leases`. A transaction that
--   needs both locks `logs` first. No index contains a column that they change with every commit, and pages keep room,
--   so their updates stay on the page.
-- - At most one of `wake_at` and `until` is set: a leased project needs no alarm, because its holder takes care of it,
--   and an expired lease makes the project due. Both are on this database's clock. `acknowledged` is the project's
--   revision that the holder applies.
-- - `in_force` is the revision that the lease holder reports to apply; −1 until it has reported one.
-- - `nodes` has a row for each live node, which the node renews, so that nodes know their share of the work.
-- - `events.type_seq` numbers a project's events of one type, so that pending events are counted by subtraction;
--   `events.no` is the order in which the sweep visits them.
-- - `attempts` has a partition per day, by id: an id contains its time, so days are ranges of ids, a page ordered by id
--   only reads the newest days, and old entries are deleted by dropping their day. Its primary key finds a delivery's
--   attempts, and rejects duplicates. `attempts_by_kind` and `attempts_by_webhook` make each filter of the log a union
--   of index ranges.
-- - `now_ms()` is this database's time; `id_at(ms)` is the lowest id, without its prefix, that can have that time.

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

-- Migration 2
-- Accounts, how users sign in, and what they did. Tokens are stored only as their SHA-256. A project's owner is a
-- member like the others; the operator needs no membership.
--
-- - `links` holds one-time tokens: the setup link, of which there is at most one, and sign-in links.
-- - `audit` has no references: it stores the names at the time of writing, and outlives what they name.

CREATE TABLE posthorn.accounts (
	id text COLLATE "C" PRIMARY KEY,
	email text NOT NULL,
	normal_email text NOT NULL UNIQUE,
	name text NOT NULL,
	operator boolean NOT NULL,
	password_hash text NOT NULL,
	created_at bigint NOT NULL
);
CREATE INDEX accounts_of_operator ON posthorn.accounts (operator) WHERE operator;

CREATE TABLE posthorn.sessions (
	id text COLLATE "C" PRIMARY KEY,
	token_hash bytea NOT NULL UNIQUE,
	account_id text COLLATE "C" NOT NULL REFERENCES posthorn.accounts (id),
	created_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	by_link boolean NOT NULL,
	user_agent text NOT NULL,
	address text NOT NULL
);
CREATE INDEX sessions_by_account ON posthorn.sessions (account_id, id);
CREATE INDEX sessions_by_expiry ON posthorn.sessions (expires_at);

CREATE TABLE posthorn.links (
	token_hash bytea PRIMARY KEY,
	kind text NOT NULL CHECK (kind IN ('setup', 'sign_in')),
	account_id text COLLATE "C" REFERENCES posthorn.accounts (id),
	expires_at bigint NOT NULL,
	CHECK ((kind = 'setup') = (account_id IS NULL))
);
CREATE UNIQUE INDEX links_for_setup ON posthorn.links (kind) WHERE kind = 'setup';
CREATE INDEX links_by_expiry ON posthorn.links (expires_at);

CREATE TABLE posthorn.memberships (
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	account_id text COLLATE "C" NOT NULL REFERENCES posthorn.accounts (id),
	role text NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	added_at bigint NOT NULL,
	PRIMARY KEY (project_no, account_id)
);
CREATE INDEX memberships_by_account ON posthorn.memberships (account_id, project_no);

CREATE TABLE posthorn.invitations (
	id text COLLATE "C" PRIMARY KEY,
	token_hash bytea NOT NULL UNIQUE,
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	role text NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	email text,
	inviter_kind text NOT NULL,
	inviter_id text,
	inviter_name text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX invitations_by_project ON posthorn.invitations (project_no, id);
CREATE INDEX invitations_by_expiry ON posthorn.invitations (expires_at);

CREATE TABLE posthorn.audit (
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	id text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	actor_kind text NOT NULL,
	actor_id text,
	actor_name text NOT NULL,
	action text NOT NULL,
	target_kind text,
	target_id text,
	target_name text,
	detail json NOT NULL,
	PRIMARY KEY (project_no, id)
);

-- Migration 3
-- Counts of attempts by minute and by hour, so that statistics cost the same for a log of any length.
--
-- - A settle leaves what it logged in `attempt_counts`, counted by minute: rows there are only ever added. Occasionally
--   one statement moves them into `attempt_stats`, so each attempt is counted in exactly one of the two, and readers
--   add both up.
-- - In `attempt_stats`, `webhook_no` 0 means all of the project's webhooks together, including deleted ones.
-- - `at` is the minute or hour since the Unix epoch, as `grain` says (60,000 or 3,600,000 ms).
-- - `class` is a response-time bucket: 0 begins at 1 ms, and each bucket ends where the next begins, at 2^¼ times its
--   start; −1 is for attempts closed without a request.

CREATE TABLE posthorn.attempt_counts (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	minute bigint NOT NULL,
	n bigint NOT NULL,
	status smallint NOT NULL,
	class smallint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE posthorn.attempt_stats (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	at bigint NOT NULL,
	n bigint NOT NULL,
	grain integer NOT NULL,
	status smallint NOT NULL,
	class smallint NOT NULL,
	PRIMARY KEY (project_no, webhook_no, grain, at, status, class)
) WITH (fillfactor = 70);
CREATE INDEX attempt_stats_by_age ON posthorn.attempt_stats (grain, at);

-- Migration 4
-- What the store platform reported, kept as long as the project exists, because a repeated fact must be recognized.
-- Little is stored of each: the digest of its content, what its rule needs, and the events that it created. Customers
-- and orders contain no e-mail address; baskets and subscriptions contain the data of their events.
--
-- - Recording a fact locks the project's row in `logs`, so of two concurrent ones the second sees what the first wrote.
--   Removing a basket doesn't need that.
-- - Ids are the platform's, in any form; they are compared by bytes.
-- - `store_customers.key` is the SHA-256 of the normalized e-mail address.
-- - `store_baskets` holds waiting baskets: one that was abandoned, removed or bought has no row. `touched_at` rises
--   with every touch. A bought basket is recognized by its order. Rows come and go, so it is vacuumed early.

CREATE TABLE posthorn.store_customers (
	project_no bigint NOT NULL,
	key bytea NOT NULL,
	PRIMARY KEY (project_no, key)
);

CREATE TABLE posthorn.store_orders (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	amount_cents bigint NOT NULL,
	refunded_cents bigint NOT NULL DEFAULT 0,
	order_id text COLLATE "C" NOT NULL,
	basket_id text COLLATE "C",
	currency text NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, order_id),
	CHECK (refunded_cents <= amount_cents)
) WITH (fillfactor = 90);
CREATE INDEX store_orders_by_basket ON posthorn.store_orders (project_no, basket_id) WHERE basket_id IS NOT NULL;

CREATE TABLE posthorn.store_refunds (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	refund_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, refund_id)
);

CREATE TABLE posthorn.store_chargebacks (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	chargeback_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, chargeback_id)
);

CREATE TABLE posthorn.store_deliverables (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	order_id text COLLATE "C" NOT NULL,
	deliverable_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	PRIMARY KEY (project_no, order_id, deliverable_id)
);

CREATE TABLE posthorn.store_subscriptions (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	canceled_at bigint,
	subscription_id text COLLATE "C" NOT NULL,
	data text NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	cancel_events json,
	PRIMARY KEY (project_no, subscription_id),
	CHECK ((canceled_at IS NULL) = (cancel_events IS NULL))
) WITH (fillfactor = 90);

CREATE TABLE posthorn.store_baskets (
	project_no bigint NOT NULL,
	touched_at bigint NOT NULL,
	due_at bigint NOT NULL,
	basket_id text COLLATE "C" NOT NULL,
	data text NOT NULL,
	PRIMARY KEY (project_no, basket_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX store_baskets_by_due ON posthorn.store_baskets (due_at);

-- Migration 5
-- Publishing from SQL, in the transaction of a store that keeps its data in this database. publish.ts generates the
-- functions that repeat what the catalogue says, which come first.
--
-- - `publish` checks an event as the API does and leaves it in `publishing`. At the transaction's end a deferred
--   trigger numbers everything that the transaction left there, as the nodes do, and removes it. So a store's
--   transaction locks the rows that nodes wait for only while it commits, and locks them last, in the order of the
--   projects' numbers.
-- - `publishing` never contains committed data, so it is unlogged, and each transaction only sees its own rows.
--   `created_at` is null if the event's time is that of its commit.
-- - `append_published` does what `appendRows` (log/append.ts) does for nodes, and sends them a hint at commit, of at
--   most 200 ids: a notification takes 8,000 bytes.
-- - Functions that write run as the schema's owner, with their own search path and settings: the caller's session
--   settings change nothing. The planner settings are those of the nodes.

CREATE UNLOGGED TABLE posthorn.publishing (
	xact xid8 NOT NULL,
	project_no bigint NOT NULL,
	no bigint GENERATED ALWAYS AS IDENTITY,
	created_at bigint,
	type integer NOT NULL,
	id_given boolean NOT NULL,
	project_id text COLLATE "C" NOT NULL,
	id text COLLATE "C" NOT NULL,
	type_name text NOT NULL,
	data text NOT NULL,
	PRIMARY KEY (xact, project_no, id)
) WITH (
	autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
	toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 2000
);

CREATE FUNCTION posthorn.iso_time(ms bigint) RETURNS text LANGUAGE sql STABLE STRICT AS $$
	-- PostgreSQL knows no year 0.
	SELECT CASE WHEN ms < -62135596800000 THEN '0000' ELSE to_char(at, 'YYYY') END
		|| to_char(at, '-MM-DD"T"HH24:MI:SS.MS"Z"')
	FROM (
		SELECT date '1970-01-01' + floor(ms::numeric / 86400000)::integer
			+ interval '1 millisecond' * mod(mod(ms, 86400000) + 86400000, 86400000)
	) AS t (at)
$$;

CREATE FUNCTION posthorn.envelope(id text, type text, created_at bigint, project_id text, data text) RETURNS bytea
LANGUAGE sql STABLE STRICT AS $$
	SELECT convert_to(
		'{"id":' || to_json(id) || ',"type":' || to_json(type) || ',"created_at":"' || posthorn.iso_time(created_at)
			|| '","project_id":' || to_json(project_id) || ',"data":' || data || '}',
		'UTF8')
$$;

CREATE FUNCTION posthorn.new_event_id() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	us CONSTANT bigint := floor(extract(epoch FROM clock_timestamp()) * 1000000);
	-- A UUIDv7 behind two zero bits. The 12 bits after its version are the fraction of the millisecond (RFC 9562, 6.2,
	-- method 3), the last 64 those of a random UUID: its variant, and 62 random ones.
	bits CONSTANT varbit := (us / 1000)::bit(50) || B'0111' || (us % 1000 * 4096 / 1000)::bit(12)
		|| ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64);
	id text := 'evt_';
BEGIN
	FOR place IN 0..25 LOOP
		id := id || substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits FROM 5 * place + 1 FOR 5)::bit(5)::integer + 1, 1);
	END LOOP;
	RETURN id;
END $$;

CREATE FUNCTION posthorn.append_published() RETURNS trigger LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
	SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	projects bigint[];
	taken text;
	at bigint;
	told bigint;
BEGIN
	-- The first row that comes here takes all of its transaction with it.
	projects := ARRAY(
		SELECT DISTINCT p.project_no FROM posthorn.publishing p
		WHERE p.xact = NEW.xact AND EXISTS (
			SELECT FROM posthorn.publishing own WHERE own.xact = NEW.xact AND own.project_no = NEW.project_no AND own.id = NEW.id
		)
		ORDER BY p.project_no
	);
	IF cardinality(projects) = 0 THEN
		RETURN NULL;
	END IF;
	PERFORM FROM posthorn.logs l WHERE l.project_no = ANY (projects) ORDER BY l.project_no FOR NO KEY UPDATE;
	IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
		-- A lease that was given back since this transaction's snapshot would not be seen, and its alarm not be rung: held, it
		-- is refused instead, as a conflict.
		PERFORM FROM posthorn.leases l WHERE l.project_no = ANY (projects) ORDER BY l.project_no FOR NO KEY UPDATE;
	END IF;

	-- Published by others since publish looked.
	WITH known AS MATERIALIZED (
		SELECT p.project_no, p.id,
			e.body = posthorn.envelope(p.id, p.type_name, coalesce(p.created_at, e.created_at), p.project_id, p.data) AS same
		FROM posthorn.publishing p CROSS JOIN LATERAL (
			SELECT o.body, o.created_at FROM posthorn.events o WHERE o.project_no = p.project_no AND o.id = p.id LIMIT 1
		) e
		WHERE p.xact = NEW.xact AND p.id_given
	), repeated AS (
		DELETE FROM posthorn.publishing p USING known k
		WHERE p.xact = NEW.xact AND p.project_no = k.project_no AND p.id = k.id AND k.same
	)
	SELECT k.id INTO taken FROM known k WHERE NOT k.same LIMIT 1;
	IF taken IS NOT NULL THEN
		RAISE unique_violation USING MESSAGE = format('event %s was published meanwhile with other content', taken),
			HINT = 'An id stands for one event: give another one, or none.';
	END IF;

	at := floor(extract(epoch FROM clock_timestamp()) * 1000);
	WITH own AS (
		DELETE FROM posthorn.publishing p WHERE p.xact = NEW.xact RETURNING p.*
	), given AS MATERIALIZED (
		SELECT o.*, row_number() OVER (PARTITION BY o.project_no ORDER BY o.no) AS place,
			row_number() OVER (PARTITION BY o.project_no, o.type ORDER BY o.no) AS type_place
		FROM own o
	), log_end AS (
		UPDATE posthorn.logs l SET last_seq = l.last_seq + more.count
		FROM (SELECT g.project_no, g.project_id, count(*) AS count FROM given g GROUP BY g.project_no, g.project_id) more
		WHERE l.project_no = more.project_no
		RETURNING l.project_no, more.project_id, l.last_seq - more.count AS before
	), type_end AS MATERIALIZED (
		SELECT kind.project_no, kind.type, coalesce(last.type_seq, 0) AS before
		FROM (SELECT DISTINCT g.project_no, g.type FROM given g) kind LEFT JOIN LATERAL (
			SELECT e.type_seq FROM posthorn.events e
			WHERE e.project_no = kind.project_no AND (e.type, e.seq) > (kind.type, 0)
				AND (e.type, e.seq) <= (kind.type, 9007199254740991)
			ORDER BY e.type DESC, e.seq DESC LIMIT 1
		) last ON true
	), appended AS (
		INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
		SELECT g.project_no, l.before + g.place, g.id, g.type, t.before + g.type_place, coalesce(g.created_at, at), at,
			posthorn.envelope(g.id, g.type_name, coalesce(g.created_at, at), g.project_id, g.data)
		FROM given g JOIN log_end l ON l.project_no = g.project_no
			JOIN type_end t ON t.project_no = g.project_no AND t.type = g.type
		ORDER BY g.no
	), rung AS (
		UPDATE posthorn.leases l SET wake_at = 0
		FROM (
			SELECT q.project_no FROM posthorn.leases q JOIN log_end e ON e.project_no = q.project_no
			WHERE q.until IS NULL AND q.wake_at IS DISTINCT FROM 0 ORDER BY q.project_no FOR NO KEY UPDATE OF q
		) silent
		WHERE l.project_no = silent.project_no
	), numbered AS (
		SELECT e.project_id, (row_number() OVER (ORDER BY e.project_no) - 1) / 200 AS batch FROM log_end e
	), batches AS (
		SELECT pg_notify('posthorn_wake', 'sql ' || string_agg(n.project_id, ' ')) FROM numbered n GROUP BY n.batch
	)
	SELECT count(*) INTO told FROM batches;
	RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER append_published AFTER INSERT ON posthorn.publishing
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION posthorn.append_published();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER append_published;

COMMENT ON FUNCTION posthorn.publish IS
	'Publishes an event when the transaction commits, and answers with its id. See docs/operations/publish-from-sql.md.';

REVOKE ALL ON FUNCTION posthorn.publish, posthorn.append_published, posthorn.data_fault, posthorn.value_fault,
	posthorn.new_event_id, posthorn.envelope, posthorn.iso_time FROM PUBLIC;

-- Migration 6
-- Nodes that start together each print a valid setup link, so there may now be several. Creating the operator's account
-- takes a separate lock instead. The new index finds audit entries by age, to delete them.

DROP INDEX posthorn.links_for_setup;
CREATE INDEX audit_by_age ON posthorn.audit (at);

-- Migration 7
-- A settle now leaves its counts in one row, with an element per attempt. It used to leave a row per webhook and
-- response-time bucket, which were nearly as many as the attempts. Arrays are stored uncompressed, because the row is
-- short-lived. The old table's pending counts are added here, once no node uses it any longer.

LOCK TABLE posthorn.attempt_counts IN ACCESS EXCLUSIVE MODE;
INSERT INTO posthorn.attempt_stats AS s (project_no, webhook_no, grain, at, status, class, n)
SELECT project_no, scope.webhook_no, grain.ms, minute * 60000 / grain.ms, status, class, sum(n)
FROM posthorn.attempt_counts counts
	CROSS JOIN LATERAL (VALUES (counts.webhook_no), (0)) AS scope (webhook_no)
	CROSS JOIN (VALUES (60000), (3600000)) AS grain (ms)
GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (project_no, webhook_no, grain, at, status, class) DO UPDATE SET n = s.n + excluded.n;
DROP TABLE posthorn.attempt_counts;
CREATE TABLE posthorn.attempt_counts (
	project_no bigint[] NOT NULL,
	webhook_no bigint[] NOT NULL,
	minute bigint[] NOT NULL,
	status smallint[] NOT NULL,
	class smallint[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
ALTER TABLE posthorn.attempt_counts
	ALTER project_no SET STORAGE EXTERNAL, ALTER webhook_no SET STORAGE EXTERNAL, ALTER minute SET STORAGE EXTERNAL,
	ALTER status SET STORAGE EXTERNAL, ALTER class SET STORAGE EXTERNAL;

-- Migration 8
-- Replaces the generated functions, in databases whose `publish` accepted what receivers read differently.

-- Migration 9
-- A lane now stores its position and its open events. It used to store a cursor and the events settled beyond it, which
-- grew with every event delivered while one was in flight. The open events are those between the two that are
-- subscribed to and not settled.

LOCK TABLE posthorn.lanes IN ACCESS EXCLUSIVE MODE;
ALTER TABLE posthorn.lanes RENAME cursor TO position;
ALTER TABLE posthorn.lanes ADD open bigint[] NOT NULL DEFAULT '{}';
UPDATE posthorn.lanes l SET
	position = (SELECT max(seq) FROM unnest(l.ahead || l.position) AS seq),
	open = ARRAY(
		SELECT e.seq
		FROM posthorn.subscriptions s
			JOIN posthorn.events e ON e.project_no = s.project_no AND e.type = s.type AND e.seq > s.from_seq
		WHERE s.project_no = l.project_no AND s.webhook_no = l.webhook_no
			AND e.seq > l.position AND e.seq < (SELECT max(seq) FROM unnest(l.ahead) AS seq)
			AND NOT e.seq = ANY (l.ahead)
		ORDER BY e.seq
	)
WHERE l.ahead <> '{}';
ALTER TABLE posthorn.lanes DROP ahead;

-- Migration 10
-- Marks deleted webhooks whose pending deliveries are still to be closed: `closing`. The index finds a project's
-- directly.

ALTER TABLE posthorn.webhooks ADD COLUMN closing boolean NOT NULL DEFAULT false;
UPDATE posthorn.webhooks w SET closing = true
WHERE deleted_at IS NOT NULL AND EXISTS (
	SELECT FROM posthorn.retries r WHERE r.project_no = w.project_no AND r.webhook_no = w.no
);
CREATE INDEX webhooks_closing ON posthorn.webhooks (project_no, deleted_at) WHERE closing;

-- Migration 11
-- Records of servers that replaced each other (see epochs.ts), and durable commits.
--
-- - `epochs` has a row for each stretch of the database's history, the current one last. `id` distinguishes two with
--   the same number: the older one may have been lost together with everything written in it. `system` and `timeline`
--   are those of the server. Before `open_at`, a lease only goes to the node that held it before.
-- - `log_forks` records where each log ended when an epoch began. `lost` is the last event beyond that which some node
--   knows to be acknowledged; null if none is known.
-- - `publish` commits durably regardless of the store's session: with the session's setting, or `on` if that is weaker.

CREATE TABLE posthorn.epochs (
	no bigint PRIMARY KEY,
	id text COLLATE "C" NOT NULL,
	system text NOT NULL,
	timeline bigint NOT NULL,
	started_at bigint NOT NULL,
	open_at bigint NOT NULL
);

CREATE TABLE posthorn.log_forks (
	project_no bigint NOT NULL,
	epoch bigint NOT NULL,
	kept bigint NOT NULL,
	lost bigint,
	found_at bigint,
	PRIMARY KEY (project_no, epoch)
);
CREATE INDEX log_forks_by_epoch ON posthorn.log_forks (epoch);
CREATE INDEX log_forks_lost ON posthorn.log_forks (epoch, project_no) WHERE lost IS NOT NULL;

CREATE FUNCTION posthorn.commit_durably() RETURNS trigger LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION posthorn.commit_durably FROM PUBLIC;

CREATE TRIGGER commit_durably BEFORE INSERT ON posthorn.publishing
	FOR EACH STATEMENT EXECUTE FUNCTION posthorn.commit_durably();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER commit_durably;

-- Migration 12
-- Attempts that were in flight when their project's lease was released, until they are settled or their time has passed.

CREATE TABLE posthorn.handed_over (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	seq bigint NOT NULL,
	replay integer NOT NULL,
	queue smallint,
	generation bigint NOT NULL,
	until bigint NOT NULL,
	PRIMARY KEY (project_no, webhook_no, seq)
);

-- Migration 13
-- The sequence of an unlogged table is unlogged as well. A standby may be promoted before it has written that to disk, and
-- then it cannot be read ("bad magic number in sequence"): stores could no longer publish by SQL.

ALTER TABLE posthorn.publishing ALTER COLUMN no DROP IDENTITY;
CREATE SEQUENCE posthorn.publishing_order;
ALTER TABLE posthorn.publishing ALTER COLUMN no SET DEFAULT nextval('posthorn.publishing_order');

-- Migration 14
-- Due projects are taken in turn by their numbers: the index has them in that order.

DROP INDEX posthorn.leases_by_alarm;
CREATE INDEX leases_by_alarm ON posthorn.leases (wake_at, project_no) WHERE wake_at IS NOT NULL;

-- Migration 15
-- What API keys may do, until when, and who created them. Earlier keys, and those that nodes of the previous version
-- create, may do everything. Sign-in links are found by account, to be deleted with its old password.

ALTER TABLE posthorn.api_keys
	ADD COLUMN scopes text NOT NULL DEFAULT 'publish read manage',
	ADD COLUMN expires_at bigint,
	ADD COLUMN creator_kind text,
	ADD COLUMN creator_id text,
	ADD COLUMN creator_name text;
CREATE INDEX links_by_account ON posthorn.links (account_id);

-- Migration 16
-- For webhooks that ask for the headers of Standard Webhooks. Secrets of older versions have no second digest.

ALTER TABLE posthorn.webhooks
	ADD COLUMN sealed_standard_digest bytea, ADD COLUMN standard_webhooks boolean NOT NULL DEFAULT false;

-- Migration 17
-- When a dead letter was dismissed: on the last attempt of its series, which nothing else changes.

ALTER TABLE posthorn.attempts ADD COLUMN dismissed_at bigint;

-- Migration 18
-- What helps to explain a failed attempt, as JSON; null for most.

ALTER TABLE posthorn.attempts ADD COLUMN details text;

-- Migration 19
-- Which node sweeps, and until when; without a holder, when the next pass is due. At most one row.

CREATE TABLE posthorn.sweeper (
	one boolean PRIMARY KEY,
	holder text,
	until bigint NOT NULL,
	CHECK (one)
) WITH (fillfactor = 50);

-- Migration 20
-- The index of references: see verbs/search.ts. `ref` is the reference's number.

CREATE TABLE posthorn.event_references (
	project_no bigint NOT NULL,
	bucket bigint NOT NULL,
	ref bigint NOT NULL,
	seq bigint NOT NULL,
	PRIMARY KEY (project_no, bucket, ref, seq)
);

CREATE TABLE posthorn.reference_ranges (
	project_no bigint PRIMARY KEY,
	after_seq bigint NOT NULL,
	through_seq bigint NOT NULL,
	kept_from bigint NOT NULL
) WITH (fillfactor = 50);

-- Migration 21
-- Replaces the generated `append_published`: the hint of a project that had neither a holder nor work is marked, as nodes
-- mark theirs, since only such hints make nodes ask for leases.

-- Migration 22
-- The transaction that wrote the row, null for those of nodes of the previous version. `pg_upgrade` keeps both, and in a
-- restored dump another one has written it: see epochs.ts.

ALTER TABLE posthorn.epochs ADD COLUMN xid bigint;

-- Migration 23
-- Replaces the generated functions, in databases whose `publish` failed if an argument had a collation, accepted data that
-- nests deeper than over HTTP, and misread characters beyond ASCII if the encoding is SQL_ASCII.

-- Migration 24
-- Rows without a key can't be deleted in a database whose changes are published (`CREATE PUBLICATION … FOR ALL TABLES`).

ALTER TABLE posthorn.attempt_counts REPLICA IDENTITY FULL;

-- Migration 25
-- Rows that change with every event are found by the stretch of 256 events in which they last changed: see
-- connection/hot-rows.ts. A change within a stretch enters no index. Replaces the generated `append_published`, which
-- finds them in this way, too.
-- The columns aren't generated: PostgreSQL would rewrite the tables, and older snapshots see no row of a rewritten table.

ALTER TABLE posthorn.logs ADD COLUMN stretch bigint NOT NULL DEFAULT 0;
CREATE INDEX logs_by_stretch ON posthorn.logs ((project_no + 0), stretch);
ALTER TABLE posthorn.lanes ADD COLUMN stretch bigint NOT NULL DEFAULT 0;
CREATE INDEX lanes_by_stretch ON posthorn.lanes ((project_no + 0), (webhook_no + 0), stretch);

-- Migration 26
-- Replaces the generated functions: `append_published` lost the event if row-level security hid the log of its project.

-- Migration 27
-- Finds audit entries by what an action was done to, and by who did it.

CREATE INDEX audit_by_target ON posthorn.audit (project_no, target_id, id);
CREATE INDEX audit_by_actor ON posthorn.audit (project_no, actor_id, id);
