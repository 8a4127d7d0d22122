/** A part of a JSON Schema. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Collects the schemas that have a title under that name, so that each is in the document once. */
export class Components {
	readonly #schemas: Record<string, Json> = {};
	readonly #responses: Record<string, unknown> = {};

	/** The schema as the document has it, with references to those that have a title. */
	schema(schema: object): Json {
		return this.#resolve(JSON.parse(JSON.stringify(schema)) as Json);
	}

	/** A reference to a response that many operations share, created at first use. */
	response(name: string, make: () => object): { $ref: string } {
		this.#responses[name] ??= make();
		return { $ref: `#/components/responses/${name}` };
	}

	toJSON(): { schemas: Record<string, Json>; responses: Record<string, unknown> } {
		return { schemas: this.#schemas, responses: this.#responses };
	}

	#resolve(schema: Json): Json {
		if (typeof schema !== "object" || schema === null) return schema;
		if (Array.isArray(schema)) return schema.map((item: Json) => this.#resolve(item));
		const members = schema as { readonly [name: string]: Json };
		const { title, ...rest } = members;
		// In `properties`, `title` is a schema like the others.
		if (typeof title !== "string") return this.#members(members);
		this.#schemas[title] ??= this.#members(rest);
		return { $ref: `#/components/schemas/${title}` };
	}

	/** Examples hold data, in which a title isn't a schema's name. Messages for people aren't part of the document. */
	#members(schema: { readonly [name: string]: Json }): Json {
		return Object.fromEntries(
			Object.entries(schema)
				.filter(([name]) => name !== "errorMessage")
				.map(([name, value]) => [name, name === "examples" ? value : this.#resolve(value)]),
		);
	}
}
