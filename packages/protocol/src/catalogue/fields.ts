import type { JsonSchema } from "./entry.ts";

/** An identifier assigned by the store platform. */
export function identifier(description: string): JsonSchema {
	return { type: "string", minLength: 1, description };
}

/**
 * An e-mail address: something, `@`, something, without spaces. The length is RFC 5321's 64 + 1 + 255. The pattern
 * cannot backtrack, since the text before and after `@` excludes it.
 */
export const customerEmail: JsonSchema = {
	type: "string",
	maxLength: 320,
	pattern: "^[^\\s@]+@[^\\s@]+$",
	description: "The buyer's e-mail address.",
};

/** An amount of money in the currency's minor units, never negative. */
export function amountCents(description: string): JsonSchema {
	return { type: "integer", minimum: 0, description };
}

export const currency: JsonSchema = {
	type: "string",
	pattern: "^[A-Z]{3}$",
	description: "The currency code of three capital letters (ISO 4217).",
};

/** A list of items. Each is an object; the fields named here are optional, others may be added. */
export function items(description: string): JsonSchema {
	return {
		type: "array",
		description,
		items: {
			type: "object",
			properties: {
				product_id: {
					anyOf: [{ type: "string" }, { type: "integer" }],
					description: "The product's identifier in the store.",
				},
				name: { type: "string", description: "The product's name as the buyer saw it." },
				quantity: { type: "number", exclusiveMinimum: 0, description: "The quantity." },
				unit_amount_cents: amountCents("The unit price, in minor currency units."),
			},
		},
	};
}
