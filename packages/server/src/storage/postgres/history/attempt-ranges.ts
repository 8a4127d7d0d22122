/**
 * A filter's matches in the delivery log, as ranges of the index that fits the filter: one range per status and type, or
 * the few attempts of given events. Either their positions are found, by a statement that only has to read an index, or
 * their rows, in a second pass through the ranges.
 *
 * A statement sets up a scan of every day that its parameters don't exclude, for each of its steps, and ends it again.
 * With a month of days that takes longer than reading a page. So the newest two days are searched first. Rows are read at
 * positions with the first and last id among the parameters, but each of them costs a step through all days in between.
 *
 * Parameters: `$project`; `$statuses`; `$types`, NULL for every type in the log; `$from` and `$to`, the bounds of ids (see
 * {@link IdRange}); and `$limit`, how many attempts to find, or to scan. A scope and a filter by response have more.
 */
import { NO_RESPONSE, type Params, type ResponseFilter } from "../../port.ts";
import { type AttemptKind, type IdRange, statusesOf } from "../../shared/deliveries.ts";
import { findProject, findTypes, findWebhook, readsListsInOrder } from "../connection/names.ts";
import {
	idArray,
	type NamedValues,
	numberArray,
	type Row,
	type Session,
	type Statement,
	sql,
	textArray,
} from "../connection/session.ts";
import { findSeq } from "../log/log.ts";

/**
 * Whose attempts to find, which determines the ranges: all of the project's, those of `$webhooks`, or those of the events
 * `$seqs`. `eachEvent` is for servers that don't read lists in order.
 */
export type Scope = "project" | "webhooks" | "events" | "eachEvent";
type Order = "ASC" | "DESC";

export type ScopedStatement = Readonly<Record<Scope, Statement>>;

const forEachScope = (textFor: (scope: Scope) => string): ScopedStatement => ({
	project: sql(textFor("project")),
	webhooks: sql(textFor("webhooks")),
	events: sql(textFor("events")),
	eachEvent: sql(textFor("eachEvent")),
});

/**
 * The row of `attempts` for a row `entry` (status, type, id): the end of a SELECT. It uses bounds and an order instead of
 * equality, so that only `attempts_by_kind` fits.
 *
 * @param within bounds of all the ids, by parameters: days outside are excluded before the statement runs
 */
export const atEntry = (within = "") => `
	FROM posthorn.attempts
	WHERE project_no = $project AND status = entry.status AND type = entry.type AND id BETWEEN entry.id AND entry.id ${within}
	ORDER BY id LIMIT 1`;

/** Where an attempt is in the log of its project. */
export interface Position extends Row {
	readonly status: number;
	readonly type: number;
	readonly id: string;
}

/** Rows (status, type, id) of the positions that {@link readAt} is given. */
export const positionRows = `
	SELECT status, type, id COLLATE "C" AS id
	FROM unnest($statuses::smallint[], $types::integer[], $ids::text[]) AS found (status, type, id)`;
/** The bounds of their ids. */
export const WITHIN = "AND id >= $lowest AND id <= $highest";

/**
 * Rows `kind` (status, type) of the filter. If it has no types, those in the log are found one after the other in
 * `events_by_type`: an event stays as long as its attempts do.
 */
export const KINDS = `
	RECURSIVE known (type) AS (
		SELECT unnest(coalesce($types::integer[], '{0}'))
		UNION ALL
		SELECT next.type FROM known CROSS JOIN LATERAL (
			SELECT e.type FROM posthorn.events e
			WHERE e.project_no = $project AND (e.type, e.seq) > (known.type, ${Number.MAX_SAFE_INTEGER})
			ORDER BY e.type, e.seq LIMIT 1
		) next
		WHERE $types IS NULL
	), kind AS MATERIALIZED (
		SELECT status, type FROM unnest($statuses::smallint[]) AS status CROSS JOIN known WHERE type > 0
	)`;

/** The first `$limit` attempts `a` of each row `kind`; for the scope `webhooks`, those of each webhook. */
function ofKinds(scope: Scope, order: Order, columns: string, condition = ""): string {
	const isOfWebhooks = scope === "webhooks";
	return `
		kind ${isOfWebhooks ? "CROSS JOIN unnest($webhooks::bigint[]) AS owner (no)" : ""} CROSS JOIN LATERAL (
			SELECT ${columns} FROM posthorn.attempts
			WHERE project_no = $project AND status = kind.status AND type = kind.type AND id >= $from AND id < $to
				${isOfWebhooks ? "AND webhook_no = owner.no" : ""} ${condition}
			ORDER BY id ${order} LIMIT $limit
		) a`;
}

/** Attempts in the order of the primary key backwards, so that no other index is considered. */
const backwards = (condition: string) => `
	SELECT * FROM posthorn.attempts WHERE project_no = $project AND ${condition}
	ORDER BY seq DESC, webhook_no DESC, replay DESC, attempt DESC, id DESC`;

/**
 * Those of the events `$seqs`, newest first, as many as `most` unless null: one descent into the index of a day without
 * any. Since the limit isn't known to the planner, it expects to stop early, and prefers an index with this order to
 * sorting all that it expects of the project, however little that is.
 */
const ofEvents = (most: string, condition = "") =>
	`${backwards(`seq = ANY ($seqs::bigint[]) ${condition}`)} LIMIT ${most}::bigint`;

/**
 * The same by one descent for each event and day, for servers that don't read lists in order. Each descent has the limit,
 * too, for the same reason.
 */
const ofEachEvent = (most: string, condition = "") => `
	SELECT one.* FROM unnest($seqs::bigint[]) AS listed (no) CROSS JOIN LATERAL (
		${backwards(`seq = listed.no ${condition}`)} LIMIT ${most}::bigint
	) one LIMIT ${most}::bigint`;

/** A column of event scopes: whether a later attempt of the same delivery was read, too. */
export const HAS_LATER = "has_later";
export const isEventScope = (scope: Scope): boolean => scope === "events" || scope === "eachEvent";

/** The matches of an event scope: of webhooks `$webhooks` and among the first `$maxAttempts`, unless these are null. */
function matchesOfEvents(scope: Scope, columns: string, since: string): string {
	const attempts = (scope === "events" ? ofEvents : ofEachEvent)("$maxAttempts", `AND id >= ${since}`);
	// A later attempt of the same delivery is listed right before it.
	return `
		SELECT status, type, ${columns}, ${HAS_LATER} FROM (
			SELECT *,
				(lag(seq) OVER newest_first = seq AND lag(webhook_no) OVER newest_first = webhook_no) IS TRUE AS ${HAS_LATER}
			FROM (${attempts}) every
			WINDOW newest_first AS (ORDER BY seq DESC, webhook_no DESC, replay DESC, attempt DESC, id DESC)
		) a
		WHERE id >= $from AND id < $to AND status = ANY ($statuses::smallint[])
			AND ($types::integer[] IS NULL OR type = ANY ($types))
			AND ($webhooks::bigint[] IS NULL OR webhook_no = ANY ($webhooks))`;
}

interface Find {
	readonly order: Order;
	/** Columns to read, in addition to status and type. */
	readonly columns: string;
	/** The lowest id to read of an event scope, by default the filter's. */
	readonly since?: string;
}

/** A SELECT of matches in a single pass: the first `$limit` of each range. */
function inOnePass(scope: Scope, { order, columns, since = "$from" }: Find): string {
	if (isEventScope(scope)) return matchesOfEvents(scope, columns, since);
	return `WITH ${KINDS} SELECT kind.status, kind.type, a.* FROM ${ofKinds(scope, order, columns)}`;
}

/** A row `last` about the first `$limit` of these attempts: how many there are, and the last one's id. */
const lastOf = (order: Order, attempts: string) => `
	last AS MATERIALIZED (
		SELECT count(*) AS scanned, ${order === "ASC" ? "max" : "min"}(id) AS id
		FROM (${attempts} ORDER BY id ${order} LIMIT $limit) firsts
	)`;
const upToLast = (order: Order) => `id ${order === "ASC" ? "<=" : ">="} last.id`;

/** The same, but a first pass over ids finds the last of the first `$limit` of all ranges. Columns are read only up to it. */
function inTwoPasses(scope: Scope, find: Find): string {
	if (isEventScope(scope)) return inOnePass(scope, find);
	const { order, columns } = find;
	return `
		WITH ${KINDS}, ${lastOf(order, `SELECT a.id FROM ${ofKinds(scope, order, "id")}`)}
		SELECT kind.status, kind.type, a.*
		FROM last CROSS JOIN ${ofKinds(scope, order, columns, `AND ${upToLast(order)}`)}`;
}

/**
 * Whether an attempt's status code is in `$codes` or its error code in `$errors`, and its event's number above `$afterSeq`.
 * As a boolean test, so that no other index is considered.
 */
const FITS_RESPONSE = `
	(seq > $afterSeq::bigint AND (
		coalesce(status_code, ${NO_RESPONSE}) <@ $codes::int4multirange OR coalesce(error_code = ANY ($errors::text[]), false)
	)) IS TRUE`;

/**
 * The first `$most` that fit a filter by response, among the first `$limit`. Each row also has how many were scanned, and
 * the last one's id. If none fits, there is a single row that says only this.
 */
function byScanning(scope: Scope, { order, columns, since = "$from" }: Find): string {
	const [given, all, fitting] = isEventScope(scope)
		? [
				`found AS MATERIALIZED (${matchesOfEvents(scope, columns, since)})`,
				"SELECT id FROM found",
				`SELECT * FROM found WHERE ${upToLast(order)} AND ${FITS_RESPONSE}`,
			]
		: [
				KINDS,
				`SELECT a.id FROM ${ofKinds(scope, order, "id")}`,
				`SELECT kind.status, kind.type, a.*
				FROM ${ofKinds(scope, order, columns, `AND ${FITS_RESPONSE} AND ${upToLast(order)}`)}`,
			];
	return `
		WITH ${given}, ${lastOf(order, all)}
		SELECT last.scanned, last.id AS last_scanned, matching.* FROM last LEFT JOIN LATERAL (
			${fitting} ORDER BY id ${order} LIMIT $most
		) matching ON true`;
}

/**
 * How rows of matches are read, newest first. `whole` takes a single pass: for a filter with few ranges, or a range of ids
 * that contains no other matches. `scan` is for a filter by response.
 */
export interface RowStatements {
	readonly first: ScopedStatement;
	readonly whole: ScopedStatement;
	readonly scan: ScopedStatement;
}

/**
 * @param textFor makes a statement from a SELECT of matches, which has the columns `status`, `type` and `columns`. It must
 * keep the columns `kept` of these matches `a`
 */
export function rowStatements(
	{ columns, since }: { readonly columns: string; readonly since?: string },
	textFor: (matches: string, kept: string, scope: Scope) => string,
): RowStatements {
	const find: Find = { order: "DESC", columns: `id, ${columns}`, ...(since !== undefined && { since }) };
	const firstOf = (matches: string) => `SELECT * FROM (${matches}) m ORDER BY id DESC LIMIT $limit`;
	return {
		first: forEachScope((scope) => textFor(firstOf(inTwoPasses(scope, find)), "", scope)),
		whole: forEachScope((scope) => textFor(firstOf(inOnePass(scope, find)), "", scope)),
		scan: forEachScope((scope) => textFor(byScanning(scope, find), ", a.scanned, a.last_scanned", scope)),
	};
}

/** A filter's scope in a project, and its conditions as values of parameters. */
export interface Search {
	readonly projectNo: number;
	readonly scope: Scope;
	readonly values: NamedValues;
	/** How many ranges of an index match; infinite for every type, since a log's types aren't known here. */
	readonly rangeCount: number;
	/** How many attempts to scan for a filter by response; null for others. */
	readonly maxScanned: number | null;
}

/** A search by response: {@link scanMatches} runs it. */
export type Scan = Search & { readonly maxScanned: number };
export const isScan = (search: Search): search is Scan => search.maxScanned !== null;

/** Null if nothing can match. @param more values of further parameters */
export async function searchFor(
	c: Session,
	projectNo: number,
	kind: AttemptKind,
	more: NamedValues = {},
): Promise<Search | null> {
	const { webhookIds, types: names, eventId, maxAttempts = null, response } = kind;
	const [found, types, seq] = await Promise.all([
		webhookIds && Promise.all(webhookIds.map((id) => findWebhook(c, projectNo, id))),
		names && findTypes(c, names),
		eventId === undefined ? undefined : findSeq(c, projectNo, eventId),
	]);
	if (seq === null) return null;
	const statuses = statusesOf(kind);
	const webhooks = found?.flatMap((no) => no ?? []);
	const seqs = seq === undefined ? kind.seqs : (kind.seqs ?? [seq]).filter((no) => no === seq);
	if ([statuses, types, webhooks, seqs].some((list) => list?.length === 0)) return null;
	const conditions = {
		project: projectNo,
		statuses: numberArray(statuses),
		types: arrayOrNull(types),
		webhooks: arrayOrNull(webhooks),
		seqs: arrayOrNull(seqs),
		maxAttempts,
	};
	return {
		projectNo,
		scope: seqs === undefined ? (webhooks === undefined ? "project" : "webhooks") : await eventScope(c),
		values: { ...conditions, ...(response !== undefined && conditionsOf(response)), ...more },
		rangeCount: statuses.length * (types?.length ?? Number.POSITIVE_INFINITY) * (webhooks?.length ?? 1),
		maxScanned: response?.maxScanned ?? null,
	};
}

const arrayOrNull = (numbers: readonly number[] | undefined): string | null =>
	numbers === undefined ? null : numberArray([...new Set(numbers)]);

const eventScope = async (c: Session) => ((await readsListsInOrder(c)) ? "events" : "eachEvent");

/** The values for {@link FITS_RESPONSE}. */
const conditionsOf = ({ codes, errors = [], withoutTests = false }: ResponseFilter) => ({
	codes: `{${codes.map(({ from, to }) => `[${from},${to}]`).join(",")}}`,
	errors: textArray(errors),
	afterSeq: withoutTests ? 0 : Number.MIN_SAFE_INTEGER,
});

/** The first matches in this range. Further members of the range are values of parameters, too. */
export function readMatches<R extends Row>(
	c: Session,
	statement: ScopedStatement,
	{ scope, values }: Search,
	range: IdRange,
	limits: { readonly limit: number; readonly most?: number },
): Promise<R[]> {
	return c.rows<R>(statement[scope], { ...values, ...range, ...limits });
}

/** A match, with how many were scanned and the last one of these; or, if nothing matches, only that. */
interface Scanned extends Row {
	readonly id: string | null;
	readonly scanned: number;
	readonly last_scanned: string | null;
}

/** What was found in ranges that follow each other. */
export interface Found<R> {
	readonly rows: readonly R[];
	/** The stored id at which the search stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

/** The first `limit` matches in these ranges, by a statement of {@link byScanning}. */
export async function scanMatches(
	c: Session,
	statement: ScopedStatement,
	search: Scan,
	ranges: readonly IdRange[],
	limit: number,
): Promise<Found<Row>> {
	const rows: Row[] = [];
	let toScan = search.maxScanned;
	for (const range of ranges) {
		const read = await readMatches<Scanned>(c, statement, search, range, { limit: toScan, most: limit - rows.length });
		rows.push(...read.filter(({ id }) => id !== null));
		if (rows.length === limit) break;
		toScan -= read[0]!.scanned;
		if (toScan === 0) return { rows, end: read[0]!.last_scanned };
	}
	return { rows, end: null };
}

const first = (order: Order) =>
	forEachScope((scope) => {
		const matches = inOnePass(scope, { order, columns: "id" });
		return `SELECT status, type, id FROM (${matches}) m ORDER BY id ${order} LIMIT $limit`;
	});
const FIRST = { ASC: first("ASC"), DESC: first("DESC") };

const scan = (order: Order) =>
	forEachScope((scope) => {
		const matches = byScanning(scope, { order, columns: "id, seq, status_code, error_code" });
		return `SELECT status, type, id, scanned, last_scanned FROM (${matches}) a ORDER BY id ${order}`;
	});
const SCAN = { ASC: scan("ASC"), DESC: scan("DESC") };

/** The first `limit` matches in these ranges, which follow each other in this order. */
export async function findPositions(
	c: Session,
	order: Order,
	search: Search,
	ranges: readonly IdRange[],
	limit: number,
): Promise<Found<Position>> {
	if (isScan(search)) return (await scanMatches(c, SCAN[order], search, ranges, limit)) as Found<Position>;
	const rows: Position[] = [];
	for (const range of ranges) {
		rows.push(...(await readMatches<Position>(c, FIRST[order], search, range, { limit: limit - rows.length })));
		if (rows.length === limit) break;
	}
	return { rows, end: null };
}

const COUNT = forEachScope((scope) => {
	const matches = inOnePass(scope, { order: "DESC", columns: "id" });
	return `SELECT count(*) AS count FROM (SELECT FROM (${matches}) m LIMIT $limit) counted`;
});

/** How many attempts match, counted up to `limit`; for a filter without `response`. */
export async function countMatches(c: Session, search: Search, range: IdRange, limit: number): Promise<number> {
	const [row] = await readMatches<{ count: number }>(c, COUNT, search, range, { limit });
	return row!.count;
}

const beyond = (attempts: string) => sql(`SELECT seq FROM (${attempts}) a OFFSET $maxAttempts`);
const BEYOND = { list: beyond(ofEvents("$maxAttempts + 1")), each: beyond(ofEachEvent("$maxAttempts + 1")) };

export async function hasMoreAttempts(
	c: Session,
	{ projectId, seqs, maxAttempts }: Params<"hasMoreAttempts">,
): Promise<boolean> {
	const project = await findProject(c, projectId);
	if (project === null) return false;
	const statement = BEYOND[(await readsListsInOrder(c)) ? "list" : "each"];
	return (await c.row(statement, { project, seqs: numberArray(seqs), maxAttempts })) !== undefined;
}

/**
 * Runs a statement about the rows at {@link positionRows}.
 *
 * @param positions in the order of their ids, or in the opposite order
 */
export async function readAt<R extends Row = Row>(
	c: Session,
	statement: Statement,
	projectNo: number,
	positions: readonly Position[],
	more: NamedValues = {},
): Promise<R[]> {
	if (positions.length === 0) return [];
	const ids = positions.map(({ id }) => id);
	const [lowest, highest] = [ids[0]!, ids.at(-1)!].sort();
	return c.rows<R>(statement, {
		project: projectNo,
		statuses: numberArray(positions.map(({ status }) => status)),
		types: numberArray(positions.map(({ type }) => type)),
		ids: idArray(ids),
		lowest,
		highest,
		...more,
	});
}
