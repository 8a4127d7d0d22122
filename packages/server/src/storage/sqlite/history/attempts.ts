import {
	type Attempt,
	type AttemptFilter,
	type AttemptPage,
	type AttemptRows,
	type AttemptSummary,
	type CodeRange,
	type FollowedAttempt,
	NO_RESPONSE,
	type Params,
	type ResponseStep,
} from "../../port.ts";
import { withinBytes } from "../../shared/bodies.ts";
import {
	type AttemptKind,
	type AttemptNames,
	type AttemptRow,
	attemptOf,
	followedOf,
	type IdRange,
	idRange,
	orderIdsFor,
	type ResponseRow,
	rangeBefore,
	STATUS_CODE,
	STATUSES,
	SUMMARY,
	searchRows,
	statusesOf,
	summaryOf,
	toAttemptId,
	toStoredId,
	walkedOf,
} from "../../shared/deliveries.ts";
import type { Walked } from "../../verbs/verb.ts";
import { type Connection, mergedRanges, type Row } from "../connection/connection.ts";
import { findSeq } from "../log/log.ts";

/** The bodies to read order ids from: of at most the first parameter's bytes. */
const ORDER_BODY = "CASE WHEN a.seq > 0 AND length(e.body) <= ? THEN CAST(e.body AS TEXT) END AS order_body";
/** Entries by their row numbers, a JSON array, in its order. */
const GIVEN = `
	FROM json_each(?) CROSS JOIN attempts a ON a.no = value
		LEFT JOIN events e ON e.project_no = a.project_no AND e.seq = a.seq`;
const SUMMARIES = `SELECT ${SUMMARY} ${GIVEN}`;
const IS_OPEN = `a.status <> ${STATUS_CODE.delivered}`;
const FOLLOWED = `
	SELECT ${SUMMARY}, ${ORDER_BODY}, a.dismissed_at, r.replay AS next_replay, r.due_at,
		${IS_OPEN} AND EXISTS (
			SELECT 1 FROM attempts n WHERE n.project_no = a.project_no AND n.seq = a.seq AND n.webhook_no = a.webhook_no
				AND (n.replay, n.attempt) > (a.replay, a.attempt)
		) AS is_followed,
		${IS_OPEN} AND NOT EXISTS (SELECT 1 FROM lanes WHERE webhook_no = a.webhook_no) AS webhook_deleted
	${GIVEN} LEFT JOIN retries r
		ON ${IS_OPEN} AND r.project_no = a.project_no AND r.seq = a.seq AND r.webhook_no = a.webhook_no`;

/** An entry of the log by its row number, without its bodies. */
export function readSummary(c: Connection, no: number): AttemptSummary {
	return toSummary(c, c.row(SUMMARIES, JSON.stringify([no]))!);
}

function toSummary(c: Connection, row: AttemptRow): AttemptSummary {
	if (row.event_id === null) throw eventMissing(toAttemptId(row.id));
	return summaryOf(row, namesOf(c, row));
}

const ATTEMPT = `
	SELECT a.*, e.id AS event_id, e.body AS request_body
	FROM attempts a JOIN events e ON e.project_no = a.project_no AND e.seq = a.seq WHERE a.no = ?`;

/** An entry of the log by its row number, with the event that it delivered. */
function readAttempt(c: Connection, no: number): Attempt {
	const row = c.row(ATTEMPT, no);
	if (row === undefined) throw eventMissing(`number ${no}`);
	return attemptOf(row, namesOf(c, row));
}

const namesOf = (c: Connection, row: AttemptRow): AttemptNames => {
	return { webhookId: c.names.webhookId(row.webhook_no as number), eventType: c.names.typeName(row.type as number) };
};

const eventMissing = (entry: string): Error => new Error(`The event of log entry ${entry} doesn't exist.`);

/** Row numbers (`no`) of a page, newest first, plus one extra row. */
function findPage(
	c: Connection,
	projectId: string,
	filter: AttemptFilter,
	page: Pick<AttemptPage, "limit" | "before">,
): Walk {
	const how = { columns: "no", order: "DESC", limit: page.limit + 1 } as const;
	return walkAttempts(c, c.names.project(projectId), filter, rangeBefore(filter, page.before), how);
}

function pageOf<Row extends { readonly id: string }>(rows: Row[], found: Walk): AttemptRows<Row> {
	if (rows.length < found.rows.length) return { rows, next: rows.at(-1)!.id };
	return { rows, next: found.end === null ? null : toAttemptId(found.end) };
}

export function listAttemptSummaries(c: Connection, p: Params<"listAttemptSummaries">): AttemptRows<AttemptSummary> {
	return readList(c, p, (nos) => c.rows(SUMMARIES, nos).map((row) => toSummary(c, row)));
}

export function listFollowedAttempts(c: Connection, p: Params<"listFollowedAttempts">): AttemptRows<FollowedAttempt> {
	const orderIds = orderIdsFor(p.page);
	return readList(c, p, (nos) => {
		const rows = c.rows(FOLLOWED, p.page.orderIdBytes ?? 0, nos);
		return rows.map((row) => followedOf(toSummary(c, row), row, orderIds, row.due_at as number | null));
	});
}

/** @param read reads entries by their row numbers, a JSON array */
function readList<R extends AttemptSummary>(
	c: Connection,
	{ projectId, filter, page }: Params<"listAttemptSummaries">,
	read: (nos: string) => R[],
): AttemptRows<R> {
	const found = findPage(c, projectId, filter, page);
	const nos = found.rows.slice(0, page.limit).map(({ no }) => no);
	return pageOf(read(JSON.stringify(nos)), found);
}

export function countAttempts(
	c: Connection,
	{ projectId, filter, max }: Params<"countAttempts">,
): { count: number; capped: boolean } {
	const project = c.names.project(projectId);
	if (filter.response === undefined) {
		const count = countInRanges(c, project, filter, idRange(filter), max + 1);
		return { count: Math.min(count, max), capped: count > max };
	}
	const how = { columns: "no", order: "DESC", limit: max + 1 } as const;
	const { rows, end } = walkAttempts(c, project, filter, idRange(filter), how);
	return { count: Math.min(rows.length, max), capped: rows.length > max || end !== null };
}

export function listAttempts(c: Connection, { projectId, filter, page }: Params<"listAttempts">): AttemptRows<Attempt> {
	const found = findPage(c, projectId, filter, page);
	const attempts = found.rows
		.values()
		.take(page.limit)
		.map(({ no }) => readAttempt(c, no as number));
	const bytesOf = ({ requestBody, responseBody }: Attempt) => requestBody.length + responseBody.length;
	return pageOf(withinBytes(attempts, page.maxBytes, bytesOf), found);
}

export function getAttempt(c: Connection, { projectId, attemptId }: Params<"getAttempt">): Attempt | null {
	const project = c.names.project(projectId);
	const types = c.names.allTypes();
	if (project === null || types.length === 0) return null;
	const find = `
		SELECT no FROM attempts
		WHERE project_no = ? AND status IN (${Object.values(STATUS_CODE)}) AND type IN (${types}) AND id = ?`;
	const found = c.row<{ no: number }>(find, project, toStoredId(attemptId));
	return found === undefined ? null : readAttempt(c, found.no);
}

/** Matching attempts, oldest first. */
export function walkForward(c: Connection, project: number, kind: AttemptKind, range: IdRange, limit: number): Walked {
	const columns = "webhook_no, seq, replay, type, started_at, status";
	const { rows, end } = walkAttempts(c, project, kind, range, { columns, order: "ASC", limit });
	return { rows: rows.map((row) => walkedOf(row, c.names.typeName(row.type as number))), end };
}

export function hasMoreAttempts(c: Connection, { projectId, seqs, maxAttempts }: Params<"hasMoreAttempts">): boolean {
	const project = c.names.project(projectId);
	return project !== null && c.row(NTH_OF_EVENTS, JSON.stringify(seqs), project, maxAttempts) !== undefined;
}

const NTH_OF_EVENTS = `
	SELECT seq FROM json_each(?) CROSS JOIN attempts INDEXED BY attempts_by_delivery ON project_no = ? AND seq = value
	LIMIT 1 OFFSET ?`;

/** A filter's matches, as ranges of the index that fits it. */
interface Ranges {
	/** FROM and WHERE of each. */
	readonly selections: readonly string[];
	/** ?1 is the project's number, ?2 and ?3 are the bounds, and further values start at ?4. */
	readonly more: readonly (number | string)[];
}

interface Walk {
	readonly rows: Row[];
	/** The stored id at which it stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

/** Matching attempts in the order of their ids, `limit` at most. */
function walkAttempts(
	c: Connection,
	projectNo: number | null,
	kind: AttemptKind,
	range: IdRange,
	{ columns, order, limit }: { readonly columns: string; readonly order: "ASC" | "DESC"; readonly limit: number },
): Walk {
	const ranges = rangesOf(c, projectNo, kind);
	if (ranges === null) return { rows: [], end: null };
	const { response } = kind;
	const values = [projectNo, range.from, range.to, ...ranges.more];
	const merged = (read: string) =>
		mergedRanges(
			ranges.selections.map((selection) => `SELECT ${read} ${selection}`),
			`id ${order}`,
		);
	if (response === undefined) return { rows: c.rows(merged(`${columns}, id`), ...values, limit), end: null };
	const { codes, errors = [], withoutTests = false, maxScanned } = response;
	// Compared within SQLite: fetching each row that doesn't match would take longer than reading it.
	const matching = `
		SELECT * FROM (${merged(`${columns}, seq, status_code, error_code, id`)})
		WHERE seq > ? AND (
			coalesce(status_code, ${NO_RESPONSE}) IN (SELECT value FROM json_each(?))
			OR error_code IN (SELECT value FROM json_each(?))
		)
		LIMIT ?`;
	const after = withoutTests ? 0 : Number.MIN_SAFE_INTEGER;
	const wanted = [JSON.stringify(codes.flatMap(codesIn)), JSON.stringify(errors)];
	const rows = c.rows(matching, ...values, maxScanned, after, ...wanted, limit);
	if (rows.length === limit) return { rows, end: null };
	const last = c.row<{ id: string }>(`${merged("id")} OFFSET ?`, ...values, 1, maxScanned - 1);
	return { rows, end: last?.id ?? null };
}

const codesIn = ({ from, to }: CodeRange): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** How many attempts match, counted up to `max`; for a filter without `response`. */
function countInRanges(
	c: Connection,
	projectNo: number | null,
	kind: AttemptKind,
	range: IdRange,
	max: number,
): number {
	const ranges = rangesOf(c, projectNo, kind);
	if (ranges === null) return 0;
	const all = ranges.selections.map((selection) => `SELECT 1 ${selection}`).join(" UNION ALL ");
	const values = [projectNo, range.from, range.to, ...ranges.more, max];
	return c.row<{ count: number }>(`SELECT count(*) AS count FROM (${all} LIMIT ?)`, ...values)!.count;
}

/** Null if nothing can match. */
function rangesOf(c: Connection, projectNo: number | null, kind: AttemptKind): Ranges | null {
	if (projectNo === null) return null;
	const { webhookIds, types: names } = kind;
	const webhooks = webhookIds && knownOf(webhookIds.map((id) => c.names.webhook(projectNo, id)));
	const types = names === undefined ? c.names.allTypes() : knownOf(names.map((name) => c.names.type(name)));
	const statuses = statusesOf(kind);
	const seqs = seqsOf(c, projectNo, kind);
	if ([webhooks, types, statuses, seqs].some((list) => list?.length === 0)) return null;
	return seqs === undefined
		? rangesOfKinds(webhooks, statuses, types)
		: rangeOfEvents(seqs, webhooks, statuses, names && types, kind.maxAttempts);
}

/** One for each webhook (or one of the project), status and type. */
function rangesOfKinds(
	webhooks: readonly number[] | undefined,
	statuses: readonly number[],
	types: readonly number[],
): Ranges {
	const owners = webhooks?.map((_, i) => `webhook_no = ?${4 + i}`) ?? ["project_no = ?1"];
	const selections = owners.flatMap((owner) =>
		statuses.flatMap((status) =>
			types.map(
				(type) => `FROM attempts WHERE ${owner} AND status = ${status} AND type = ${type} AND id >= ?2 AND id < ?3`,
			),
		),
	);
	return { selections, more: webhooks ?? [] };
}

/**
 * The few attempts of these events, in the order of the events, the newest of each delivery first: no other index is
 * considered. A join can't be read in this order without sorting, so the newest of each event are listed.
 */
function rangeOfEvents(
	seqs: readonly number[],
	webhooks: readonly number[] | undefined,
	statuses: readonly number[],
	types: readonly number[] | undefined,
	maxAttempts = NO_LIMIT,
): Ranges {
	const selection = `
		FROM (
			SELECT attempts.* FROM json_each(?4) event CROSS JOIN json_each((
				SELECT json_group_array(no) FROM (
					SELECT no FROM attempts INDEXED BY attempts_by_delivery
					WHERE project_no = ?1 AND seq = event.value
					ORDER BY webhook_no DESC, replay DESC, attempt DESC LIMIT ?5
				)
			)) newest CROSS JOIN attempts ON attempts.no = newest.value
			LIMIT ?5
		)
		WHERE id >= ?2 AND id < ?3
			${webhooks === undefined ? "" : "AND webhook_no IN (SELECT value FROM json_each(?6))"}
			${statuses.length === STATUSES.length ? "" : `AND status IN (${statuses})`}
			${types === undefined ? "" : `AND type IN (${types})`}`;
	const listed = webhooks === undefined ? [] : [JSON.stringify(webhooks)];
	return { selections: [selection], more: [JSON.stringify(seqs), maxAttempts, ...listed] };
}

/** SQLite's number for it. */
const NO_LIMIT = -1;

const knownOf = (numbers: readonly (number | null)[]): number[] => [
	...new Set(numbers.filter((number) => number !== null)),
];

/** The events that a filter names; undefined if it names none. */
function seqsOf(c: Connection, projectNo: number, { eventId, seqs }: AttemptKind): readonly number[] | undefined {
	if (eventId === undefined) return seqs;
	const seq = findSeq(c, projectNo, eventId);
	return seq === null || seqs?.includes(seq) === false ? [] : [seq];
}

const CREATED = "SELECT created_at AS at FROM events WHERE project_no = ? AND seq = ?";

type FoundRow = ResponseRow & { readonly no: number };

export function searchResponses(
	c: Connection,
	{ projectId, text, before, limit }: Params<"searchResponses">,
): ResponseStep {
	const project = c.names.project(projectId);
	const how = { columns: "no, seq, started_at, response_body", order: "DESC", limit: limit.maxEvents } as const;
	const { rows } = walkAttempts(c, project, {}, rangeBefore({}, before), how);
	const { matching, ...step } = searchRows(rows as unknown as FoundRow[], text, limit);
	const found = matching.map(({ row: { no, seq }, match }) => {
		const event = c.row<{ at: number }>(CREATED, project, seq);
		return { attempt: readSummary(c, no), createdAt: event!.at, ...match };
	});
	return { found, ...step };
}
