-- The schema as all migrations together make it, without the tables of single days.
-- Written by `npx node scripts/write-schema.ts`: change it by adding a migration.

CREATE SCHEMA posthorn;

CREATE OR REPLACE FUNCTION posthorn.append_published()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET row_security TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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
	-- While a log is held, no node releases its project.
	PERFORM FROM unnest(projects) AS wanted (no) CROSS JOIN LATERAL (SELECT true 
	FROM posthorn.logs WHERE project_no + 0 = wanted.no AND stretch >= (SELECT stretch FROM posthorn.logs WHERE project_no + 0 = wanted.no ORDER BY stretch DESC LIMIT 1)
	ORDER BY stretch DESC LIMIT 1 FOR NO KEY UPDATE ) held;
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
		UPDATE posthorn.logs l SET last_seq = l.last_seq + more.count, stretch = (l.last_seq + more.count) >> 8
		FROM (SELECT g.project_no, g.project_id, count(*) AS count FROM given g GROUP BY g.project_no, g.project_id) more
			CROSS JOIN LATERAL (SELECT ctid FROM posthorn.logs WHERE project_no + 0 = more.project_no ORDER BY stretch DESC LIMIT 1) held
		WHERE l.ctid = held.ctid
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
		SELECT e.project_id || CASE WHEN EXISTS (
			SELECT FROM posthorn.leases q
			WHERE q.project_no = e.project_no AND q.until IS NULL AND q.wake_at IS DISTINCT FROM 0
		) THEN '!' ELSE '' END AS project_id, (row_number() OVER (ORDER BY e.project_no) - 1) / 200 AS batch FROM log_end e
	), batches AS (
		SELECT pg_notify('posthorn_wake', 'sql ' || string_agg(n.project_id, ' ')) FROM numbered n GROUP BY n.batch
	)
	SELECT count(*) INTO told FROM batches;
	RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION posthorn.append_published() FROM PUBLIC;

CREATE OR REPLACE FUNCTION posthorn.commit_durably()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
	IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION posthorn.commit_durably() FROM PUBLIC;

CREATE OR REPLACE FUNCTION posthorn.data_fault(type text, source text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE STRICT
AS $function$
DECLARE
	data json;
	fault text;
BEGIN
	IF type NOT IN ('purchase.completed', 'purchase.refunded') THEN
		RETURN NULL;
	END IF;
	-- Escapes that PostgreSQL's text cannot hold stand for one character that no rule asks for.
	source := regexp_replace(
		regexp_replace(source, '(?<!\\)((?:\\\\)*)\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}', '\1\\u0001', 'g'),
		'(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][[:xdigit:]]{2})', '\1\\u0001', 'g');
	IF current_setting('server_encoding') = 'SQL_ASCII' THEN
		-- Here text is bytes: spaces become ASCII's, and of all other characters a single byte is left.
		source := regexp_replace(regexp_replace(regexp_replace(regexp_replace(source,
			'(?<!\\)((?:\\\\)*)\\u(?:00[aA]0|1680|20(?:0[0-9aA]|2[89fF]|5[fF])|3000|[fF][eE][fF][fF])', '\1\\u0020', 'g'),
			'(?<!\\)((?:\\\\)*)\\u(?!00[0-7])[[:xdigit:]]{4}', '\1\\u0001', 'g'),
			'\u00c2\u00a0|\u00e1\u009a\u0080|\u00e2(?:\u0080[\u0080-\u008a\u00a8\u00a9\u00af]|\u0081\u009f)|\u00e3\u0080\u0080|\u00ef\u00bb\u00bf', ' ', 'g'),
			'[\u0080-\u00bf]', '', 'g');
	END IF;
	data := source::json;
	WITH r (place, name, rule, required) AS (
		SELECT all_rules.place, all_rules.name, all_rules.rule, all_rules.required
		FROM (VALUES
			('purchase.completed', 1, 'order_id', 'identifier', true),
			('purchase.completed', 2, 'customer_email', 'email', true),
			('purchase.completed', 3, 'amount_cents', 'amount', true),
			('purchase.completed', 4, 'currency', 'currency', true),
			('purchase.completed', 5, 'items', 'array', true),
			('purchase.refunded', 1, 'order_id', 'identifier', true),
			('purchase.refunded', 2, 'refund_id', 'identifier', false),
			('purchase.refunded', 3, 'amount_cents', 'amount', false),
			('purchase.refunded', 4, 'currency', 'currency', false),
			('purchase.refunded', 5, 'partial', 'boolean', true)
		) AS all_rules (type, place, name, rule, required)
		WHERE all_rules.type = data_fault.type
	)
	SELECT '/data/' || f.name || ' ' || f.fault INTO fault
	FROM (
		SELECT r.place, r.name, 'is given more than once'
		FROM json_object_keys(data) AS k (name) JOIN r ON r.name = k.name
		GROUP BY r.place, r.name HAVING count(*) > 1
		UNION ALL
		SELECT r.place, r.name, CASE
			WHEN data -> r.name IS NOT NULL THEN posthorn.value_fault(data -> r.name, r.rule)
			WHEN r.required THEN 'is missing'
		END
		FROM r
	) AS f (place, name, fault)
	WHERE f.fault IS NOT NULL ORDER BY f.place LIMIT 1;
	IF fault IS NOT NULL OR type <> 'purchase.completed' THEN
		RETURN fault;
	END IF;
	SELECT '/data/items/' || i.place - 1 || f.path || ' ' || f.fault INTO fault
	FROM json_array_elements(data -> 'items') WITH ORDINALITY AS i (item, place)
		CROSS JOIN LATERAL (
			SELECT 0, '', posthorn.value_fault(i.item, 'object')
			UNION ALL
			SELECT 1, '/' || k.name, 'is given more than once'
			FROM json_object_keys(CASE json_typeof(i.item) WHEN 'object' THEN i.item ELSE '{}' END) AS k (name)
			WHERE k.name IN ('product_id', 'name', 'quantity', 'unit_amount_cents')
			GROUP BY k.name HAVING count(*) > 1
			UNION ALL
			SELECT r.place, '/' || r.name, posthorn.value_fault(i.item -> r.name, r.rule)
			FROM (VALUES
				(2, 'product_id', 'product'), (3, 'name', 'string'), (4, 'quantity', 'quantity'), (5, 'unit_amount_cents', 'amount')
			) AS r (place, name, rule)
			WHERE json_typeof(i.item) = 'object'
		) AS f (place, path, fault)
	WHERE f.fault IS NOT NULL ORDER BY i.place, f.place LIMIT 1;
	RETURN fault;
END $function$;
REVOKE ALL ON FUNCTION posthorn.data_fault(text,text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION posthorn.envelope(id text, type text, created_at bigint, project_id text, data text)
 RETURNS bytea
 LANGUAGE sql
 STABLE STRICT
AS $function$
	SELECT convert_to(
		'{"id":' || to_json(id) || ',"type":' || to_json(type) || ',"created_at":"' || posthorn.iso_time(created_at)
			|| '","project_id":' || to_json(project_id) || ',"data":' || data || '}',
		'UTF8')
$function$;
REVOKE ALL ON FUNCTION posthorn.envelope(text,text,bigint,text,text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION posthorn.id_at(ms bigint)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz'::text, ((((GREATEST(id_at.ms, (0)::bigint) >> (5 * place.place)) & (31)::bigint))::integer + 1), 1), ''::text ORDER BY place.place DESC) AS string_agg FROM generate_series(0, 9) place(place));

CREATE OR REPLACE FUNCTION posthorn.iso_time(ms bigint)
 RETURNS text
 LANGUAGE sql
 STABLE STRICT
AS $function$
	-- PostgreSQL knows no year 0.
	SELECT CASE WHEN ms < -62135596800000 THEN '0000' ELSE to_char(at, 'YYYY') END
		|| to_char(at, '-MM-DD"T"HH24:MI:SS.MS"Z"')
	FROM (
		SELECT date '1970-01-01' + floor(ms::numeric / 86400000)::integer
			+ interval '1 millisecond' * mod(mod(ms, 86400000) + 86400000, 86400000)
	) AS t (at)
$function$;
REVOKE ALL ON FUNCTION posthorn.iso_time(bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION posthorn.new_event_id()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
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
END $function$;
REVOKE ALL ON FUNCTION posthorn.new_event_id() FROM PUBLIC;

CREATE OR REPLACE FUNCTION posthorn.now_ms()
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (floor((EXTRACT(epoch FROM now()) * (1000)::numeric)))::bigint;

CREATE OR REPLACE FUNCTION posthorn.publish(project_id text, type text, data json, id text DEFAULT NULL::text, created_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET row_security TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET jit TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
	-- The function's own transaction: what it leaves belongs to it.
	this_xact CONSTANT xid8 := pg_current_xact_id();
	source CONSTANT text COLLATE "C" := btrim(data::text, E' \t\n\r');
	source_bytes CONSTANT integer := octet_length(convert_to(source, 'UTF8'));
	brackets text;
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
	IF type COLLATE "C" NOT IN ('customer.created', 'purchase.completed', 'purchase.refunded', 'delivery.success', 'delivery.failed', 'basket.abandoned', 'subscription.created', 'subscription.canceled', 'chargeback.created') THEN
		RAISE invalid_parameter_value USING MESSAGE = format('"%s" is not an event type', left(type, 100)),
			HINT = 'Event types are: customer.created, purchase.completed, purchase.refunded, delivery.success, delivery.failed, basket.abandoned, subscription.created, subscription.canceled, chargeback.created.';
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
	IF created_at > clock_timestamp() + interval '5 minutes' THEN
		RAISE datetime_field_overflow USING MESSAGE = format('%s is in the future', created_at),
			HINT = 'It may be 5 minutes ahead of the database''s clock at most.';
	END IF;
	max_bytes := coalesce((SELECT s.value FROM posthorn.settings s WHERE s.name = 'max_event_bytes'), '262144');
	IF source_bytes > max_bytes THEN
		RAISE program_limit_exceeded
			USING MESSAGE = format('the event''s data has %s bytes; %s are allowed', source_bytes, max_bytes),
			HINT = 'Publish less, such as a reference to the rest.';
	END IF;
	IF length(source) - length(translate(source, '[{', '')) > 63 THEN
		-- Without texts and everything else. Each turn removes the innermost level.
		brackets := translate(regexp_replace(source, '"(?:[^"\\]|\\.)*"|[^][{}"]+', '', 'g'), '{}', '[]');
		FOR level IN 1..63 LOOP
			EXIT WHEN brackets = '';
			brackets := replace(brackets, '[]', '');
		END LOOP;
		IF brackets <> '' THEN
			RAISE program_limit_exceeded USING MESSAGE = 'the event''s data nests deeper than 63 levels',
				HINT = 'Publish less, such as a reference to the rest.';
		END IF;
	END IF;
	fault := posthorn.data_fault(type COLLATE "C", source);
	IF fault IS NOT NULL THEN
		RAISE invalid_parameter_value USING MESSAGE = format('the data of a %s is not valid: %s', type, fault);
	END IF;
	SELECT p.no INTO project FROM posthorn.projects p WHERE p.id = publish.project_id COLLATE "C";
	IF project IS NULL THEN
		RAISE foreign_key_violation USING MESSAGE = format('there is no project "%s"', left(project_id, 100)),
			HINT = 'Project ids begin with proj_ and are those of this Posthorn.';
	END IF;
	created_ms := floor(extract(epoch FROM created_at) * 1000);
	IF id IS NOT NULL THEN
		SELECT e.body = posthorn.envelope(publish.id, publish.type, coalesce(created_ms, e.created_at), publish.project_id, source)
		INTO same FROM posthorn.events e WHERE e.project_no = project AND e.id = publish.id COLLATE "C";
		IF same IS NULL THEN
			SELECT p.type_name = publish.type COLLATE "C" AND p.data = source AND (created_ms IS NULL OR created_ms IS NOT DISTINCT FROM p.created_at)
			INTO same FROM posthorn.publishing p WHERE p.xact = this_xact AND p.project_no = project AND p.id = publish.id COLLATE "C";
		END IF;
		IF same THEN
			RETURN id;
		ELSIF NOT same THEN
			RAISE unique_violation USING MESSAGE = format('event %s was published before with other content', id),
				HINT = 'An id stands for one event: give another one, or none.';
		END IF;
	END IF;
	SELECT t.code INTO STRICT type_code FROM posthorn.event_types t WHERE t.name = publish.type COLLATE "C";
	INSERT INTO posthorn.publishing (xact, project_no, created_at, type, id_given, project_id, id, type_name, data)
	VALUES (
		this_xact, project, created_ms, type_code, publish.id IS NOT NULL, publish.project_id,
		coalesce(publish.id, posthorn.new_event_id()), publish.type, source
	) RETURNING publishing.id INTO id;
	RETURN id;
END $function$;
REVOKE ALL ON FUNCTION posthorn.publish(text,text,json,text,timestamp with time zone) FROM PUBLIC;
COMMENT ON FUNCTION posthorn.publish(text,text,json,text,timestamp with time zone) IS 'Publishes an event when the transaction commits, and answers with its id. See docs/operations/publish-from-sql.md.';

CREATE OR REPLACE FUNCTION posthorn.value_fault(value json, rule text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE STRICT
AS $function$
DECLARE
	kind CONSTANT text := json_typeof(value);
	content CONSTANT text COLLATE "C" := value #>> '{}';
	number double precision;
BEGIN
	IF rule IN ('boolean', 'array', 'object') THEN
		RETURN CASE WHEN kind <> rule THEN 'must be ' || rule END;
	END IF;
	IF kind = 'number' AND rule IN ('amount', 'product') THEN
		RETURN CASE
			WHEN content !~ '^-?[0-9]+$' THEN 'must be an integer, written without a fraction or an exponent'
			WHEN CASE WHEN length(ltrim(content, '-')) > 16 THEN true ELSE abs(content::bigint) > 9007199254740991 END
				THEN 'must be at most 2^53 - 1 in size: JSON readers do not keep larger integers exactly'
			WHEN rule = 'amount' AND content::bigint < 0 THEN 'must be >= 0'
		END;
	END IF;
	IF kind = 'number' AND rule = 'quantity' THEN
		BEGIN
			number := content::double precision;
		EXCEPTION WHEN numeric_value_out_of_range THEN
			-- As JavaScript reads it: 0 where it is too small, which its first digit's place tells, else infinite.
			number := CASE
				WHEN coalesce(left(regexp_replace(substring(content FROM '[eE](.+)'), '^([-+]?)0+(?=.)', '\1'), 10)::bigint, 0) + CASE
					WHEN content ~ '^-?0' THEN -1 - coalesce(length(substring(content FROM '\.(0*)')), 0)
					ELSE length(substring(content FROM '[0-9]+')) - 1
				END < 0 THEN 0
				WHEN content LIKE '-%' THEN '-Infinity'::double precision
				ELSE 'Infinity'
			END;
		END;
	END IF;
	RETURN CASE
		WHEN rule = 'quantity' AND number IS NULL THEN 'must be number'
		WHEN rule = 'quantity' AND number <= 0 THEN 'must be > 0'
		WHEN rule = 'quantity' THEN NULL
		WHEN rule = 'product' AND kind <> 'string' THEN 'must be string or integer'
		WHEN rule = 'product' THEN NULL
		WHEN rule = 'amount' THEN 'must be integer'
		WHEN kind <> 'string' THEN 'must be string'
		WHEN rule = 'identifier' AND content = '' THEN 'must NOT have fewer than 1 characters'
		WHEN rule = 'email' AND char_length(content) > 320 THEN 'must NOT have more than 320 characters'
		WHEN rule = 'email' AND content !~ '^[^@\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+@[^@\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+$' THEN 'must be an e-mail address'
		WHEN rule = 'currency' AND content <> ALL ('{AED,AFN,ALL,AMD,ANG,AOA,ARS,AUD,AWG,AZN,BAM,BBD,BDT,BGN,BHD,BIF,BMD,BND,BOB,BRL,BSD,BTN,BWP,BYN,BZD,CAD,CDF,CHF,CLP,CNY,COP,CRC,CUC,CUP,CVE,CZK,DJF,DKK,DOP,DZD,EGP,ERN,ETB,EUR,FJD,FKP,GBP,GEL,GHS,GIP,GMD,GNF,GTQ,GYD,HKD,HNL,HRK,HTG,HUF,IDR,ILS,INR,IQD,IRR,ISK,JMD,JOD,JPY,KES,KGS,KHR,KMF,KPW,KRW,KWD,KYD,KZT,LAK,LBP,LKR,LRD,LSL,LYD,MAD,MDL,MGA,MKD,MMK,MNT,MOP,MRU,MUR,MVR,MWK,MXN,MYR,MZN,NAD,NGN,NIO,NOK,NPR,NZD,OMR,PAB,PEN,PGK,PHP,PKR,PLN,PYG,QAR,RON,RSD,RUB,RWF,SAR,SBD,SCR,SDG,SEK,SGD,SHP,SLE,SLL,SOS,SRD,SSP,STN,SVC,SYP,SZL,THB,TJS,TMT,TND,TOP,TRY,TTD,TWD,TZS,UAH,UGX,USD,UYU,UZS,VES,VND,VUV,WST,XAF,XCD,XCG,XDR,XOF,XPF,XSU,YER,ZAR,ZMW,ZWG,ZWL}'::text[])
			THEN 'is not the code of a currency in ISO 4217, such as EUR'
	END;
END $function$;
REVOKE ALL ON FUNCTION posthorn.value_fault(json,text) FROM PUBLIC;

CREATE SEQUENCE posthorn.publishing_order;

CREATE TABLE posthorn.accounts (
	id text COLLATE "C" NOT NULL,
	email text NOT NULL,
	normal_email text NOT NULL,
	name text NOT NULL,
	operator boolean NOT NULL,
	password_hash text NOT NULL,
	created_at bigint NOT NULL,
	CONSTRAINT accounts_pkey PRIMARY KEY (id),
	CONSTRAINT accounts_normal_email_key UNIQUE (normal_email)
);
CREATE INDEX accounts_of_operator ON posthorn.accounts USING btree (operator) WHERE operator;

CREATE TABLE posthorn.api_keys (
	id text COLLATE "C" NOT NULL,
	project_no bigint NOT NULL,
	name text NOT NULL,
	prefix text NOT NULL,
	hash bytea NOT NULL,
	created_at bigint NOT NULL,
	last_used_at bigint,
	scopes text DEFAULT 'publish read manage'::text NOT NULL,
	expires_at bigint,
	creator_kind text,
	creator_id text,
	creator_name text,
	CONSTRAINT api_keys_pkey PRIMARY KEY (id),
	CONSTRAINT api_keys_hash_key UNIQUE (hash),
	CONSTRAINT api_keys_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
) WITH (fillfactor=80);
CREATE INDEX api_keys_by_project ON posthorn.api_keys USING btree (project_no, id);

CREATE TABLE posthorn.attempt_counts (
	project_no bigint[] STORAGE e NOT NULL,
	webhook_no bigint[] STORAGE e NOT NULL,
	minute bigint[] STORAGE e NOT NULL,
	status smallint[] STORAGE e NOT NULL,
	class smallint[] STORAGE e NOT NULL
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500);
ALTER TABLE posthorn.attempt_counts REPLICA IDENTITY FULL;

CREATE TABLE posthorn.attempt_stats (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	at bigint NOT NULL,
	n bigint NOT NULL,
	grain integer NOT NULL,
	status smallint NOT NULL,
	class smallint NOT NULL,
	CONSTRAINT attempt_stats_pkey PRIMARY KEY (project_no, webhook_no, grain, at, status, class)
) WITH (fillfactor=70);
CREATE INDEX attempt_stats_by_age ON posthorn.attempt_stats USING btree (grain, at);

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
	dismissed_at bigint,
	details text,
	CONSTRAINT attempts_pkey PRIMARY KEY (project_no, seq, webhook_no, replay, attempt, id)
) PARTITION BY RANGE (id);
CREATE INDEX attempts_by_kind ON ONLY posthorn.attempts USING btree (project_no, status, type, id);
CREATE INDEX attempts_by_webhook ON ONLY posthorn.attempts USING btree (project_no, webhook_no, status, type, id);
CREATE INDEX attempts_failed ON ONLY posthorn.attempts USING btree (project_no, webhook_no, id) WHERE (status = 3);

CREATE TABLE posthorn.audit (
	project_no bigint NOT NULL,
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
	CONSTRAINT audit_pkey PRIMARY KEY (project_no, id),
	CONSTRAINT audit_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
);
CREATE INDEX audit_by_actor ON posthorn.audit USING btree (project_no, actor_id, id);
CREATE INDEX audit_by_age ON posthorn.audit USING btree (at);
CREATE INDEX audit_by_target ON posthorn.audit USING btree (project_no, target_id, id);

CREATE TABLE posthorn.epochs (
	no bigint NOT NULL,
	id text COLLATE "C" NOT NULL,
	system text NOT NULL,
	timeline bigint NOT NULL,
	started_at bigint NOT NULL,
	open_at bigint NOT NULL,
	xid bigint,
	CONSTRAINT epochs_pkey PRIMARY KEY (no)
);

CREATE TABLE posthorn.event_references (
	project_no bigint NOT NULL,
	bucket bigint NOT NULL,
	ref bigint NOT NULL,
	seq bigint NOT NULL,
	CONSTRAINT event_references_pkey PRIMARY KEY (project_no, bucket, ref, seq)
);

CREATE TABLE posthorn.event_types (
	code integer GENERATED ALWAYS AS IDENTITY NOT NULL,
	name text COLLATE "C" NOT NULL,
	CONSTRAINT event_types_pkey PRIMARY KEY (code),
	CONSTRAINT event_types_name_key UNIQUE (name)
);

CREATE TABLE posthorn.events (
	project_no bigint NOT NULL,
	seq bigint NOT NULL,
	no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
	type_seq bigint,
	created_at bigint NOT NULL,
	published_at bigint NOT NULL,
	type integer NOT NULL,
	id text COLLATE "C" NOT NULL,
	body bytea NOT NULL,
	CONSTRAINT events_pkey PRIMARY KEY (project_no, seq)
);
CREATE INDEX events_by_age ON posthorn.events USING btree (no);
CREATE UNIQUE INDEX events_by_id ON posthorn.events USING btree (project_no, id);
CREATE INDEX events_by_type ON posthorn.events USING btree (project_no, type, seq) INCLUDE (type_seq);

CREATE TABLE posthorn.handed_over (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	seq bigint NOT NULL,
	replay integer NOT NULL,
	queue smallint,
	generation bigint NOT NULL,
	until bigint NOT NULL,
	CONSTRAINT handed_over_pkey PRIMARY KEY (project_no, webhook_no, seq)
);

CREATE TABLE posthorn.invitations (
	id text COLLATE "C" NOT NULL,
	token_hash bytea NOT NULL,
	project_no bigint NOT NULL,
	role text NOT NULL,
	email text,
	inviter_kind text NOT NULL,
	inviter_id text,
	inviter_name text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	CONSTRAINT invitations_pkey PRIMARY KEY (id),
	CONSTRAINT invitations_token_hash_key UNIQUE (token_hash),
	CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'developer'::text, 'owner'::text]))),
	CONSTRAINT invitations_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
);
CREATE INDEX invitations_by_expiry ON posthorn.invitations USING btree (expires_at);
CREATE INDEX invitations_by_project ON posthorn.invitations USING btree (project_no, id);

CREATE TABLE posthorn.lanes (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	position bigint NOT NULL,
	skip_through bigint DEFAULT 0 NOT NULL,
	retries_waiting bigint DEFAULT 0 NOT NULL,
	dead_letters bigint DEFAULT 0 NOT NULL,
	open bigint[] DEFAULT '{}'::bigint[] NOT NULL,
	stretch bigint DEFAULT 0 NOT NULL,
	CONSTRAINT lanes_pkey PRIMARY KEY (project_no, webhook_no)
) WITH (fillfactor=40);
CREATE INDEX lanes_by_stretch ON posthorn.lanes USING btree (((project_no + 0)), ((webhook_no + 0)), stretch);

CREATE TABLE posthorn.leases (
	project_no bigint NOT NULL,
	generation bigint DEFAULT 0 NOT NULL,
	wake_at bigint,
	until bigint,
	acknowledged bigint,
	holder text,
	CONSTRAINT leases_pkey PRIMARY KEY (project_no),
	CONSTRAINT leases_check CHECK (((wake_at IS NULL) OR (until IS NULL))),
	CONSTRAINT leases_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
) WITH (fillfactor=50);
CREATE INDEX leases_by_alarm ON posthorn.leases USING btree (wake_at, project_no) WHERE (wake_at IS NOT NULL);
CREATE INDEX leases_by_end ON posthorn.leases USING btree (until) WHERE (until IS NOT NULL);

CREATE TABLE posthorn.links (
	token_hash bytea NOT NULL,
	kind text NOT NULL,
	account_id text COLLATE "C",
	expires_at bigint NOT NULL,
	CONSTRAINT links_pkey PRIMARY KEY (token_hash),
	CONSTRAINT links_check CHECK (((kind = 'setup'::text) = (account_id IS NULL))),
	CONSTRAINT links_kind_check CHECK ((kind = ANY (ARRAY['setup'::text, 'sign_in'::text]))),
	CONSTRAINT links_account_id_fkey FOREIGN KEY (account_id) REFERENCES posthorn.accounts(id)
);
CREATE INDEX links_by_account ON posthorn.links USING btree (account_id);
CREATE INDEX links_by_expiry ON posthorn.links USING btree (expires_at);

CREATE TABLE posthorn.log_forks (
	project_no bigint NOT NULL,
	epoch bigint NOT NULL,
	kept bigint NOT NULL,
	lost bigint,
	found_at bigint,
	CONSTRAINT log_forks_pkey PRIMARY KEY (project_no, epoch)
);
CREATE INDEX log_forks_by_epoch ON posthorn.log_forks USING btree (epoch);
CREATE INDEX log_forks_lost ON posthorn.log_forks USING btree (epoch, project_no) WHERE (lost IS NOT NULL);

CREATE TABLE posthorn.logs (
	project_no bigint NOT NULL,
	last_seq bigint DEFAULT 0 NOT NULL,
	last_test_seq bigint DEFAULT 0 NOT NULL,
	revision bigint DEFAULT 0 NOT NULL,
	stretch bigint DEFAULT 0 NOT NULL,
	CONSTRAINT logs_pkey PRIMARY KEY (project_no),
	CONSTRAINT logs_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
) WITH (fillfactor=40);
CREATE INDEX logs_by_stretch ON posthorn.logs USING btree (((project_no + 0)), stretch);

CREATE TABLE posthorn.memberships (
	project_no bigint NOT NULL,
	account_id text COLLATE "C" NOT NULL,
	role text NOT NULL,
	added_at bigint NOT NULL,
	CONSTRAINT memberships_pkey PRIMARY KEY (project_no, account_id),
	CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'developer'::text, 'owner'::text]))),
	CONSTRAINT memberships_account_id_fkey FOREIGN KEY (account_id) REFERENCES posthorn.accounts(id),
	CONSTRAINT memberships_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
);
CREATE INDEX memberships_by_account ON posthorn.memberships USING btree (account_id, project_no);

CREATE TABLE posthorn.nodes (
	holder text NOT NULL,
	seen_at bigint NOT NULL,
	CONSTRAINT nodes_pkey PRIMARY KEY (holder)
) WITH (fillfactor=50);

CREATE TABLE posthorn.projects (
	no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
	id text COLLATE "C" NOT NULL,
	name text NOT NULL,
	developer boolean NOT NULL,
	created_at bigint NOT NULL,
	CONSTRAINT projects_pkey PRIMARY KEY (no),
	CONSTRAINT projects_id_key UNIQUE (id)
);

CREATE UNLOGGED TABLE posthorn.publishing (
	xact xid8 NOT NULL,
	project_no bigint NOT NULL,
	no bigint DEFAULT nextval('posthorn.publishing_order'::regclass) NOT NULL,
	created_at bigint,
	type integer NOT NULL,
	id_given boolean NOT NULL,
	project_id text COLLATE "C" NOT NULL,
	id text COLLATE "C" NOT NULL,
	type_name text NOT NULL,
	data text NOT NULL,
	CONSTRAINT publishing_pkey PRIMARY KEY (xact, project_no, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, toast.autovacuum_vacuum_scale_factor=0, toast.autovacuum_vacuum_threshold=2000);
CREATE CONSTRAINT TRIGGER append_published AFTER INSERT ON posthorn.publishing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION posthorn.append_published();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER append_published;
CREATE TRIGGER commit_durably BEFORE INSERT ON posthorn.publishing FOR EACH STATEMENT EXECUTE FUNCTION posthorn.commit_durably();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER commit_durably;

CREATE TABLE posthorn.reference_ranges (
	project_no bigint NOT NULL,
	after_seq bigint NOT NULL,
	through_seq bigint NOT NULL,
	kept_from bigint NOT NULL,
	CONSTRAINT reference_ranges_pkey PRIMARY KEY (project_no)
) WITH (fillfactor=50);

CREATE TABLE posthorn.retries (
	project_no bigint NOT NULL,
	seq bigint NOT NULL,
	webhook_no bigint NOT NULL,
	due_at bigint NOT NULL,
	replay integer NOT NULL,
	attempt integer NOT NULL,
	queue smallint NOT NULL,
	CONSTRAINT retries_pkey PRIMARY KEY (project_no, seq, webhook_no)
) WITH (fillfactor=80);
CREATE INDEX retries_by_due ON posthorn.retries USING btree (project_no, webhook_no, queue, due_at, seq);

CREATE TABLE posthorn.schema_versions (
	version integer NOT NULL,
	applied_at timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT schema_versions_pkey PRIMARY KEY (version)
);

CREATE TABLE posthorn.sessions (
	id text COLLATE "C" NOT NULL,
	token_hash bytea NOT NULL,
	account_id text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	by_link boolean NOT NULL,
	user_agent text NOT NULL,
	address text NOT NULL,
	CONSTRAINT sessions_pkey PRIMARY KEY (id),
	CONSTRAINT sessions_token_hash_key UNIQUE (token_hash),
	CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES posthorn.accounts(id)
);
CREATE INDEX sessions_by_account ON posthorn.sessions USING btree (account_id, id);
CREATE INDEX sessions_by_expiry ON posthorn.sessions USING btree (expires_at);

CREATE TABLE posthorn.settings (
	name text NOT NULL,
	value text NOT NULL,
	CONSTRAINT settings_pkey PRIMARY KEY (name)
);

CREATE TABLE posthorn.store_baskets (
	project_no bigint NOT NULL,
	touched_at bigint NOT NULL,
	due_at bigint NOT NULL,
	basket_id text COLLATE "C" NOT NULL,
	data text NOT NULL,
	CONSTRAINT store_baskets_pkey PRIMARY KEY (project_no, basket_id)
) WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX store_baskets_by_due ON posthorn.store_baskets USING btree (due_at);

CREATE TABLE posthorn.store_chargebacks (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	chargeback_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	CONSTRAINT store_chargebacks_pkey PRIMARY KEY (project_no, chargeback_id)
);

CREATE TABLE posthorn.store_customers (
	project_no bigint NOT NULL,
	key bytea NOT NULL,
	CONSTRAINT store_customers_pkey PRIMARY KEY (project_no, key)
);

CREATE TABLE posthorn.store_deliverables (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	order_id text COLLATE "C" NOT NULL,
	deliverable_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	CONSTRAINT store_deliverables_pkey PRIMARY KEY (project_no, order_id, deliverable_id)
);

CREATE TABLE posthorn.store_orders (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	amount_cents bigint NOT NULL,
	refunded_cents bigint DEFAULT 0 NOT NULL,
	order_id text COLLATE "C" NOT NULL,
	basket_id text COLLATE "C",
	currency text NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	CONSTRAINT store_orders_pkey PRIMARY KEY (project_no, order_id),
	CONSTRAINT store_orders_check CHECK ((refunded_cents <= amount_cents))
) WITH (fillfactor=90);
CREATE INDEX store_orders_by_basket ON posthorn.store_orders USING btree (project_no, basket_id) WHERE (basket_id IS NOT NULL);

CREATE TABLE posthorn.store_refunds (
	project_no bigint NOT NULL,
	at bigint NOT NULL,
	refund_id text COLLATE "C" NOT NULL,
	digest bytea NOT NULL,
	events json NOT NULL,
	CONSTRAINT store_refunds_pkey PRIMARY KEY (project_no, refund_id)
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
	CONSTRAINT store_subscriptions_pkey PRIMARY KEY (project_no, subscription_id),
	CONSTRAINT store_subscriptions_check CHECK (((canceled_at IS NULL) = (cancel_events IS NULL)))
) WITH (fillfactor=90);

CREATE TABLE posthorn.subscriptions (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	type integer NOT NULL,
	from_seq bigint NOT NULL,
	CONSTRAINT subscriptions_pkey PRIMARY KEY (project_no, webhook_no, type)
);

CREATE TABLE posthorn.sweeper (
	one boolean NOT NULL,
	holder text,
	until bigint NOT NULL,
	CONSTRAINT sweeper_pkey PRIMARY KEY (one),
	CONSTRAINT sweeper_one_check CHECK (one)
) WITH (fillfactor=50);

CREATE TABLE posthorn.webhooks (
	project_no bigint NOT NULL,
	no bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
	id text COLLATE "C" NOT NULL,
	url text NOT NULL,
	description text NOT NULL,
	status text NOT NULL,
	max_in_flight integer NOT NULL,
	sealed_digest bytea NOT NULL,
	created_at bigint NOT NULL,
	deleted_at bigint,
	closing boolean DEFAULT false NOT NULL,
	sealed_standard_digest bytea,
	standard_webhooks boolean DEFAULT false NOT NULL,
	CONSTRAINT webhooks_pkey PRIMARY KEY (project_no, no),
	CONSTRAINT webhooks_project_no_id_key UNIQUE (project_no, id),
	CONSTRAINT webhooks_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text]))),
	CONSTRAINT webhooks_project_no_fkey FOREIGN KEY (project_no) REFERENCES posthorn.projects(no)
);
CREATE INDEX webhooks_closing ON posthorn.webhooks USING btree (project_no, deleted_at) WHERE closing;
CREATE INDEX webhooks_deleted ON posthorn.webhooks USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX webhooks_live ON posthorn.webhooks USING btree (project_no, id) WHERE (deleted_at IS NULL);
