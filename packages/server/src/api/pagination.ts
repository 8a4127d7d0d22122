import type { IdKind } from "../base/ids.ts";
import { isId } from "../base/ids.ts";
import { invalid } from "./problem.ts";

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
