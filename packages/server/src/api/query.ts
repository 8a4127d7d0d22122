import type { TSchema } from "typebox";
import type { Fault } from "../registry/index.ts";
import { faultsBySchema } from "./validate.ts";

/** What the query schemas here are made of. */
interface QuerySchema {
	readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

export type QueryResult =
	| { readonly ok: true; readonly value: Record<string, unknown> }
	| { readonly ok: false; readonly faults: readonly Fault[] };

const WHOLE_NUMBER = /^-?\d{1,15}$/;

/**
 * The query parameters of a route as its schema says. Text is turned into a number only where it is written as a plain
 * whole number; a list may be given repeated (`type=a&type=b`) or separated by commas; anything else may be given once.
 * Unknown parameters are faults. Pointers are written `?name`.
 */
export function readQuery(schema: TSchema | undefined, raw: Readonly<Record<string, unknown>>): QueryResult {
	const properties = (schema as QuerySchema | undefined)?.properties ?? {};
	const value: Record<string, unknown> = {};
	const faults: Fault[] = [];
	for (const [name, given] of Object.entries(raw)) {
		const type = Object.hasOwn(properties, name) ? properties[name]?.type : null;
		const texts = (Array.isArray(given) ? given : [given]).map(String);
		const pointer = `?${name.slice(0, 200).toWellFormed()}`;
		if (type === null) faults.push({ pointer, detail: "is not a parameter of this route" });
		else if (type === "array") value[name] = texts.flatMap((text) => text.split(","));
		else if (texts.length > 1) faults.push({ pointer, detail: "must be given only once" });
		else if (type !== "integer") value[name] = texts[0];
		else if (WHOLE_NUMBER.test(texts[0]!)) value[name] = Number(texts[0]);
		else faults.push({ pointer, detail: "must be a whole number" });
	}
	if (schema) {
		const found = faultsBySchema(schema, value).map(({ pointer, detail }) => ({
			pointer: `?${pointer.split("/")[1] ?? ""}`,
			detail,
		}));
		faults.push(...found.filter(({ pointer }) => !faults.some((fault) => fault.pointer === pointer)));
	}
	return faults.length > 0 ? { ok: false, faults } : { ok: true, value };
}
