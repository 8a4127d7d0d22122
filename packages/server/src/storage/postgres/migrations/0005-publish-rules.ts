/**
 * The catalogue's requirements for data: for the two types whose data is checked, by the rules of their JSON Schemas.
 */

/** The characters that JavaScript's \s matches, for a bracket expression. */
const SPACE = String.raw`\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

export const rules = String.raw`
CREATE FUNCTION posthorn.value_fault(value json, rule text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
	kind CONSTANT text := json_typeof(value);
	content CONSTANT text COLLATE "C" := value #>> '{}';
	number double precision;
BEGIN
	IF rule IN ('boolean', 'array', 'object') THEN
		RETURN CASE WHEN kind <> rule THEN 'must be ' || rule END;
	END IF;
	IF kind = 'number' AND rule IN ('amount', 'quantity', 'product') THEN
		BEGIN
			number := content::double precision;
		EXCEPTION WHEN numeric_value_out_of_range THEN
			-- As JavaScript reads it: 0 where it is too small, which its first digit's place tells, else infinite.
			number := CASE
				WHEN coalesce(left(substring(content FROM '[eE](.+)'), 10)::bigint, 0) + CASE
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
		WHEN rule = 'product' AND number IS NULL AND kind <> 'string' THEN 'must be string or integer'
		WHEN rule = 'product' AND number <> floor(number) THEN 'must be string or integer'
		WHEN rule = 'amount' AND (number IS NULL OR number <> floor(number)) THEN 'must be integer'
		WHEN rule = 'amount' AND number < 0 THEN 'must be >= 0'
		WHEN rule IN ('quantity', 'product', 'amount') THEN NULL
		WHEN kind <> 'string' THEN 'must be string'
		WHEN rule = 'identifier' AND content = '' THEN 'must NOT have fewer than 1 characters'
		WHEN rule = 'email' AND char_length(content) > 320 THEN 'must NOT have more than 320 characters'
		WHEN rule = 'email' AND content !~ '^[^@${SPACE}]+@[^@${SPACE}]+$' THEN 'must be an e-mail address'
		WHEN rule = 'currency' AND content !~ '^[A-Z]{3}$' THEN 'must be three capital letters'
	END;
END $$;

CREATE FUNCTION posthorn.data_fault(type text, source text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
	data json;
	fault text;
BEGIN
	IF type NOT IN ('purchase.completed', 'purchase.refunded') THEN
		RETURN NULL;
	END IF;
	-- Escapes that PostgreSQL's text cannot hold stand for one character that no rule asks for.
	data := regexp_replace(
		regexp_replace(source, '(?<!\\)((?:\\\\)*)\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}', '\1\\ufffd', 'g'),
		'(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][[:xdigit:]]{2})', '\1\\ufffd', 'g')::json;
	SELECT f.path || ' ' || f.fault INTO fault
	FROM (
		SELECT r.place, '/data/' || r.name, CASE
			WHEN v.value IS NOT NULL THEN posthorn.value_fault(v.value, r.rule)
			WHEN r.required THEN 'is missing'
		END
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
		) AS r (type, place, name, rule, required) CROSS JOIN LATERAL (SELECT data -> r.name) AS v (value)
		WHERE r.type = data_fault.type
	) AS f (place, path, fault)
	WHERE f.fault IS NOT NULL ORDER BY f.place LIMIT 1;
	IF fault IS NOT NULL OR type <> 'purchase.completed' THEN
		RETURN fault;
	END IF;
	SELECT '/data/items/' || i.place - 1 || f.path || ' ' || f.fault INTO fault
	FROM json_array_elements(data -> 'items') WITH ORDINALITY AS i (item, place)
		CROSS JOIN LATERAL (VALUES
			(1, '', 'object'), (2, 'product_id', 'product'), (3, 'name', 'string'), (4, 'quantity', 'quantity'),
			(5, 'unit_amount_cents', 'amount')
		) AS r (place, name, rule)
		CROSS JOIN LATERAL (
			SELECT CASE WHEN r.name = '' THEN '' ELSE '/' || r.name END, CASE
				WHEN r.name = '' THEN posthorn.value_fault(i.item, r.rule)
				WHEN json_typeof(i.item) = 'object' THEN posthorn.value_fault(i.item -> r.name, r.rule)
			END
		) AS f (path, fault)
	WHERE f.fault IS NOT NULL ORDER BY i.place, r.place LIMIT 1;
	RETURN fault;
END $$;
`;
