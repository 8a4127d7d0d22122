import type { TSchema } from "typebox";
import { type IdKind, isId } from "../../base/ids.ts";
import type { Fault } from "../../base/text.ts";
import { invalid } from "./problem.ts";
import { faultsBySchema } from "./validate.ts";

/** The schemas that the query schemas here consist of. */
interface QuerySchema {
	readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}

export type QueryResult =
	| { readonly ok: true; readonly value: Record<string, unknown> }
	| { readonly ok: false; readonly faults: readonly Fault[] };

const WHOLE_NUMBER = /^-?\d{1,15}$/;

/**
 * Reads a route's query parameters by its schema. Text becomes a number only if it is written as a plain whole number;
 * a list may be repeated (`type=a&type=b`) or separated by commas; anything else may be given once. Unknown parameters
 * are faults. Pointers have the form `?name`.
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

/** Rows per page. */
export const PAGE_LIMIT = { min: 1, max: 200, default: 50 } as const;

export interface PageQuery {
	readonly limit?: number;
	readonly cursor?: string;
}

export interface ListAnswer<T> {
	readonly data: T[];
	readonly next_cursor: string | null;
}

/** The alphabet of cursors, as a JSON Schema pattern. */
export const CURSOR_PATTERN = "^[A-Za-z0-9_-]+$";

/** A cursor is opaque to clients: it encodes the position after which the next page begins. */
export function encodeCursor(position: string): string {
	return Buffer.from(position).toString("base64url");
}

/** Decodes a cursor. Throws 422 unless `isPosition` accepts the result as a position in this list. */
export function decodeCursor(cursor: string, isPosition: (position: string) => boolean): string {
	const position = Buffer.from(cursor, "base64url").toString();
	if (encodeCursor(position) === cursor && isPosition(position)) return position;
	throw invalid([{ pointer: "?cursor", detail: "must be the next_cursor from the previous page, unchanged" }]);
}

/** Reads a page of a list ordered by id, plus one row, which shows whether another page follows. */
export async function pageById<T, Shown>(
	kind: IdKind,
	query: PageQuery,
	read: (page: { limit: number; after?: string }) => Promise<T[]>,
	id: (row: T) => string,
	present: (row: T) => Shown,
): Promise<ListAnswer<Shown>> {
	const limit = query.limit ?? PAGE_LIMIT.default;
	const position = query.cursor === undefined ? {} : { after: decodeCursor(query.cursor, (text) => isId(kind, text)) };
	const rows = await read({ limit: limit + 1, ...position });
	const shown = rows.slice(0, limit);
	const last = shown.at(-1);
	return {
		data: shown.map(present),
		next_cursor: rows.length > limit && last !== undefined ? encodeCursor(id(last)) : null,
	};
}
