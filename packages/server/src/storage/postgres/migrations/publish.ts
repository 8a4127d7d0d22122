/**
 * The functions of `posthorn.publish` that repeat what the catalogue says, generated from it. A change of the catalogue
 * needs a migration that applies {@link functions} again.
 *
 * For the types whose data is checked, they have the rules of the JSON Schemas, and those of `engine/publish/check.ts`
 * for how values are written. Receivers read integers with a fraction or an exponent, or beyond 2^53, and repeated fields
 * differently.
 */
import { isDeepStrictEqual } from "node:util";
import { CURRENCIES, EVENT_TYPES, eventTypeEntry, type JsonSchema } from "@posthorn/protocol";
import { lockedLog, newestLog, stretchOf } from "../connection/hot-rows.ts";

/** The characters that JavaScript's \s matches, for a bracket expression. */
const SPACE = String.raw`\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

/** The same beyond ASCII, as the bytes of UTF-8. */
const SPACE_BYTES = String.raw`'\u00c2\u00a0|\u00e1\u009a\u0080|\u00e2(?:\u0080[\u0080-\u008a\u00a8\u00a9\u00af]|\u0081\u009f)|\u00e3\u0080\u0080|\u00ef\u00bb\u00bf'`;

/** The rules that `value_fault` checks, as the catalogue's schemas state them. */
const RULES: Readonly<Record<string, JsonSchema>> = {
	identifier: { type: "string", minLength: 1 },
	email: { type: "string", maxLength: 320, pattern: "^[^\\s@]+@[^\\s@]+$" },
	currency: { type: "string", pattern: "^[A-Z]{3}$" },
	amount: { type: "integer", minimum: 0 },
	quantity: { type: "number", exclusiveMinimum: 0 },
	product: { anyOf: [{ type: "string" }, { type: "integer" }] },
	string: { type: "string" },
	boolean: { type: "boolean" },
	array: { type: "array" },
};

const quoted = (text: string): string => `'${text}'`;

/** Throws an Error if no rule checks what the schema requires. */
function ruleOf(name: string, { description: _, items: __, ...schema }: JsonSchema): string {
	const found = Object.entries(RULES).find(([, required]) => isDeepStrictEqual(required, schema));
	if (found === undefined) throw new Error(`posthorn.publish has no rule for the catalogue's ${name}.`);
	return quoted(found[0]);
}

const propertiesOf = ({ properties }: JsonSchema) => properties as Readonly<Record<string, JsonSchema>>;

const STRICT = EVENT_TYPES.filter(({ strict }) => strict);

const ROWS = STRICT.flatMap(({ type, schema }) =>
	Object.entries(propertiesOf(schema)).map(([name, property], i) => {
		const isRequired = (schema.required as readonly string[]).includes(name);
		return `(${quoted(type)}, ${i + 1}, ${quoted(name)}, ${ruleOf(name, property)}, ${isRequired})`;
	}),
).join(",\n\t\t\t");

/** The fields of a purchase's items. */
const item = propertiesOf(propertiesOf(eventTypeEntry("purchase.completed").schema).items!.items as JsonSchema);

const ITEM_ROWS = Object.entries(item)
	.map(([name, property], i) => `(${i + 2}, ${quoted(name)}, ${ruleOf(name, property)})`)
	.join(", ");

const rules = String.raw`
CREATE OR REPLACE FUNCTION posthorn.value_fault(value json, rule text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
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
			WHEN CASE WHEN length(ltrim(content, '-')) > 16 THEN true ELSE abs(content::bigint) > ${Number.MAX_SAFE_INTEGER} END
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
		WHEN rule = 'email' AND content !~ '^[^@${SPACE}]+@[^@${SPACE}]+$' THEN 'must be an e-mail address'
		WHEN rule = 'currency' AND content <> ALL ('{${[...CURRENCIES].join(",")}}'::text[])
			THEN 'is not the code of a currency in ISO 4217, such as EUR'
	END;
END $$;

CREATE OR REPLACE FUNCTION posthorn.data_fault(type text, source text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
	data json;
	fault text;
BEGIN
	IF type NOT IN (${STRICT.map(({ type }) => quoted(type)).join(", ")}) THEN
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
			${SPACE_BYTES}, ' ', 'g'),
			'[\u0080-\u00bf]', '', 'g');
	END IF;
	data := source::json;
	WITH r (place, name, rule, required) AS (
		SELECT all_rules.place, all_rules.name, all_rules.rule, all_rules.required
		FROM (VALUES
			${ROWS}
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
			WHERE k.name IN (${Object.keys(item).map(quoted).join(", ")})
			GROUP BY k.name HAVING count(*) > 1
			UNION ALL
			SELECT r.place, '/' || r.name, posthorn.value_fault(i.item -> r.name, r.rule)
			FROM (VALUES
				${ITEM_ROWS}
			) AS r (place, name, rule)
			WHERE json_typeof(i.item) = 'object'
		) AS f (place, path, fault)
	WHERE f.fault IS NOT NULL ORDER BY i.place, f.place LIMIT 1;
	RETURN fault;
END $$;
`;

/** The planner settings and `row_security` are those of the nodes' sessions. */
const AS_OWNER = `SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET row_security = off
	SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan`;

/** What `publish` accepts, in the catalogue's order. */
const TYPES: readonly string[] = EVENT_TYPES.map(({ type }) => type);

/** Maximum size of an event's data in bytes, unless `settings` has another. */
const MAX_EVENT_BYTES = 262_144;

/** How deep an event's data may nest: as in a call of the API, where the request is the 64th level. */
const MAX_NESTING = 63;

/** How far a store's time may be ahead of the database's. */
const MAX_AHEAD = "5 minutes";

/** Arguments have the collation of the store's columns, which PostgreSQL doesn't compare with ours unless one is chosen. */
const publishFunctions = String.raw`
CREATE OR REPLACE FUNCTION posthorn.publish(
	project_id text, type text, data json, id text DEFAULT NULL, created_at timestamptz DEFAULT NULL
) RETURNS text LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
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
	IF type COLLATE "C" NOT IN (${TYPES.map((type) => `'${type}'`).join(", ")}) THEN
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
	IF length(source) - length(translate(source, '[{', '')) > ${MAX_NESTING} THEN
		-- Without texts and everything else. Each turn removes the innermost level.
		brackets := translate(regexp_replace(source, '"(?:[^"\\]|\\.)*"|[^][{}"]+', '', 'g'), '{}', '[]');
		FOR level IN 1..${MAX_NESTING} LOOP
			EXIT WHEN brackets = '';
			brackets := replace(brackets, '[]', '');
		END LOOP;
		IF brackets <> '' THEN
			RAISE program_limit_exceeded USING MESSAGE = 'the event''s data nests deeper than ${MAX_NESTING} levels',
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
END $$;
`;

export const functions = rules + publishFunctions;

/** Appends what a transaction has published, when it commits: a trigger. */
export const appendPublished = `
CREATE OR REPLACE FUNCTION posthorn.append_published() RETURNS trigger LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
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
	PERFORM FROM unnest(projects) AS wanted (no) CROSS JOIN LATERAL (SELECT true ${lockedLog("wanted.no")}) held;
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
		UPDATE posthorn.logs l SET last_seq = l.last_seq + more.count, stretch = ${stretchOf("l.last_seq + more.count")}
		FROM (SELECT g.project_no, g.project_id, count(*) AS count FROM given g GROUP BY g.project_no, g.project_id) more
			CROSS JOIN LATERAL (SELECT ctid ${newestLog("more.project_no")}) held
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
END $$;
`;

/** What they need when they are created. */
export const eventTypes = `
INSERT INTO posthorn.event_types (name) VALUES ${TYPES.map((type) => `('${type}')`).join(", ")} ON CONFLICT DO NOTHING;
`;
