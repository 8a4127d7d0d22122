import type {
	Attempt,
	AttemptFilter,
	AttemptRows,
	AttemptSummary,
	Excerpt,
	FollowedAttempt,
	FoundResponse,
	ListedAttempt,
	Params,
	ResponseFilter,
	ResponseStep,
} from "../../port.ts";
import {
	type AttemptKind,
	attemptOf,
	followedOf,
	type IdRange,
	idRange,
	listedOf,
	type OrderIds,
	orderIdsFor,
	type ResponseRow,
	STATUS_CODE,
	searchRows,
	statusOf,
	summaryOf,
	toAttemptId,
	toStoredId,
} from "../../shared/deliveries.ts";
import type { Walked } from "../../verbs/verb.ts";
import {
	findProject,
	type Names,
	named,
	numberArray,
	type Row,
	type Session,
	sql,
	textArray,
	withoutNul,
} from "../connection/session.ts";
import { numbered } from "../log/log.ts";
import type { PostgresNode } from "../node.ts";
import { newestDaysFirst, withDayAround } from "../retention/partitions.ts";
import {
	atEntry,
	countMatches,
	findAttempts,
	HAS_LATER,
	KINDS,
	type Position,
	positionRows,
	rangesOf,
	readAt,
	readFirst,
	rowsStatement,
	type ScopedStatement,
	scanAttempts,
	scanStatement,
	WITHIN,
	wholeStatement,
} from "./attempt-ranges.ts";

const SUMMARY_COLUMNS = `
	a.id, a.seq, a.webhook_no, a.type, a.attempt, a.replay, a.status, a.status_code, a.error_code, a.error, a.started_at,
	a.response_ms, a.next_retry_at, a.url, e.id AS event_id`;

const ATTEMPT_COLUMNS = `${SUMMARY_COLUMNS},
	a.sent_brand, a.sent_timestamp, a.sent_signature, a.response_body, a.response_truncated, a.details, e.body AS request_body`;

/** The event of an attempt `a` in the project $1. */
const WITH_EVENT = `
	LEFT JOIN LATERAL (
		SELECT id, created_at, body FROM posthorn.events ${numbered("$1", "a.seq")}
	) e ON true`;

/** The rows of `attempts` in the project $1 that rows (status, type, id) identify, as `a`; `entry` is the row. */
const at = (entries: string, within?: string) => `
	FROM (${entries}) entry CROSS JOIN LATERAL (
		SELECT * ${atEntry(within)}
	) a ${WITH_EVENT}`;

/** The columns of `attempts` that {@link SUMMARY_COLUMNS} need, in addition to status, type and id. */
const SUMMARIZED = `
	seq, webhook_no, attempt, replay, status_code, error_code, error, started_at, response_ms, next_retry_at, url`;

/** A SELECT of the columns for {@link toSummary}, for each of these rows of `attempts`, and of further columns. */
const summariesOf = (attempts: string, more = "") =>
	`SELECT ${SUMMARY_COLUMNS}${more} FROM (${attempts}) a ${WITH_EVENT}`;

/** The same for rows (status, type, id). */
export const summariesAt = (entries: string, more = "", within = ""): string =>
	`SELECT ${SUMMARY_COLUMNS}${more} ${at(entries, within)}`;

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
	WHERE bytes <= $7::bigint OR nth = 1
	ORDER BY id DESC`);

export async function listAttempts(
	c: Session,
	{ projectId, filter, page }: Params<"listAttempts">,
	{ clock }: PostgresNode,
): Promise<AttemptRows<Attempt>> {
	const project = await findProject(c, projectId);
	if (project === null) return { rows: [], next: null };
	const parts = partsOf(filter, page.before, clock.now());
	const { positions, end } = await findAttempts(c, "DESC", project, filter, parts, page.limit + 1);
	const read = await readAt(c, LIST, project, positions.slice(0, page.limit), page.maxBytes);
	const { rows, names } = await named(c, project, read);
	const attempts = rows.map((row) => toAttempt(row, names));
	return toPage(attempts, read.length < positions.length ? read.at(-1) : undefined, end);
}

/** The bodies to read order ids from: of at most this parameter's bytes. */
const orderBody = (maxBytes: string) =>
	`, CASE WHEN a.seq > 0 AND octet_length(e.body) <= ${maxBytes}::integer THEN convert_from(e.body, 'UTF8') END AS order_body`;

/** How a list without bodies is read. */
interface List<R> {
	/** The first rows of a range, the same in a single pass, … */
	readonly first: ScopedStatement;
	readonly whole: ScopedStatement;
	/** … or those that match a filter by response. */
	readonly scan: ScopedStatement;
	/** The statements' own parameters after the bytes of {@link orderBody}. */
	readonly own: (near: IdRange) => unknown[];
	readonly toEntry: (row: Row, names: Names, orderIds: OrderIds | null, c: Session) => R;
}

const newestFirst = (summaries: string) => `${summaries} ORDER BY a.id DESC`;

const toListed = (row: Row, names: Names, orderIds: OrderIds | null): ListedAttempt =>
	listedOf(toSummary(row, names), row, orderIds);

const summariesFirst = (attempts: string) => newestFirst(summariesOf(attempts, orderBody("$7")));
const SUMMARIES: List<ListedAttempt> = {
	first: rowsStatement(SUMMARIZED, 1, summariesFirst),
	whole: wholeStatement(SUMMARIZED, 1, summariesFirst),
	scan: scanStatement(SUMMARIZED, 1, (attempts, kept) => newestFirst(summariesOf(attempts, orderBody("$11") + kept))),
	own: () => [],
	toEntry: toListed,
};

export function listAttemptSummaries(
	c: Session,
	params: Params<"listAttemptSummaries">,
	{ clock }: PostgresNode,
): Promise<AttemptRows<ListedAttempt>> {
	return readList(c, SUMMARIES, params, clock.now());
}

/**
 * Attempts with what has become of their deliveries. What followed is found by one lookup in the index of each day,
 * however often a delivery was replayed, starting a day before the first attempt, in case clocks differ; or among the
 * attempts of their events, if these are read anyway. A deleted webhook has no lane. Pending attempts are found by bounds
 * and in an order that only the primary key has.
 *
 * @param summaries a SELECT of their summaries and these further columns
 * @param near the range of the ids with a day around them: retries are made soon
 */
const followed = (summaries: (more: string) => string, near: IdRange, hasLater: boolean) => `
	SELECT a.*, pending.replay AS next_replay, pending.due_at,
		is_open AND ${hasLater ? HAS_LATER : laterExists(near)} AS is_followed,
		is_open AND NOT EXISTS (
			SELECT FROM posthorn.lanes l WHERE l.project_no = $1 AND l.webhook_no = a.webhook_no
		) AS webhook_deleted
	FROM (
		${summaries(`, a.dismissed_at, ${IS_OPEN} AS is_open${hasLater ? `, ${HAS_LATER}` : ""}`)}
	) a LEFT JOIN LATERAL (
		SELECT r.replay, r.due_at FROM posthorn.retries r
		WHERE r.project_no = $1 AND (r.seq, r.webhook_no) BETWEEN (a.seq, a.webhook_no) AND (a.seq, a.webhook_no)
			AND is_open
		ORDER BY r.seq, r.webhook_no LIMIT 1
	) pending ON true
	ORDER BY a.id DESC`;

const laterExists = ({ from, to }: IdRange) => `
			coalesce(${laterIn(`>= ${from} AND n.id < ${to}`)}, ${laterIn(`>= ${to}`)}, false)`;

/** In the order of the primary key, so that no other index is considered. */
const laterIn = (ids: string) => `(
				SELECT true FROM posthorn.attempts n
				WHERE n.project_no = $1 AND n.seq = a.seq AND n.webhook_no = a.webhook_no
					AND (n.replay, n.attempt) > (a.replay, a.attempt) AND n.id ${ids}
				ORDER BY n.seq, n.webhook_no, n.replay, n.attempt, n.id LIMIT 1
			)`;

/** The ends of a range that is an array parameter. */
const endsIn = (array: string): IdRange => ({ from: `(${array}::text[])[1]`, to: `(${array}::text[])[2]` });

const FOLLOWABLE = `${SUMMARIZED}, dismissed_at`;
const followedFirst = (attempts: string, hasLater: boolean) =>
	followed((more) => summariesOf(attempts, orderBody("$7") + more), endsIn("$8"), hasLater);
const FOLLOWED: List<FollowedAttempt> = {
	first: rowsStatement(FOLLOWABLE, 2, followedFirst, endsIn("$8").from),
	whole: wholeStatement(FOLLOWABLE, 2, followedFirst, endsIn("$8").from),
	scan: scanStatement(
		FOLLOWABLE,
		2,
		(attempts, kept, hasLater) =>
			followed((more) => summariesOf(attempts, orderBody("$11") + more + kept), endsIn("$12"), hasLater),
		endsIn("$12").from,
	),
	own: ({ from, to }) => [textArray([from, to])],
	toEntry: (row, names, orderIds, { offset }) => {
		const dueAt = row.due_at === null ? null : offset.toNode(row.due_at as number);
		return followedOf(toListed(row, names, orderIds), row, dueAt);
	},
};

export function listFollowedAttempts(
	c: Session,
	params: Params<"listFollowedAttempts">,
	{ clock }: PostgresNode,
): Promise<AttemptRows<FollowedAttempt>> {
	return readList(c, FOLLOWED, params, clock.now());
}

/** Reading this many rows more than a page shows takes less time than another statement. */
const FEW_ROWS = 250;

async function readList<R>(
	c: Session,
	{ first, whole, scan, own: ownOf, toEntry }: List<R>,
	{ projectId, filter, page: list }: Params<"listAttemptSummaries">,
	now: number,
): Promise<AttemptRows<R>> {
	const { before, limit, orderIdBytes = 0 } = list;
	// A limit would count those of the day before, too.
	const nearOf = filter.maxAttempts === undefined ? withDayAround : (range: IdRange) => range;
	const own = (range: IdRange) => [orderIdBytes, ...ownOf(nearOf(range))];
	const project = await findProject(c, projectId);
	if (project === null) return { rows: [], next: null };
	const parts = partsOf(filter, before, now);
	const page = async (read: Row[], found: number, end: string | null) => {
		const shown = read.slice(0, limit);
		const { rows, names } = await named(c, project, shown);
		const orderIds = orderIdsFor(list);
		const entries = rows.map((row) => toEntry(row, names, orderIds, c));
		return toPage(entries, shown.length < found ? shown.at(-1) : undefined, end);
	};
	if (hasResponse(filter)) {
		// Comparing responses until there is one more may take long.
		const { rows, end } = await scanAttempts(c, scan, project, filter, parts, limit, own);
		return page(rows, rows.length === limit ? limit + 1 : rows.length, end);
	}
	const [newest, older] = parts as [IdRange, IdRange?];
	const rows = await readFirst(c, first, project, filter, newest, limit + 1, ...own(newest));
	if (older === undefined || rows.length > limit) return page(rows, rows.length, null);
	const missing = limit + 1 - rows.length;
	if (rangesOf(filter) * missing <= FEW_ROWS) {
		rows.push(...(await readFirst(c, whole, project, filter, older, missing, ...own(older))));
		return page(rows, rows.length, null);
	}
	// Mostly there are none, and the statement that reads rows sets up each day several times.
	const { positions } = await findAttempts(c, "DESC", project, filter, [older], missing);
	let found = rows.length + positions.length;
	const shown = positions.slice(0, limit - rows.length);
	const [highest, lowest] = [shown[0]?.id, shown.at(-1)?.id];
	if (highest !== undefined && lowest !== undefined) {
		const range = { from: lowest, to: `${highest} ` };
		const added = await readFirst(c, whole, project, filter, range, shown.length, ...own(range));
		rows.push(...added);
		// An attempt committed since the positions were found has taken the place of the last one, which is on the next page.
		if (added.at(-1)?.id !== lowest) found++;
	}
	return page(rows, found, null);
}

const hasResponse = (filter: AttemptFilter): filter is AttemptFilter & { readonly response: ResponseFilter } =>
	filter.response !== undefined;

/** Events of which a first page probably shows attempts of the last days. */
const MANY_EVENTS = 50;

/** The ranges to search one after the other. Attempts of given events may be of any day, unless they are many. */
function partsOf(filter: AttemptFilter, before: string | undefined, now: number): IdRange[] {
	const range = rangeOf(filter, before);
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

function rangeOf(filter: AttemptFilter, before: string | undefined): IdRange {
	const { from, to } = idRange(filter);
	const stored = before === undefined ? to : toStoredId(withoutNul(before));
	return { from, to: stored < to ? stored : to };
}

export async function countAttempts(
	c: Session,
	{ projectId, filter, max }: Params<"countAttempts">,
): Promise<{ count: number; capped: boolean }> {
	const project = await findProject(c, projectId);
	if (project === null) return { count: 0, capped: false };
	const range = idRange(filter);
	if (filter.response !== undefined) {
		const { positions, end } = await findAttempts(c, "DESC", project, filter, [range], max + 1);
		return { count: Math.min(positions.length, max), capped: positions.length > max || end !== null };
	}
	const count = await countMatches(c, project, filter, range, max + 1);
	return { count: Math.min(count, max), capped: count > max };
}

const GET = sql(
	attemptsAt(
		`
		WITH ${KINDS}
		SELECT status, type, $4 AS id FROM kind`,
		"AND id >= $4 AND id <= $4",
	),
);

export async function getAttempt(c: Session, { projectId, attemptId }: Params<"getAttempt">): Promise<Attempt | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const statuses = numberArray(Object.values(STATUS_CODE));
	const row = await c.row(GET, project, statuses, null, toStoredId(withoutNul(attemptId)));
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
	const { positions, end } = await findAttempts(c, "ASC", project, kind, [range], limit);
	const rows = await readAt(c, WALKED, project, positions);
	const walked = rows.map((row) => ({
		...{ id: row.id as string, webhook: row.webhook_no as number, seq: row.seq as number },
		...{ replay: row.replay as number, status: statusOf(row.status) },
		...{ eventType: row.event_type as string, startedAt: row.started_at as number },
	}));
	return { rows: walked, end };
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
	const project = await findProject(c, projectId);
	const { from, to } = idRange({});
	const range = { from, to: before === null ? to : toStoredId(withoutNul(before)) };
	if (project === null) return { found: [], attempts: 0, reached: null, next: null };
	const parts = newestDaysFirst(range, clock.now());
	const { positions } = await findAttempts(c, "DESC", project, {}, parts, limit.maxEvents);
	const rows = await readAt<Read>(c, READ, project, positions);
	const { matching, ...step } = searchRows(rows, text, limit);
	return { found: await foundAt(c, project, matching), ...step };
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
