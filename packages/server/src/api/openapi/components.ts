/** A part of a JSON Schema. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Collects the schemas that have a title under that name, so that the document says each once. */
export class Components {
	readonly #schemas: Record<string, Json> = {};
	readonly #responses: Record<string, unknown> = {};

	/** The schema as it stands in the document: those with a title as references. */
	schema(schema: object): Json {
		return this.#place(JSON.parse(JSON.stringify(schema)) as Json);
	}

	/** A reference to an answer that many operations give, made at first use. */
	response(name: string, make: () => object): { $ref: string } {
		this.#responses[name] ??= make();
		return { $ref: `#/components/responses/${name}` };
	}

	toJSON(): { schemas: Record<string, Json>; responses: Record<string, unknown> } {
		return { schemas: this.#schemas, responses: this.#responses };
	}

	#place(schema: Json): Json {
		if (typeof schema !== "object" || schema === null) return schema;
		if (Array.isArray(schema)) return schema.map((item: Json) => this.#place(item));
		const members = schema as { readonly [name: string]: Json };
		const { title, ...rest } = members;
		// Among properties, `title` is a schema like the others.
		if (typeof title !== "string") return this.#members(members);
		this.#schemas[title] ??= this.#members(rest);
		return { $ref: `#/components/schemas/${title}` };
	}

	/** Examples hold data, in which a title is no name. */
	#members(schema: { readonly [name: string]: Json }): Json {
		return Object.fromEntries(
			Object.entries(schema).map(([name, value]) => [name, name === "examples" ? value : this.#place(value)]),
		);
	}
}
