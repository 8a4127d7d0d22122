import type { IdKind } from "../base/ids.ts";
import { isId } from "../base/ids.ts";
import { invalid } from "./problem.ts";

/** Rows of a page. */
export const PAGE_LIMIT = { min: 1, max: 200, default: 50 } as const;

export interface PageQuery {
	readonly limit?: number;
	readonly cursor?: string;
}

export interface ListAnswer<T> {
	readonly data: T[];
	readonly next_cursor: string | null;
}

/** A cursor is opaque to clients: the place behind which the next page begins. */
export function encodeCursor(place: string): string {
	return Buffer.from(place).toString("base64url");
}

/** The place that a cursor names. Throws 422 for a cursor that `isPlace` does not know for one of this list. */
export function decodeCursor(cursor: string, isPlace: (place: string) => boolean): string {
	const place = Buffer.from(cursor, "base64url").toString();
	if (encodeCursor(place) === cursor && isPlace(place)) return place;
	throw invalid([{ pointer: "?cursor", detail: "must be the next_cursor of the page before, unchanged" }]);
}

/** A page of a list ordered by id: asks for one row more than is shown, to know whether others follow. */
export async function pageById<T, Shown>(
	kind: IdKind,
	query: PageQuery,
	read: (page: { limit: number; after?: string }) => Promise<T[]>,
	id: (row: T) => string,
	present: (row: T) => Shown,
): Promise<ListAnswer<Shown>> {
	const limit = query.limit ?? PAGE_LIMIT.default;
	const place = query.cursor === undefined ? {} : { after: decodeCursor(query.cursor, (text) => isId(kind, text)) };
	const rows = await read({ limit: limit + 1, ...place });
	const shown = rows.slice(0, limit);
	const last = shown.at(-1);
	return {
		data: shown.map(present),
		next_cursor: rows.length > limit && last !== undefined ? encodeCursor(id(last)) : null,
	};
}
