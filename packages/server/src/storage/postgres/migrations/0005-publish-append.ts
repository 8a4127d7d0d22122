/**
 * The end of a transaction that published: does what `append-rows.ts` does for nodes, with the rows in `publishing`,
 * and sends a hint to the nodes at commit.
 */

/** The planner settings are those of the nodes' sessions. */
export const AS_OWNER = `SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
	SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan`;

/** Ids in one notification: PostgreSQL takes 8,000 bytes. */
const IDS_AT_ONCE = 200;

export const append = `
CREATE FUNCTION posthorn.append_published() RETURNS trigger LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
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
		SELECT e.project_id, (row_number() OVER (ORDER BY e.project_no) - 1) / ${IDS_AT_ONCE} AS batch FROM log_end e
	), batches AS (
		SELECT pg_notify('posthorn_wake', 'sql ' || string_agg(n.project_id, ' ')) FROM numbered n GROUP BY n.batch
	)
	SELECT count(*) INTO told FROM batches;
	RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER append_published AFTER INSERT ON posthorn.publishing
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION posthorn.append_published();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER append_published;
`;
