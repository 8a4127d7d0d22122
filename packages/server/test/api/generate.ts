import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { parseTime } from "../../src/api/http/validate.ts";

/** The keywords of JSON Schema that the API's document uses. */
export interface Schema {
	readonly $ref?: string;
	readonly type?: string;
	readonly examples?: readonly unknown[];
	readonly const?: unknown;
	readonly enum?: readonly unknown[];
	readonly anyOf?: readonly Schema[];
	readonly oneOf?: readonly Schema[];
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	readonly items?: Schema;
	readonly minItems?: number;
	readonly maxItems?: number;
	readonly uniqueItems?: boolean;
	readonly pattern?: string;
	readonly format?: string;
	readonly minLength?: number;
	readonly maxLength?: number;
	readonly minimum?: number;
	readonly exclusiveMinimum?: number;
	readonly maximum?: number;
}

/** Most lists and texts are short: their limits have tests of their own. */
const MAX_ITEMS = 4;
const MAX_TEXT = 30;

/** Generates values that are valid by the schemas of an OpenAPI document. */
export class Generator {
	readonly #document: object;
	readonly #ajv = new Ajv2020({ strict: false });

	constructor(document: object) {
		this.#document = document;
		this.#ajv.addFormat("date-time", (text: string) => parseTime(text) !== null);
		this.#ajv.addFormat("uri", (text: string) => URL.canParse(text));
		this.#ajv.addSchema({ ...document }, "api");
	}

	valid(schema: Schema): fc.Arbitrary<unknown> {
		const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/');
		const isValid = this.#ajv.compile(JSON.parse(text));
		return this.#value(schema).filter((value) => isValid(value));
	}

	/** The first example of a schema. An object without one consists of its required properties' examples. */
	example(schema: Schema): unknown {
		if (schema.$ref !== undefined) return this.example(this.#resolve(schema.$ref));
		const { examples, properties = {}, required = [] } = schema;
		if (examples) return examples[0];
		if (schema.enum) return schema.enum[0];
		const [alternative] = alternativesOf(schema);
		if (alternative) return this.example(alternative);
		if (schema.items) return [this.example(schema.items)];
		return Object.fromEntries(required.map((name) => [name, this.example(properties[name]!)]));
	}

	#value(schema: Schema): fc.Arbitrary<unknown> {
		if (schema.$ref !== undefined) return this.#value(this.#resolve(schema.$ref));
		if ("const" in schema) return fc.constant(schema.const);
		if (schema.enum) return fc.constantFrom(...schema.enum);
		const alternatives = alternativesOf(schema);
		if (alternatives.length > 0) return fc.oneof(...alternatives.map((each) => this.#value(each)));
		switch (schema.type) {
			case "object":
				return this.#object(schema);
			case "array":
				return this.#array(schema);
			case "string":
				return stringOf(schema);
			case "integer":
				return fc.integer({
					min: schema.minimum ?? Number.MIN_SAFE_INTEGER,
					max: schema.maximum ?? Number.MAX_SAFE_INTEGER,
				});
			case "number":
				return fc.double({ min: schema.exclusiveMinimum ?? schema.minimum ?? -1e9, max: 1e9, noNaN: true });
			case "boolean":
				return fc.boolean();
			case "null":
				return fc.constant(null);
			default:
				return fc.jsonValue({ maxDepth: 2 });
		}
	}

	#object({ properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
		const values = Object.fromEntries(
			Object.entries(properties).map(([name, property]) => [name, this.#value(property)]),
		);
		return fc.record(values, { requiredKeys: [...required] });
	}

	#array({ items = {}, minItems = 0, maxItems = MAX_ITEMS, uniqueItems = false }: Schema): fc.Arbitrary<unknown> {
		const limits = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, MAX_ITEMS)) };
		const item = this.#value(items);
		return uniqueItems ? fc.uniqueArray(item, limits) : fc.array(item, limits);
	}

	#resolve(reference: string): Schema {
		const parts = reference.slice(2).split("/");
		return parts.reduce((part: unknown, name) => (part as Record<string, unknown>)[name], this.#document) as Schema;
	}
}

/** The schemas of which a value matches one. Next to a type, `oneOf` only restricts what the rest of the schema says. */
function alternativesOf({ anyOf, oneOf, type }: Schema): readonly Schema[] {
	return anyOf ?? (type === undefined ? oneOf : undefined) ?? [];
}

function stringOf({ format, pattern, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
	if (format === "uri") return fc.webUrl({ validSchemes: ["https"], withQueryParameters: true });
	if (format === "date-time") return time;
	const longest = Math.max(minLength, Math.min(maxLength ?? MAX_TEXT, MAX_TEXT));
	if (pattern === undefined) return fc.string({ unit: "binary", minLength, maxLength: longest });
	// Without a maximum, the pattern itself gives the length.
	return fc.stringMatching(new RegExp(pattern, "u"), { ...(maxLength !== undefined && { maxLength: longest }) });
}

const time = fc
	.tuple(
		fc.date({ min: new Date("0000-01-02T00:00:00Z"), max: new Date("9999-12-30T00:00:00Z"), noInvalidDate: true }),
		fc.constantFrom("Z", "+00:00", "-23:59", "+14:00"),
	)
	.map(([date, zone]) => date.toISOString().replace("Z", zone));
