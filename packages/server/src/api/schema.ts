/**
 * The TypeBox builders that the API uses. They return plain JSON Schemas whose static types are TypeBox's; the package is
 * imported for its types only, because loading its hundreds of modules would slow every start.
 */

import { EVENT_TYPES, NAME_DETAIL, NAME_LENGTH, NAME_PATTERN } from "@posthorn/protocol";
import type { Static, TSchema, Type as TypeBox } from "typebox";
import { EVENT_ID, ID_PREFIX, type IdKind, idPattern, isId } from "../base/ids.ts";
import { TEXT_PATTERN } from "../base/text.ts";
import type { Page } from "../storage/port.ts";
import { invalid } from "./http/problem.ts";
import { TIME_PATTERN } from "./http/validate.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Schemas of optional properties. */
const optionals = new WeakSet<Schema>();

const scalar =
	(type: string) =>
	(options?: Schema): Schema => ({ type, ...options });

const builders = {
	Array: (items: Schema, options?: Schema): Schema => ({ type: "array", items, ...options }),
	Boolean: scalar("boolean"),
	Enum: (values: readonly string[], options?: Schema): Schema => ({ enum: values, type: "string", ...options }),
	Integer: scalar("integer"),
	Null: scalar("null"),
	Number: scalar("number"),
	Object(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
		const required = Object.keys(properties).filter((name) => !optionals.has(properties[name]!));
		return { type: "object", ...(required.length > 0 && { required }), properties, ...options };
	},
	Optional(schema: Schema): Schema {
		const copy = { ...schema };
		optionals.add(copy);
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

/** The maximum number of rows of a page. */
export const MAX_ROWS = 200;

export type PageQuery = Static<typeof PageQuerySchema>;

export interface ListPage<T> {
	readonly data: T[];
	readonly next_cursor: string | null;
}

/** The alphabet of cursors, as a JSON Schema pattern. */
const CURSOR_PATTERN = "^[A-Za-z0-9_-]+$";

/** A cursor is opaque to clients: it encodes the position after which the next page begins. */
export function encodeCursor(position: string): string {
	return Buffer.from(position).toString("base64url");
}

/**
 * Decodes a cursor. Throws 422 unless `isPosition` accepts the result as a position in this list.
 * @param pointer where the cursor was given
 */
export function decodeCursor(cursor: string, isPosition: (position: string) => boolean, pointer = "?cursor"): string {
	const position = Buffer.from(cursor, "base64url").toString();
	if (encodeCursor(position) === cursor && isPosition(position)) return position;
	throw invalid([{ pointer, detail: "must be the next_cursor from the previous page, unchanged" }]);
}

/** The parts of the position in a cursor, as the pattern's groups. Throws 422 unless it matches. */
export function cursorParts(cursor: string, pattern: RegExp): (string | undefined)[] {
	const position = decodeCursor(cursor, (text) => pattern.test(text));
	return pattern.exec(position)!.slice(1);
}

/** Reads a page of a list ordered by id, plus one row, which shows whether another page follows. */
export async function pageById<T, Shown>(
	kind: IdKind,
	query: PageQuery,
	read: (page: Page) => Promise<T[]>,
	present: (row: T) => Shown,
	idOf: (shown: Shown) => string = (shown) => (shown as { readonly id: string }).id,
): Promise<ListPage<Shown>> {
	const { limit, cursor } = query;
	const after = cursor === undefined ? undefined : decodeCursor(cursor, (text) => isId(kind, text));
	const rows = await read({ limit: limit + 1, after });
	const data = rows.slice(0, limit).map(present);
	const last = data.at(-1);
	return { data, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(idOf(last)) : null };
}

type Properties = Parameters<typeof Type.Object>[0];

/** An object that the document lists under this name. */
export const component =
	(title: string, options?: Schema) =>
	<P extends Properties>(properties: P) =>
		Type.Object(properties, { ...options, title });

/** In requests, unknown properties are errors. */
const closed = { additionalProperties: false } as const;

export const strictObject = <P extends Properties>(properties: P, options?: Schema) =>
	Type.Object(properties, { ...closed, ...options });

/** A component for a request's body. */
export const request = (title: string, options?: Schema) => component(title, { ...closed, ...options });

export const orNull = <T extends TSchema>(schema: T, description?: string) =>
	Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** Properties that may be missing. */
export const optional = <P extends Properties>(properties: P) =>
	Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)])) as {
		[Name in keyof P]: ReturnType<typeof Type.Optional<P[Name]>>;
	};

export const count = (description?: string) =>
	Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

/** Text without control characters. */
export const text = {
	pattern: TEXT_PATTERN,
	errorMessage: "must not contain control characters, such as line breaks or tabs",
} as const;

export const Time = Type.String({
	format: "date-time",
	description: "ISO 8601 in UTC with milliseconds.",
	examples: ["2026-11-21T03:47:36.123Z"],
});

export const TimeOrNull = orNull(Time);

/** A time in a request. */
export const givenTime = (description: string) =>
	Type.String({
		format: "date-time",
		pattern: TIME_PATTERN,
		description: `${description} ISO 8601 with its zone, in the years 0000 to 9999 (UTC).`,
		errorMessage: "must be an ISO 8601 time with its zone, such as 2026-11-21T03:47:36.123Z",
	});

export const EventTypeName = Type.Enum(
	EVENT_TYPES.map(({ type }) => type),
	{ title: "EventType", description: "The name of an event type.", examples: ["purchase.completed"] },
);

/** @param what it identifies, in words */
export const id = (kind: IdKind, what: string = kind) =>
	Type.String({
		pattern: idPattern(kind),
		description: `The ${what}'s identifier.`,
		examples: [`${ID_PREFIX[kind]}_01kbjh6mrxe3q8z1v2t4w5y6a7`],
	});

export const EventId = Type.String({
	pattern: EVENT_ID.source,
	description: "The event's identifier. Receivers deduplicate by it.",
	examples: ["evt_01kbjh6mrxe3q8z1v2t4w5y6a7"],
});

/** Text that is shown within sentences. */
export const nameText = { pattern: NAME_PATTERN, errorMessage: NAME_DETAIL } as const;

/** An identifier to search for. An unknown one finds nothing. */
export const soughtId = (description: string) => Type.String({ maxLength: 100, ...text, description });

export const Name = Type.String({ description: "A display name.", examples: ["My store"] });

/** A name in a request. Stored ones may be older than its rules. */
export const NewName = Type.String({
	minLength: NAME_LENGTH.min,
	maxLength: NAME_LENGTH.max,
	...nameText,
	description:
		"A display name with a visible character, without control characters and those that change the direction of text. It is stored without the white space around it.",
	examples: ["My store"],
});

export const NextCursor = orNull(Type.String(), "Pass it as `cursor` to get the next page; null on the last page.");

/** A list whose pages have further properties. */
export const listWith = <T extends ReturnType<typeof Type.Object>, More extends Readonly<Record<string, TSchema>>>(
	item: T,
	more: More,
) => Type.Object({ data: Type.Array(item), next_cursor: NextCursor, ...more });

export const list = <T extends ReturnType<typeof Type.Object>>(item: T) => listWith(item, {});

/** A list without pages, as a component. */
export const wholeList = <T extends TSchema>(title: string, item: T) => component(title)({ data: Type.Array(item) });

export const Limit = Type.Integer({
	minimum: 1,
	maximum: MAX_ROWS,
	default: 50,
	description: "Rows per page.",
});

/** @param from what returned the cursor */
export const cursor = (from: string) =>
	Type.String({
		maxLength: 200,
		pattern: CURSOR_PATTERN,
		description: `The \`next_cursor\` from ${from}, unchanged; anything else is refused.`,
		errorMessage: `must be the next_cursor from ${from}, unchanged`,
	});

/** The parameters of a list that is read in pages. */
export const paging = { limit: Limit, cursor: Type.Optional(cursor("the previous page")) };

export const PageQuerySchema = strictObject(paging);
