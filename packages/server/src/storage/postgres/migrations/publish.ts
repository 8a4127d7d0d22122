/**
 * Publishing from SQL, in the transaction of a store that keeps its data in this database.
 *
 * - `publish` checks an event as the API does and leaves it in `publishing`. At the transaction's end a deferred
 *   trigger numbers everything that the transaction left there, as the nodes do, and removes it. So a store's
 *   transaction locks the rows that nodes wait for only while it commits, and locks them last, in the order of the
 *   projects' numbers.
 * - `publishing` never contains committed data, so it is unlogged, and each transaction only sees its own rows.
 *   `created_at` is null if the event's time is that of its commit.
 * - The types and rules are generated from the catalogue. A change of the catalogue needs a migration that applies
 *   {@link functions} again.
 * - Functions that write run as the schema's owner, with their own search path and settings: the caller's session
 *   settings change nothing. The planner settings are those of the nodes.
 */
import { EVENT_TYPES } from "@posthorn/protocol";
import { rules } from "./publish-rules.ts";

/** The planner settings are those of the nodes' sessions. */
const AS_OWNER = `SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
	SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan`;

/** Ids in one notification: PostgreSQL takes 8,000 bytes. */
const IDS_AT_ONCE = 200;

/**
 * The end of a transaction that published: does what `appendRows` does for nodes, with the rows in `publishing`,
 * and sends a hint to the nodes at commit.
 *
 * @param hint what it says of a project of `log_end e`, as a column `project_id`
 */
const appendFunction = (create: string, hint: string): string => `
${create} FUNCTION posthorn.append_published() RETURNS trigger LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
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
				AND (e.type, e.seq) <= (kind.type, ${Number.MAX_SAFE_INTEGER})
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
		SELECT ${hint}, (row_number() OVER (ORDER BY e.project_no) - 1) / ${IDS_AT_ONCE} AS batch FROM log_end e
	), batches AS (
		SELECT pg_notify('posthorn_wake', 'sql ' || string_agg(n.project_id, ' ')) FROM numbered n GROUP BY n.batch
	)
	SELECT count(*) INTO told FROM batches;
	RETURN NULL;
END $$;
`;

const append = `${appendFunction("CREATE", "e.project_id")}
CREATE CONSTRAINT TRIGGER append_published AFTER INSERT ON posthorn.publishing
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION posthorn.append_published();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER append_published;
`;

/**
 * The hint of a project that had neither a holder nor work is marked, as nodes mark theirs: only such hints make nodes
 * ask for leases. The log is held, so no node releases the project meanwhile.
 */
export const markedHints = appendFunction(
	"CREATE OR REPLACE",
	`e.project_id || CASE WHEN EXISTS (
			SELECT FROM posthorn.leases q
			WHERE q.project_no = e.project_no AND q.until IS NULL AND q.wake_at IS DISTINCT FROM 0
		) THEN '!' ELSE '' END AS project_id`,
);

/** What `publish` accepts, in the catalogue's order. */
const TYPES: readonly string[] = EVENT_TYPES.map(({ type }) => type);

/** Maximum size of an event's data in bytes, unless `settings` has another. */
const MAX_EVENT_BYTES = 262_144;

/** How far a store's time may be ahead of the database's. */
const MAX_AHEAD = "5 minutes";

const tables = `
INSERT INTO posthorn.event_types (name) VALUES ${TYPES.map((type) => `('${type}')`).join(", ")} ON CONFLICT DO NOTHING;

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
`;

const envelope = `
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
`;

const publishFunctions = String.raw`
CREATE OR REPLACE FUNCTION posthorn.publish(
	project_id text, type text, data json, id text DEFAULT NULL, created_at timestamptz DEFAULT NULL
) RETURNS text LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
DECLARE
	-- The function's own transaction: what it leaves belongs to it.
	this_xact CONSTANT xid8 := pg_current_xact_id();
	source CONSTANT text := btrim(data::text, E' \t\n\r');
	source_bytes CONSTANT integer := octet_length(convert_to(source, 'UTF8'));
	max_bytes integer;
	created_ms bigint;
	project posthorn.logs.project_no%TYPE;
	type_code integer;
	same boolean;
	fault text;
BEGIN
	IF project_id IS NULL OR type IS NULL OR data IS NULL THEN
		RAISE null_value_not_allowed USING MESSAGE = 'an event needs a project_id, a type and data';
	END IF;
	IF type NOT IN (${TYPES.map((type) => `'${type}'`).join(", ")}) THEN
		RAISE invalid_parameter_value USING MESSAGE = format('"%s" is not an event type', left(type, 100)),
			HINT = 'Event types are: ${TYPES.join(", ")}.';
	END IF;
	IF json_typeof(data) <> 'object' THEN
		RAISE invalid_parameter_value USING MESSAGE = format('an event''s data must be a JSON object, not %s', json_typeof(data));
	END IF;
	IF id COLLATE "C" !~ '^evt_[A-Za-z0-9_-]{1,60}$' THEN
		RAISE invalid_parameter_value USING MESSAGE = format('"%s" cannot be an event''s id', left(id, 100)),
			HINT = 'It must be evt_ and 1 to 60 letters, digits, - or _. Without one the event gets a new id.';
	END IF;
	IF created_at < '0001-01-01 00:00:00+00 BC' OR created_at >= '10000-01-01 00:00:00+00' THEN
		RAISE datetime_field_overflow USING MESSAGE = format('%s is not within the years 0 to 9999', created_at);
	END IF;
	IF created_at > clock_timestamp() + interval '${MAX_AHEAD}' THEN
		RAISE datetime_field_overflow USING MESSAGE = format('%s is in the future', created_at),
			HINT = 'It may be ${MAX_AHEAD} ahead of the database''s clock at most.';
	END IF;
	max_bytes := coalesce((SELECT s.value FROM posthorn.settings s WHERE s.name = 'max_event_bytes'), '${MAX_EVENT_BYTES}');
	IF source_bytes > max_bytes THEN
		RAISE program_limit_exceeded
			USING MESSAGE = format('the event''s data has %s bytes; %s are allowed', source_bytes, max_bytes),
			HINT = 'Publish less, such as a reference to the rest.';
	END IF;
	fault := posthorn.data_fault(type, source);
	IF fault IS NOT NULL THEN
		RAISE invalid_parameter_value USING MESSAGE = format('the data of a %s is not valid: %s', type, fault);
	END IF;
	SELECT p.no INTO project FROM posthorn.projects p WHERE p.id = publish.project_id;
	IF project IS NULL THEN
		RAISE foreign_key_violation USING MESSAGE = format('there is no project "%s"', left(project_id, 100)),
			HINT = 'Project ids begin with proj_ and are those of this Posthorn.';
	END IF;
	created_ms := floor(extract(epoch FROM created_at) * 1000);
	IF id IS NOT NULL THEN
		SELECT e.body = posthorn.envelope(publish.id, publish.type, coalesce(created_ms, e.created_at), publish.project_id, source)
		INTO same FROM posthorn.events e WHERE e.project_no = project AND e.id = publish.id;
		IF same IS NULL THEN
			SELECT p.type_name = publish.type AND p.data = source AND (created_ms IS NULL OR created_ms IS NOT DISTINCT FROM p.created_at)
			INTO same FROM posthorn.publishing p WHERE p.xact = this_xact AND p.project_no = project AND p.id = publish.id;
		END IF;
		IF same THEN
			RETURN id;
		ELSIF NOT same THEN
			RAISE unique_violation USING MESSAGE = format('event %s was published before with other content', id),
				HINT = 'An id stands for one event: give another one, or none.';
		END IF;
	END IF;
	SELECT t.code INTO STRICT type_code FROM posthorn.event_types t WHERE t.name = publish.type;
	INSERT INTO posthorn.publishing (xact, project_no, created_at, type, id_given, project_id, id, type_name, data)
	VALUES (
		this_xact, project, created_ms, type_code, publish.id IS NOT NULL, publish.project_id,
		coalesce(publish.id, posthorn.new_event_id()), publish.type, source
	) RETURNING publishing.id INTO id;
	RETURN id;
END $$;
`;

const comment = `
COMMENT ON FUNCTION posthorn.publish IS
	'Publishes an event when the transaction commits, and answers with its id. See docs/operations/publish-from-sql.md.';
`;

const rights = `
REVOKE ALL ON FUNCTION posthorn.publish, posthorn.append_published, posthorn.data_fault, posthorn.value_fault,
	posthorn.new_event_id, posthorn.envelope, posthorn.iso_time FROM PUBLIC;
`;

/** The functions that repeat what the catalogue says. A migration that follows a change of it applies them again. */
export const functions = rules + publishFunctions;

export const publish = tables + envelope + functions + comment + append + rights;
