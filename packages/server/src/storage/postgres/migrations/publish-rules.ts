/**
 * The catalogue's requirements for data, generated from it: for the types whose data is checked, the rules of their JSON
 * Schemas, and those of `engine/publish/check.ts` for how values are written. Receivers read integers with a fraction or
 * an exponent, or beyond 2^53, and repeated fields differently.
 */
import { isDeepStrictEqual } from "node:util";
import { CURRENCIES, EVENT_TYPES, eventTypeEntry, type JsonSchema } from "@posthorn/protocol";

/** The characters that JavaScript's \s matches, for a bracket expression. */
const SPACE = String.raw`\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

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

export const rules = String.raw`
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
	data := regexp_replace(
		regexp_replace(source, '(?<!\\)((?:\\\\)*)\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}', '\1\\ufffd', 'g'),
		'(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][[:xdigit:]]{2})', '\1\\ufffd', 'g')::json;
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
