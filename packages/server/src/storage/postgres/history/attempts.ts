import type {
	Attempt,
	AttemptFilter,
	AttemptRows,
	AttemptSummary,
	Excerpt,
	FollowedAttempt,
	FoundResponse,
	Params,
	ResponseStep,
} from "../../port.ts";
import {
	type AttemptKind,
	attemptOf,
	followedOf,
	type IdRange,
	idRange,
	type OrderIds,
	orderIdsFor,
	type ResponseRow,
	rangeBefore,
	STATUS_CODE,
	SUMMARY,
	searchRows,
	summaryOf,
	toAttemptId,
	toStoredId,
	walkedOf,
} from "../../shared/deliveries.ts";
import type { Walked } from "../../verbs/verb.ts";
import { newestLane } from "../connection/hot-rows.ts";
import { findProject, type Names, named } from "../connection/names.ts";
import { type NamedValues, numberArray, type Row, type Session, sql } from "../connection/session.ts";
import { numbered } from "../log/log.ts";
import type { PostgresNode } from "../node.ts";
import { newestDaysFirst, type Ranges, withDayAround } from "../retention/partitions.ts";
import {
	atEntry,
	countMatches,
	type Found,
	findPositions,
	HAS_LATER,
	isEventScope,
	isScan,
	KINDS,
	type Position,
	positionRows,
	type RowStatements,
	readAt,
	readMatches,
	rowStatements,
	type Scan,
	type Scope,
	type ScopedStatement,
	type Search,
	scanMatches,
	searchFor,
	WITHIN,
} from "./attempt-ranges.ts";

const ATTEMPT_COLUMNS = `${SUMMARY},
	a.sent_brand, a.sent_timestamp, a.sent_signature, a.response_body, a.response_truncated, a.details, e.body AS request_body`;

/** The event of an attempt `a` in the project `$project`. */
const WITH_EVENT = `
	LEFT JOIN LATERAL (
		SELECT id, created_at, body FROM posthorn.events ${numbered("$project", "a.seq")}
	) e ON true`;

/** The rows of `attempts` in the project `$project` that rows (status, type, id) identify, as `a`; `entry` is the row. */
const at = (entries: string, within?: string) => `
	FROM (${entries}) entry CROSS JOIN LATERAL (
		SELECT * ${atEntry(within)}
	) a ${WITH_EVENT}`;

/** The columns of `attempts` that {@link SUMMARY} needs, in addition to status, type and id. */
const SUMMARIZED = `
	seq, webhook_no, attempt, replay, status_code, error_code, error, started_at, response_ms, next_retry_at, url`;

/** A SELECT of the columns for {@link toSummary}, for each of these rows of `attempts`, and of further columns. */
const summariesOf = (attempts: string, more = "") => `SELECT ${SUMMARY}${more} FROM (${attempts}) a ${WITH_EVENT}`;

/** The same for rows (status, type, id). */
export const summariesAt = (entries: string, more = "", within = ""): string =>
	`SELECT ${SUMMARY}${more} ${at(entries, within)}`;

/** A SELECT of the columns for {@link toAttempt}. Bodies that the outer query doesn't use aren't read. */
const attemptsAt = (entries: string, within: string): string => `SELECT ${ATTEMPT_COLUMNS} ${at(entries, within)}`;

/** An entry of the log without its bodies. */
export const toSummary = (row: Row, names: Names): AttemptSummary => summaryOf(withEvent(row), names(row));

/** An entry of the log with the event that it delivered. */
const toAttempt = (row: Row, names: Names): Attempt => attemptOf(withEvent(row), names(row));

function withEvent(row: Row): Row {
	if (row.event_id === null) throw new Error(`The event of log entry ${toAttemptId(row.id)} doesn't exist.`);
	return row;
}

const IS_OPEN = `(a.status <> ${STATUS_CODE.delivered}) IS TRUE`;

/** Bodies are measured by their stored lengths, without reading them. */
const LIST = sql(`
	SELECT * FROM (
		SELECT *, row_number() OVER newest_first AS nth,
			sum(octet_length(request_body) + octet_length(response_body)) OVER newest_first AS bytes
		FROM (${attemptsAt(positionRows, WITHIN)}) page
		WINDOW newest_first AS (ORDER BY id DESC)
	) counted
	WHERE bytes <= $maxBytes::bigint OR nth = 1
	ORDER BY id DESC`);

export async function listAttempts(
	c: Session,
	{ projectId, filter, page }: Params<"listAttempts">,
	{ clock }: PostgresNode,
): Promise<AttemptRows<Attempt>> {
	const search = await searchIn(c, projectId, filter);
	if (search === null) return { rows: [], next: null };
	const { projectNo } = search;
	const ranges = rangesToSearch(filter, page.before, clock.now());
	const { rows: positions, end } = await findPositions(c, "DESC", search, ranges, page.limit + 1);
	const read = await readAt(c, LIST, projectNo, positions.slice(0, page.limit), { maxBytes: page.maxBytes });
	const { rows, names } = await named(c, projectNo, read);
	const attempts = rows.map((row) => toAttempt(row, names));
	return toPage(attempts, read.length < positions.length ? read.at(-1) : undefined, end);
}

/** Null if nothing can match. */
async function searchIn(c: Session, projectId: string, filter: AttemptFilter, more?: NamedValues) {
	const project = await findProject(c, projectId);
	return project === null ? null : searchFor(c, project, filter, more);
}

/** The body to read an order id from, if it has at most `$orderIdBytes`. */
const ORDER_BODY = `,
	CASE WHEN a.seq > 0 AND octet_length(e.body) <= $orderIdBytes::integer THEN convert_from(e.body, 'UTF8') END AS order_body`;

/** How a list without bodies is read. */
interface List<R> {
	readonly statements: RowStatements;
	readonly toEntry: (row: Row, names: Names, orderIds: OrderIds | null, c: Session) => R;
}

const SUMMARIES: List<AttemptSummary> = {
	statements: rowStatements(
		{ columns: SUMMARIZED },
		(matches, kept) => `${summariesOf(matches, kept)} ORDER BY a.id DESC`,
	),
	toEntry: toSummary,
};

export function listAttemptSummaries(
	c: Session,
	params: Params<"listAttemptSummaries">,
	{ clock }: PostgresNode,
): Promise<AttemptRows<AttemptSummary>> {
	return readList(c, SUMMARIES, params, clock.now());
}

/**
 * Matches with what has become of their deliveries. What followed is found by one lookup in the index of each day, however
 * often a delivery was replayed; or among the attempts of their events, if these are read anyway. A deleted webhook has no
 * lane. Pending attempts are found by bounds and in an order that only the primary key has.
 *
 * `$nearFrom` and `$nearTo`: see {@link nearOf}.
 */
function followed(matches: string, kept: string, scope: Scope): string {
	const [isFollowed, read] = isEventScope(scope) ? [HAS_LATER, `, ${HAS_LATER}`] : [LATER_EXISTS, ""];
	return `
		SELECT a.*, pending.replay AS next_replay, pending.due_at,
			is_open AND ${isFollowed} AS is_followed,
			is_open AND (SELECT true ${newestLane("$project", "a.webhook_no")}) IS NULL AS webhook_deleted
		FROM (
			${summariesOf(matches, `${ORDER_BODY}, a.dismissed_at, ${IS_OPEN} AS is_open${read}${kept}`)}
		) a LEFT JOIN LATERAL (
			SELECT r.replay, r.due_at FROM posthorn.retries r
			WHERE r.project_no = $project AND (r.seq, r.webhook_no) BETWEEN (a.seq, a.webhook_no) AND (a.seq, a.webhook_no)
				AND is_open
			ORDER BY r.seq, r.webhook_no LIMIT 1
		) pending ON true
		ORDER BY a.id DESC`;
}

/** In the order of the primary key, so that no other index is considered. */
const laterIn = (ids: string) => `(
				SELECT true FROM posthorn.attempts n
				WHERE n.project_no = $project AND n.seq = a.seq AND n.webhook_no = a.webhook_no
					AND (n.replay, n.attempt) > (a.replay, a.attempt) AND ${ids}
				ORDER BY n.seq, n.webhook_no, n.replay, n.attempt, n.id LIMIT 1
			)`;

const LATER_EXISTS = `
			coalesce(${laterIn("n.id >= $nearFrom AND n.id < $nearTo")}, ${laterIn("n.id >= $nearTo")}, false)`;

const FOLLOWED: List<FollowedAttempt> = {
	statements: rowStatements({ columns: `${SUMMARIZED}, dismissed_at`, since: "$nearFrom" }, followed),
	toEntry: (row, names, orderIds, { offset }) => {
		const dueAt = row.due_at === null ? null : offset.toNode(row.due_at as number);
		return followedOf(toSummary(row, names), row, orderIds, dueAt);
	},
};

export function listFollowedAttempts(
	c: Session,
	params: Params<"listFollowedAttempts">,
	{ clock }: PostgresNode,
): Promise<AttemptRows<FollowedAttempt>> {
	return readList(c, FOLLOWED, params, clock.now());
}

async function readList<R>(
	c: Session,
	{ statements, toEntry }: List<R>,
	{ projectId, filter, page }: Params<"listFollowedAttempts">,
	now: number,
): Promise<AttemptRows<R>> {
	const search = await searchIn(c, projectId, filter, { orderIdBytes: page.orderIdBytes ?? 0 });
	if (search === null) return { rows: [], next: null };
	const ranges = rangesToSearch(filter, page.before, now);
	const found: PageRows = isScan(search)
		? await scanRows(c, statements, search, ranges, page.limit)
		: await readRows(c, statements, search, ranges, page.limit);
	const { rows, names } = await named(c, search.projectNo, found.rows);
	const orderIds = orderIdsFor(page);
	const entries = rows.map((row) => toEntry(row, names, orderIds, c));
	return toPage(entries, found.hasMore ? found.rows.at(-1) : undefined, found.end);
}

/** A range with a day around it: before, in case clocks differ, and after, because retries are made soon. */
function nearOf({ values: { maxAttempts } }: Search, range: IdRange) {
	// A limit would count those of the day before, too.
	const { from, to } = maxAttempts === null ? withDayAround(range) : range;
	return { ...range, nearFrom: from, nearTo: to };
}

interface PageRows extends Found<Row> {
	readonly hasMore: boolean;
}

async function scanRows(c: Session, { scan }: RowStatements, search: Scan, ranges: Ranges, limit: number) {
	const near = ranges.map((range) => nearOf(search, range));
	const found = await scanMatches(c, scan, search, near, limit);
	// Finding out whether there is one more may take long.
	return { ...found, hasMore: found.rows.length === limit };
}

/** Reading this many rows more than a page shows takes less time than another statement. */
const FEW_ROWS = 250;

/** Those of the newest range and, if they don't fill the page, of the older one. */
async function readRows(
	c: Session,
	{ first, whole }: RowStatements,
	search: Search,
	[newest, older]: Ranges,
	limit: number,
): Promise<PageRows> {
	const read = (statement: ScopedStatement, range: IdRange, most: number) =>
		readMatches<Row>(c, statement, search, nearOf(search, range), { limit: most });
	const rows = await read(first, newest, limit + 1);
	const missing = limit + 1 - rows.length;
	if (older === undefined || missing === 0) return upTo(limit, rows);
	if (search.rangeCount * missing <= FEW_ROWS) return upTo(limit, [...rows, ...(await read(whole, older, missing))]);
	// Usually there are none. Finding that out by positions sets up each day once; reading rows does it several times.
	const { rows: positions } = await findPositions(c, "DESC", search, [older], missing);
	const shown = positions.slice(0, missing - 1);
	const [highest, lowest] = [shown[0], shown.at(-1)];
	if (highest === undefined || lowest === undefined) return { rows, hasMore: positions.length > 0, end: null };
	const added = await read(whole, { from: lowest.id, to: `${highest.id} ` }, shown.length);
	// An attempt committed since the positions were found has taken the place of the last one, which is on the next page.
	const hasMore = added.length < positions.length || added.at(-1)?.id !== lowest.id;
	return { rows: [...rows, ...added], hasMore, end: null };
}

/** One row more than the page has shows that there are others. */
const upTo = (limit: number, rows: readonly Row[]): PageRows => {
	return { rows: rows.slice(0, limit), hasMore: rows.length > limit, end: null };
};

/** Events of which a first page probably shows attempts of the last days. */
const MANY_EVENTS = 50;

/** The ranges to search one after the other. Attempts of given events may be of any day, unless they are many. */
function rangesToSearch(filter: AttemptFilter, before: string | undefined, now: number): Ranges {
	const range = rangeBefore(filter, before);
	const isOfEvents = filter.eventId !== undefined || filter.seqs !== undefined;
	const isOfLastDays = before === undefined && (filter.seqs?.length ?? 0) >= MANY_EVENTS;
	return isOfEvents && !isOfLastDays ? [range] : newestDaysFirst(range, now);
}

/**
 * @param last the last attempt that was read, if there are others
 * @param end where the search stopped; null if it reached the end of the log
 */
function toPage<R>(rows: R[], last: Row | undefined, end: string | null): AttemptRows<R> {
	if (last !== undefined) return { rows, next: toAttemptId(last.id) };
	return { rows, next: end === null ? null : toAttemptId(end) };
}

export async function countAttempts(
	c: Session,
	{ projectId, filter, max }: Params<"countAttempts">,
): Promise<{ count: number; capped: boolean }> {
	const search = await searchIn(c, projectId, filter);
	if (search === null) return { count: 0, capped: false };
	const range = idRange(filter);
	if (isScan(search)) {
		const { rows, end } = await findPositions(c, "DESC", search, [range], max + 1);
		return { count: Math.min(rows.length, max), capped: rows.length > max || end !== null };
	}
	const count = await countMatches(c, search, range, max + 1);
	return { count: Math.min(count, max), capped: count > max };
}

const GET = sql(
	attemptsAt(
		`
		WITH ${KINDS}
		SELECT status, type, $id AS id FROM kind`,
		"AND id >= $id AND id <= $id",
	),
);

export async function getAttempt(c: Session, { projectId, attemptId }: Params<"getAttempt">): Promise<Attempt | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const statuses = numberArray(Object.values(STATUS_CODE));
	const row = await c.row(GET, { project, statuses, types: null, id: toStoredId(attemptId) });
	if (row === undefined) return null;
	const { rows, names } = await named(c, project, [row]);
	return rows[0] === undefined ? null : toAttempt(rows[0], names);
}

const WALKED = sql(`
	SELECT a.id, a.webhook_no, a.seq, a.replay, a.status, a.started_at,
		(SELECT t.name FROM posthorn.event_types t WHERE t.code = a.type) AS event_type
	FROM (${positionRows}) entry CROSS JOIN LATERAL (
		SELECT id, webhook_no, seq, replay, status, type, started_at ${atEntry(WITHIN)}
	) a
	ORDER BY a.id`);

/** Matching attempts, oldest first. */
export async function walkForward(
	c: Session,
	project: number,
	kind: AttemptKind,
	range: IdRange,
	limit: number,
): Promise<Walked> {
	const search = await searchFor(c, project, kind);
	if (search === null) return { rows: [], end: null };
	const { rows: positions, end } = await findPositions(c, "ASC", search, [range], limit);
	const rows = await readAt(c, WALKED, project, positions);
	return { rows: rows.map((row) => walkedOf(row, row.event_type as string)), end };
}

const READ = sql(`
	SELECT entry.status, entry.type, entry.id, a.seq, a.started_at, a.response_body
	FROM (${positionRows}) entry CROSS JOIN LATERAL (SELECT seq, started_at, response_body ${atEntry(WITHIN)}) a
	ORDER BY entry.id DESC`);
const FOUND = sql(summariesAt(positionRows, ", e.created_at", WITHIN));

type Read = Row & ResponseRow & Position;

export async function searchResponses(
	c: Session,
	{ projectId, text, before, limit }: Params<"searchResponses">,
	{ clock }: PostgresNode,
): Promise<ResponseStep> {
	const search = await searchIn(c, projectId, {});
	if (search === null) return { found: [], attempts: 0, reached: null, next: null };
	const { projectNo } = search;
	const ranges = rangesToSearch({}, before ?? undefined, clock.now());
	const { rows: positions } = await findPositions(c, "DESC", search, ranges, limit.maxEvents);
	const rows = await readAt<Read>(c, READ, projectNo, positions);
	const { matching, ...step } = searchRows(rows, text, limit);
	return { found: await foundAt(c, projectNo, matching), ...step };
}

/** The attempts of these rows, in the same order. */
async function foundAt(
	c: Session,
	project: number,
	matching: readonly { readonly row: Read; readonly match: Excerpt }[],
): Promise<FoundResponse[]> {
	if (matching.length === 0) return [];
	const positions = matching.map(({ row }) => row);
	const { rows, names } = await named(c, project, await readAt(c, FOUND, project, positions));
	const byId = new Map(rows.map((row) => [row.id, row]));
	return matching.flatMap(({ row: { id }, match }) => {
		const row = byId.get(id);
		// Deleted by retention since it was read.
		if (row === undefined) return [];
		return [{ attempt: toSummary(row, names), createdAt: row.created_at as number, ...match }];
	});
}
