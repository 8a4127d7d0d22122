/**
 * A filter's matches in the delivery log, as ranges of the index that fits the filter: one range per status and type, or
 * the few attempts of given events. Either their positions are found, by a statement that only has to read an index, or
 * their rows, in a second pass through the ranges.
 *
 * A statement sets up a scan of every day that its parameters don't exclude, for each of its steps, and ends it again.
 * With a month of days that takes longer than reading a page. So the newest two days are searched first. Rows are read at
 * positions with the first and last id among the parameters, but each of them costs a step through all days in between.
 */
import { NO_RESPONSE, type Params, type ResponseFilter } from "../../port.ts";
import { type AttemptKind, type IdRange, statusesOf } from "../../shared/deliveries.ts";
import {
	findProject,
	findTypes,
	findWebhook,
	idArray,
	numberArray,
	type Row,
	readsListsInOrder,
	type Session,
	type Statement,
	sql,
	textArray,
} from "../connection/session.ts";
import { findSeq } from "../log/log.ts";

/** Whose attempts to find, which determines the ranges. `eachEvent`: those of events, if lists aren't read in order. */
type Scope = "project" | "webhooks" | "events" | "eachEvent";
type Order = "ASC" | "DESC";

/** A statement for each scope. */
export type ScopedStatement = Readonly<Record<Scope, Statement>>;

/**
 * The row of `attempts` for a row `entry` (status, type, id) in the project $1: the end of a SELECT. It uses bounds and
 * an order instead of equality, so that only `attempts_by_kind` fits.
 *
 * @param within bounds of all the ids, by parameters: days outside are excluded before the statement runs
 */
export const atEntry = (within = "") => `
	FROM posthorn.attempts
	WHERE project_no = $1 AND status = entry.status AND type = entry.type AND id BETWEEN entry.id AND entry.id ${within}
	ORDER BY id LIMIT 1`;

/** Where an attempt is in the log of its project. */
export interface Position extends Row {
	readonly status: number;
	readonly type: number;
	readonly id: string;
}

/** Rows (status, type, id) of positions, which are the parameters $2, $3 and $4 of {@link readAt}. */
export const positionRows = `
	SELECT status, type, id COLLATE "C" AS id
	FROM unnest($2::smallint[], $3::integer[], $4::text[]) AS found (status, type, id)`;
/** The bounds of their ids. */
export const WITHIN = "AND id >= $5 AND id <= $6";

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

/** The first $6 attempts of a row `kind` in this order. */
const ofKind = (order: Order, columns: string, more: string) => `
	SELECT ${columns} FROM posthorn.attempts
	WHERE project_no = $1 AND status = kind.status AND type = kind.type AND id >= $4 AND id < $5 ${more}
	ORDER BY id ${order} LIMIT $6`;

/** How to find a filter's matches among rows `kind`, or among the few attempts of given events. */
interface Find {
	/** @param owners rows to find attempts for, with the condition `more` */
	readonly kinds: (order: Order, owners: string, more: string, columns: string) => string;
	readonly few: (order: Order, attempts: string) => string;
}

/** In a single pass. */
const ONCE: Find = {
	kinds: (order, owners, more, columns) => `
		WITH ${KINDS}
		SELECT kind.status, kind.type, a.* FROM kind ${owners} CROSS JOIN LATERAL (${ofKind(order, columns, more)}) a`,
	few: (_, attempts) => attempts,
};

/** A row `last` about the first $6 of these attempts: how many there are, and the last one's id. */
const lastOf = (order: Order, attempts: string) => `
	last AS MATERIALIZED (
		SELECT count(*) AS scanned, ${order === "ASC" ? "max" : "min"}(id) AS id
		FROM (${attempts} ORDER BY id ${order} LIMIT $6) firsts
	)`;
const lastOfKinds = (order: Order, owners: string, more: string) =>
	lastOf(order, `SELECT a.id FROM kind ${owners} CROSS JOIN LATERAL (${ofKind(order, "id", more)}) a`);

/** The attempts up to this row. */
const firstOfKinds = (order: Order, owners: string, more: string, columns: string) => `
	kind ${owners} CROSS JOIN LATERAL (
		${ofKind(order, columns, `${more} AND id ${order === "ASC" ? "<=" : ">="} last.id`)}
	) a`;

/** The same, but columns outside the index are read only for the first $6 of all: a first pass finds the last of these. */
const TWICE: Find = {
	kinds: (order, owners, more, columns) => `
		WITH ${KINDS}, ${lastOfKinds(order, owners, more)}
		SELECT kind.status, kind.type, a.* FROM last CROSS JOIN ${firstOfKinds(order, owners, more, columns)}`,
	few: ONCE.few,
};

/**
 * Whether an attempt's status code is in $7 or its error code in $9, and its event's number above $10. As a boolean test,
 * so that no other index is considered.
 */
const MATCHES = `
	(seq > $10::bigint AND (
		coalesce(status_code, ${NO_RESPONSE}) <@ $7::int4multirange OR coalesce(error_code = ANY ($9::text[]), false)
	)) IS TRUE`;
/** How many parameters it takes, with the limit $8. */
const CONDITIONS = 4;

/** @param attempts those up to the row `last` that match */
const matchingRows = (order: Order, attempts: string) => `
	SELECT last.scanned, last.id AS last_scanned, matching.* FROM last LEFT JOIN LATERAL (
		${attempts} ORDER BY id ${order} LIMIT $8
	) matching ON true`;

/**
 * The first $8 that match among the first $6. Each row also says how many were scanned, and the last one's id. If none
 * matches, there is a single row that says only this.
 */
const SCAN: Find = {
	kinds: (order, owners, more, columns) => `
		WITH ${KINDS}, ${lastOfKinds(order, owners, more)}
		${matchingRows(
			order,
			`SELECT kind.status, kind.type, a.* FROM ${firstOfKinds(order, owners, `${more} AND ${MATCHES}`, columns)}`,
		)}`,
	few: (order, attempts) => `
		WITH found AS MATERIALIZED (${attempts}), ${lastOf(order, "SELECT id FROM found")}
		${matchingRows(order, `SELECT * FROM found WHERE id ${order === "ASC" ? "<=" : ">="} last.id AND ${MATCHES}`)}`,
};

/** Attempts in the order of the primary key backwards, so that no other index is considered. */
const backwards = (condition: string) => `
	SELECT * FROM posthorn.attempts WHERE project_no = $1 AND ${condition}
	ORDER BY seq DESC, webhook_no DESC, replay DESC, attempt DESC, id DESC`;

/**
 * Those of the events `seqs`, newest first, as many as `most` unless null: one descent into the index of a day without
 * any. Since the limit isn't known to the planner, it expects to stop early, and prefers an index with this order to
 * sorting all that it expects of the project, however little that is.
 */
const ofEvents = (seqs: string, most: string, condition = "") =>
	`${backwards(`seq = ANY (${seqs}::bigint[]) ${condition}`)} LIMIT ${most}::bigint`;

/** The same by one descent for each event and day, for servers that don't read lists in order. */
const ofEachEvent = (seqs: string, most: string, condition = "") => `
	SELECT one.* FROM unnest(${seqs}::bigint[]) AS listed (no) CROSS JOIN LATERAL (
		${backwards(`seq = listed.no ${condition}`)}
	) one LIMIT ${most}::bigint`;

/** The same attempts, each with whether a later one of its delivery is among them: those are listed before it. */
const withLater = (attempts: string) => `
	SELECT *, (lag(seq) OVER newest_first = seq AND lag(webhook_no) OVER newest_first = webhook_no) IS TRUE AS ${HAS_LATER}
	FROM (${attempts}) every
	WINDOW newest_first AS (ORDER BY seq DESC, webhook_no DESC, replay DESC, attempt DESC, id DESC)`;
export const HAS_LATER = "has_later";

/** Those of these attempts that match the filter, whose webhooks are `webhooks` unless null. */
const matchesOf = (attempts: string, webhooks: string, columns: string) => `
	SELECT status, type, ${columns} FROM (${attempts}) a
	WHERE id >= $4 AND id < $5 AND status = ANY ($2::smallint[]) AND ($3::integer[] IS NULL OR type = ANY ($3))
		AND (${webhooks}::bigint[] IS NULL OR webhook_no = ANY (${webhooks}))`;

/** @param hasLater whether the attempts have {@link HAS_LATER} */
type Build = (attempts: string, hasLater: boolean) => string;

/**
 * A statement for each scope about a filter's matches: `build` gets a SELECT of their (status, type, id), which contains
 * the first $6 of them in this order, and maybe others. $1 is the project's number, $4 and $5 are the bounds of ids; the
 * statement's own parameters, `own` of them, start at $7, and the scope's after them.
 *
 * @param more what `build` needs of their rows in addition
 * @param since the lowest id of what may have followed them
 */
function matchingStatement(
	order: Order,
	own: number,
	build: Build,
	more = "",
	find = ONCE,
	since = "$4",
): ScopedStatement {
	const columns = `id${more && `, ${more}`}`;
	const kinds = (owners: string, condition: string) => sql(build(find.kinds(order, owners, condition, columns), false));
	const few = (attempts: string, webhooks: string) =>
		sql(build(find.few(order, matchesOf(withLater(attempts), webhooks, `${columns}, ${HAS_LATER}`)), true));
	const [one, two, three] = [`$${7 + own}`, `$${8 + own}`, `$${9 + own}`];
	return {
		project: kinds("", ""),
		webhooks: kinds(`CROSS JOIN unnest(${one}::bigint[]) AS owner (no)`, "AND webhook_no = owner.no"),
		events: few(ofEvents(one, three, `AND id >= ${since}`), two),
		eachEvent: few(ofEachEvent(one, three, `AND id >= ${since}`), two),
	};
}

const first = (order: Order) =>
	matchingStatement(
		order,
		0,
		(attempts) => `SELECT status, type, id FROM (${attempts}) m ORDER BY id ${order} LIMIT $6`,
	);
/** The first $6 positions. */
const FIRST = { ASC: first("ASC"), DESC: first("DESC") };

/** How many ranges of an index match a filter; infinite if it has no types, since a log's types aren't known here. */
export const rangesOf = (kind: AttemptKind): number =>
	statusesOf(kind).length * (kind.types?.length ?? Number.POSITIVE_INFINITY) * (kind.webhookIds?.length ?? 1);

/**
 * The first $6 rows of a filter without `response`, newest first. `build` gets a SELECT of their status, type, id and these
 * columns; the statement's own parameters, `own` of them, start at $7.
 *
 * @param since see {@link matchingStatement}
 * @param find see {@link matchingStatement}
 */
export const rowsStatement = (
	columns: string,
	own: number,
	build: Build,
	since?: string,
	find = TWICE,
): ScopedStatement =>
	matchingStatement(
		"DESC",
		own,
		(attempts, hasLater) => build(`SELECT * FROM (${attempts}) m ORDER BY id DESC LIMIT $6`, hasLater),
		columns,
		find,
		since,
	);

/** The same in a single pass, for a filter with few ranges, or a range of ids that contains no other matches. */
export const wholeStatement: typeof rowsStatement = (columns, own, build, since) =>
	rowsStatement(columns, own, build, since, ONCE);

/** The first `limit` rows in this range, by a {@link rowsStatement} or a {@link wholeStatement}. */
export async function readFirst(
	c: Session,
	statement: ScopedStatement,
	projectNo: number,
	filter: AttemptKind,
	range: IdRange,
	limit: number,
	...own: readonly unknown[]
): Promise<Row[]> {
	const query = await queryOf(c, projectNo, filter);
	return query === null ? [] : run(c, statement, query, range, limit, ...own);
}

const scan = (order: Order) =>
	matchingStatement(
		order,
		CONDITIONS,
		(attempts) => `SELECT status, type, id, scanned, last_scanned FROM (${attempts}) a ORDER BY id ${order}`,
		"seq, status_code, error_code",
		SCAN,
	);
const SCANS = { ASC: scan("ASC"), DESC: scan("DESC") };

/**
 * Like {@link rowsStatement}, for a filter by response. Further columns that `build` must keep are its second parameter;
 * the statement's own parameters start at $11.
 */
export const scanStatement = (
	columns: string,
	own: number,
	build: (attempts: string, kept: string, hasLater: boolean) => string,
	since?: string,
): ScopedStatement =>
	matchingStatement(
		"DESC",
		CONDITIONS + own,
		(attempts, hasLater) => build(attempts, ", a.scanned, a.last_scanned", hasLater),
		columns,
		SCAN,
		since,
	);

/** A match, with how many were scanned and the last one of these; or, if nothing matches, only that. */
interface Scanned extends Row {
	readonly id: string | null;
	readonly scanned: number;
	readonly last_scanned: string | null;
}

/** The first matches of a filter. */
export interface Found {
	readonly positions: readonly Position[];
	/** The stored id at which the search stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

/**
 * The first matches of a filter in this order, `limit` at most.
 *
 * @param parts ranges of the log, which follow each other in this order
 */
export async function findAttempts(
	c: Session,
	order: Order,
	projectNo: number,
	filter: AttemptKind,
	parts: readonly IdRange[],
	limit: number,
): Promise<Found> {
	const query = await queryOf(c, projectNo, filter);
	if (query === null) return { positions: [], end: null };
	if (filter.response !== undefined) {
		const { rows, end } = await runScan(c, SCANS[order], query, filter.response, parts, limit);
		return { positions: rows as Row[] as Position[], end };
	}
	const positions: Position[] = [];
	for (const part of parts) {
		positions.push(...(await run<Position>(c, FIRST[order], query, part, limit - positions.length)));
		if (positions.length === limit) break;
	}
	return { positions, end: null };
}

/** The same as rows, newest first, by a {@link scanStatement}, whose own parameters depend on the range. */
export async function scanAttempts(
	c: Session,
	statement: ScopedStatement,
	projectNo: number,
	filter: AttemptKind & { readonly response: ResponseFilter },
	parts: readonly IdRange[],
	limit: number,
	own: (range: IdRange) => readonly unknown[],
): Promise<{ readonly rows: Row[]; readonly end: string | null }> {
	const query = await queryOf(c, projectNo, filter);
	return query === null ? { rows: [], end: null } : runScan(c, statement, query, filter.response, parts, limit, own);
}

async function runScan(
	c: Session,
	statement: ScopedStatement,
	query: Query,
	response: ResponseFilter,
	parts: readonly IdRange[],
	limit: number,
	own: (range: IdRange) => readonly unknown[] = () => [],
): Promise<{ readonly rows: Row[]; readonly end: string | null }> {
	const rows: Row[] = [];
	let toScan = response.maxScanned;
	for (const part of parts) {
		const conditions = conditionsOf(response, limit - rows.length);
		const read = await run<Scanned>(c, statement, query, part, toScan, ...conditions, ...own(part));
		rows.push(...read.filter(({ id }) => id !== null));
		if (rows.length === limit) break;
		toScan -= read[0]!.scanned;
		if (toScan === 0) return { rows, end: read[0]!.last_scanned };
	}
	return { rows, end: null };
}

const conditionsOf = ({ codes, errors = [], withoutTests = false }: ResponseFilter, limit: number): unknown[] => [
	`{${codes.map(({ from, to }) => `[${from},${to}]`).join(",")}}`,
	limit,
	textArray(errors),
	withoutTests ? 0 : Number.MIN_SAFE_INTEGER,
];

const COUNT = matchingStatement(
	"DESC",
	0,
	(attempts) => `SELECT count(*) AS count FROM (SELECT FROM (${attempts}) m LIMIT $6) counted`,
);

/** How many attempts match, counted up to `limit`; for a filter without `response`. */
export async function countMatches(
	c: Session,
	projectNo: number,
	filter: AttemptKind,
	range: IdRange,
	limit: number,
): Promise<number> {
	const query = await queryOf(c, projectNo, filter);
	if (query === null) return 0;
	const [row] = await run<{ count: number }>(c, COUNT, query, range, limit);
	return row!.count;
}

const beyond = (find: typeof ofEvents) => sql(`SELECT seq FROM (${find("$2", "$3 + 1")}) a OFFSET $3`);
const BEYOND = { list: beyond(ofEvents), each: beyond(ofEachEvent) };

export async function hasMoreAttempts(
	c: Session,
	{ projectId, seqs, maxAttempts }: Params<"hasMoreAttempts">,
): Promise<boolean> {
	const project = await findProject(c, projectId);
	if (project === null) return false;
	const statement = BEYOND[(await readsListsInOrder(c)) ? "list" : "each"];
	return (await c.row(statement, project, numberArray(seqs), maxAttempts)) !== undefined;
}

/**
 * Runs a statement about the rows at {@link positionRows}. Its own parameters start at $7.
 *
 * @param positions in the order of their ids, or in the opposite order
 */
export async function readAt<R extends Row = Row>(
	c: Session,
	statement: Statement,
	projectNo: number,
	positions: readonly Position[],
	...own: readonly unknown[]
): Promise<R[]> {
	if (positions.length === 0) return [];
	const [statuses, types] = [positions.map(({ status }) => status), positions.map(({ type }) => type)];
	const ids = positions.map(({ id }) => id);
	const ends = [ids[0]!, ids.at(-1)!].sort();
	return c.rows<R>(statement, projectNo, numberArray(statuses), numberArray(types), idArray(ids), ...ends, ...own);
}

/** A filter's scope, and its conditions as parameters. */
interface Query {
	readonly projectNo: number;
	readonly scope: Scope;
	readonly statuses: string;
	readonly types: string | null;
	readonly more: readonly (string | number | null)[];
}

function run<R extends Row>(
	c: Session,
	statement: ScopedStatement,
	{ projectNo, scope, statuses, types, more }: Query,
	{ from, to }: IdRange,
	limit: number,
	...own: readonly unknown[]
): Promise<R[]> {
	return c.rows<R>(statement[scope], projectNo, statuses, types, from, to, limit, ...own, ...more);
}

/** Null if nothing can match. */
async function queryOf(c: Session, projectNo: number, kind: AttemptKind): Promise<Query | null> {
	const { webhookIds, types: names, eventId, maxAttempts = null } = kind;
	const [webhooks, codes, seq] = await Promise.all([
		webhookIds && Promise.all(webhookIds.map((id) => findWebhook(c, projectNo, id))),
		names && findTypes(c, names),
		eventId === undefined ? undefined : findSeq(c, projectNo, eventId),
	]);
	const statusCodes = statusesOf(kind);
	const known = webhooks && [...new Set(webhooks.filter((no) => no !== null))];
	if (statusCodes.length === 0 || known?.length === 0 || codes?.length === 0 || seq === null) return null;
	const statuses = numberArray(statusCodes);
	const types = codes === undefined ? null : numberArray([...new Set(codes)]);
	const owners = known === undefined ? null : numberArray(known);
	const of = { projectNo, statuses, types };
	const seqs = seq === undefined ? kind.seqs : (kind.seqs ?? [seq]).filter((no) => no === seq);
	if (seqs?.length === 0) return null;
	if (seqs !== undefined) {
		const scope = (await readsListsInOrder(c)) ? "events" : "eachEvent";
		return { ...of, scope, more: [numberArray(seqs), owners, maxAttempts] };
	}
	return owners === null ? { ...of, scope: "project", more: [] } : { ...of, scope: "webhooks", more: [owners] };
}
