/**
 * The TypeBox builders that the API uses. They return plain JSON Schemas whose static types are TypeBox's; the package is
 * imported for its types only, because loading its hundreds of modules would slow every start.
 */
import type { Type as TypeBox } from "typebox";

type Schema = Readonly<Record<string, unknown>>;

/** Schemas of optional properties. */
const optional = new WeakSet<Schema>();

const scalar =
	(type: string) =>
	(options?: Schema): Schema => ({ type, ...options });

const builders = {
	Array: (items: Schema, options?: Schema): Schema => ({ type: "array", items, ...options }),
	Boolean: scalar("boolean"),
	Enum: (values: readonly string[], options?: Schema): Schema => ({ enum: values, ...options }),
	Integer: scalar("integer"),
	Null: scalar("null"),
	Number: scalar("number"),
	Object(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
		const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!));
		return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
	},
	Optional(schema: Schema): Schema {
		const copy = { ...schema };
		optional.add(copy);
		return copy;
	},
	/** Keys are always strings in JSON. */
	Record: (_key: Schema, value: Schema, options?: Schema): Schema => ({
		type: "object",
		patternProperties: { "^.*$": value },
		...options,
	}),
	String: scalar("string"),
	Union: (anyOf: readonly Schema[], options?: Schema): Schema => ({ anyOf, ...options }),
	Unknown: (options?: Schema): Schema => ({ ...options }),
};

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
