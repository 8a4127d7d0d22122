/**
 * A filter's matches in the delivery log, as ranges of the index that fits it: one range per status and type, or the
 * few attempts of one event. The days of the log follow each other in the order of ids, so a range is read from its end
 * (or its beginning) only as far as needed.
 */
import { NO_RESPONSE, type ResponseFilter } from "../../port.ts";
import { type AttemptKind, type IdRange, statusesOf } from "../../shared/deliveries.ts";
import { findTypes, findWebhook } from "../connection/names.ts";
import type { Row, Session } from "../connection/session.ts";
import { idArray, numberArray, type Statement, sql, textArray } from "../connection/session.ts";
import { findEventPosition } from "../log/log.ts";

/** Whose attempts to find, which determines the ranges. "found": those that {@link SCANS} found. */
const SCOPES = ["project", "webhooks", "events", "found"] as const;
type Scope = (typeof SCOPES)[number];

/**
 * The row of `attempts` for a row `entry` (status, type, id) in the project $1: the end of a SELECT. It uses bounds and
 * an order instead of equality, so that only `attempts_by_kind` fits.
 */
export const AT_ENTRY = `
	FROM posthorn.attempts
	WHERE project_no = $1 AND status = entry.status AND type = entry.type AND id BETWEEN entry.id AND entry.id
	ORDER BY id LIMIT 1`;

/** A statement for each scope. */
export interface ScopedStatement {
	readonly order: "ASC" | "DESC";
	readonly of: Readonly<Record<Scope, Statement>>;
}

/**
 * Rows `kind` (status, type): the statuses $2 with the types $3, or if they are null with every type in the log of project
 * $1. Those types are found one after the other in `events_by_type`: an event stays as long as its attempts do.
 */
export const KINDS = `
	RECURSIVE known (type) AS (
		SELECT unnest(coalesce($3::integer[], '{0}'))
		UNION ALL
		SELECT next.type FROM known CROSS JOIN LATERAL (
			SELECT e.type FROM posthorn.events e
			WHERE e.project_no = $1 AND (e.type, e.seq) > (known.type, ${Number.MAX_SAFE_INTEGER})
			ORDER BY e.type, e.seq LIMIT 1
		) next
		WHERE $3 IS NULL
	), kind AS MATERIALIZED (
		SELECT status, type FROM unnest($2::smallint[]) AS status CROSS JOIN known WHERE type > 0
	)`;

/** @param owners rows to find attempts for, with the condition `more` */
const inKinds = (order: "ASC" | "DESC", owners: string, more: string) => `
	WITH ${KINDS}
	SELECT kind.status, kind.type, a.id FROM kind ${owners} CROSS JOIN LATERAL (
		SELECT id FROM posthorn.attempts
		WHERE project_no = $1 AND status = kind.status AND type = kind.type AND id >= $4 AND id < $5 ${more}
		ORDER BY id ${order} LIMIT $6
	) a`;

/**
 * Attempts of the events `seqs`, to the webhooks `webhooks` unless null. In the order of the primary key, with its
 * other columns at the end, so that no other index is considered.
 */
const ofEvents = (seqs: string, webhooks: string) => `
	SELECT a.status, a.type, a.id FROM unnest(${seqs}::bigint[]) AS event (seq) CROSS JOIN LATERAL (
		SELECT webhook_no, status, type, id FROM posthorn.attempts WHERE project_no = $1 AND seq = event.seq
		ORDER BY webhook_no, replay, attempt, id OFFSET 0
	) a
	WHERE a.status = ANY ($2::smallint[]) AND ($3::integer[] IS NULL OR a.type = ANY ($3)) AND a.id >= $4 AND a.id < $5
		AND (${webhooks}::bigint[] IS NULL OR a.webhook_no = ANY (${webhooks}))`;

/** The scope's own parameters start at `next`. */
function matching(scope: Scope, order: "ASC" | "DESC", next: number): string {
	switch (scope) {
		case "project":
			return inKinds(order, "", "");
		case "webhooks":
			return inKinds(order, `CROSS JOIN unnest($${next}::bigint[]) AS owner (no)`, "AND webhook_no = owner.no");
		case "events":
			return ofEvents(`$${next}`, `$${next + 1}`);
		case "found":
			return `
				SELECT status, type, id COLLATE "C" AS id
				FROM unnest($2::smallint[], $3::integer[], $4::text[]) AS found (status, type, id) WHERE id < $5`;
	}
}

/**
 * A statement about a filter's matches: `build` gets a SELECT of their (status, type, id), which contains the first $6
 * of them in this order, and maybe others. $1 is the project's number, $4 and $5 are the bounds of ids; the statement's
 * own parameters, `own` of them, start at $7.
 */
export function matchingStatement(
	order: "ASC" | "DESC",
	own: number,
	build: (attempts: string) => string,
): ScopedStatement {
	const statements = SCOPES.map((scope) => [scope, sql(build(matching(scope, order, 7 + own)))] as const);
	return { order, of: Object.fromEntries(statements) as Record<Scope, Statement> };
}

/**
 * Examines the first $6 attempts of the ranges, row by row, for those whose status code is in $7 or whose error code is
 * in $9. Returns the first $8 of them or, if there are fewer, also the last of the $6.
 */
const scan = (order: "ASC" | "DESC") =>
	matchingStatement(
		order,
		3,
		(attempts) => `
		SELECT status, type, id, matches, nth = $6 AS is_end FROM (
			SELECT entry.status, entry.type, entry.id, row_number() OVER (ORDER BY entry.id ${order}) AS nth,
				coalesce(a.status_code, ${NO_RESPONSE}) <@ $7::int4multirange
					OR coalesce(a.error_code = ANY ($9::text[]), false) AS matches
			FROM (SELECT status, type, id FROM (${attempts}) m ORDER BY id ${order} LIMIT $6) entry
			CROSS JOIN LATERAL (SELECT status_code, error_code ${AT_ENTRY}) a
		) scanned
		WHERE matches OR nth = $6
		ORDER BY id ${order} LIMIT $8`,
	);
const SCANS = { ASC: scan("ASC"), DESC: scan("DESC") };

type Scanned = {
	readonly status: number;
	readonly type: number;
	readonly id: string;
	readonly matches: boolean;
	readonly is_end: boolean;
};

/** The matches that a statement returned. */
export interface Matches<R> {
	readonly rows: R[];
	/** The stored id at which the search stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

/** The statement's result, or no rows if nothing can match. */
export async function queryMatching<R extends Row = Row>(
	c: Session,
	statement: ScopedStatement,
	projectNo: number,
	kind: AttemptKind,
	range: IdRange,
	limit: number,
	...own: readonly unknown[]
): Promise<Matches<R>> {
	if (kind.response === undefined)
		return { rows: await query<R>(c, statement, projectNo, kind, range, limit, own), end: null };
	const { rows, end } = await scanFor(c, statement.order, projectNo, kind, kind.response, range, limit);
	if (rows.length === 0) return { rows: [], end };
	const statuses = numberArray(rows.map(({ status }) => status));
	const types = numberArray(rows.map(({ type }) => type));
	const ids = idArray(rows.map(({ id }) => id));
	return { rows: await c.rows<R>(statement.of.found, projectNo, statuses, types, ids, range.to, limit, ...own), end };
}

/** The positions of the first matching attempts, `limit` at most. */
export async function scanFor(
	c: Session,
	order: "ASC" | "DESC",
	projectNo: number,
	kind: AttemptKind,
	{ codes, errors = [], maxScanned }: ResponseFilter,
	range: IdRange,
	limit: number,
): Promise<Matches<Scanned>> {
	const ranges = `{${codes.map(({ from, to }) => `[${from},${to}]`).join(",")}}`;
	const rows = await query<Scanned>(c, SCANS[order], projectNo, kind, range, maxScanned, [
		ranges,
		limit,
		textArray(errors),
	]);
	const last = rows.at(-1);
	return { rows: rows.filter(({ matches }) => matches), end: last?.is_end ? last.id : null };
}

async function query<R extends Row>(
	c: Session,
	statement: ScopedStatement,
	projectNo: number,
	kind: AttemptKind,
	range: IdRange,
	limit: number,
	own: readonly unknown[],
): Promise<R[]> {
	const statuses = statusesOf(kind);
	const found = statuses.length === 0 ? null : await scopeOf(c, projectNo, kind);
	if (found === null) return [];
	const { scope, types, more } = found;
	const { from, to } = range;
	return c.rows<R>(statement.of[scope], projectNo, numberArray(statuses), types, from, to, limit, ...own, ...more);
}

/** The scope of a filter, with its types and other conditions; null if nothing can match. */
async function scopeOf(
	c: Session,
	projectNo: number,
	kind: AttemptKind,
): Promise<{ readonly scope: Scope; readonly types: string | null; readonly more: readonly (string | null)[] } | null> {
	const { webhookIds, types: names, eventId } = kind;
	const [webhooks, codes, event] = await Promise.all([
		webhookIds && Promise.all(webhookIds.map((id) => findWebhook(c, projectNo, id))),
		names && findTypes(c, names),
		eventId === undefined ? undefined : findEventPosition(c, projectNo, eventId),
	]);
	const known = webhooks && [...new Set(webhooks.filter((no) => no !== null))];
	if (known?.length === 0 || codes?.length === 0 || event === null) return null;
	const types = codes === undefined ? null : numberArray([...new Set(codes)]);
	const seqs = event === undefined ? kind.seqs : (kind.seqs ?? [event.seq]).filter((seq) => seq === event.seq);
	if (seqs?.length === 0) return null;
	const owners = known === undefined ? null : numberArray(known);
	if (seqs !== undefined) return { scope: "events", types, more: [numberArray(seqs), owners] };
	return owners === null ? { scope: "project", types, more: [] } : { scope: "webhooks", types, more: [owners] };
}
