import { type CodeRange, NO_RESPONSE } from "../../port.ts";
import { type AttemptKind, type IdRange, STATUSES, statusesOf } from "../../shared/deliveries.ts";
import { type Connection, mergedRanges } from "../connection/connection.ts";
import { findSeq } from "../log/log.ts";

/** A filter's matches, as ranges of the index that fits it. */
interface Ranges {
	/** FROM and WHERE of each. */
	readonly selections: readonly string[];
	/** ?1 is the project's number, ?2 and ?3 are the bounds, and further values start at ?4. */
	readonly more: readonly (number | string)[];
}

/** What a walk through the log found. */
export interface Walk {
	readonly rows: Record<string, unknown>[];
	/** The stored id at which it stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

/** Matching attempts in the order of their ids, `limit` at most. */
export function walkAttempts(
	c: Connection,
	projectNo: number,
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
	if (response === undefined) return { rows: c.sql(merged(`${columns}, id`)).all(...values, limit), end: null };
	const { codes, errors = [], withoutTests = false, maxScanned } = response;
	// Compared within SQLite: fetching each row that doesn't match would take longer than reading it.
	const rows = c
		.sql(`
			SELECT * FROM (${merged(`${columns}, seq, status_code, error_code, id`)})
			WHERE seq > ? AND (
				coalesce(status_code, ${NO_RESPONSE}) IN (SELECT value FROM json_each(?))
				OR error_code IN (SELECT value FROM json_each(?))
			)
			LIMIT ?`)
		.all(
			...[...values, maxScanned, withoutTests ? 0 : Number.MIN_SAFE_INTEGER],
			...[JSON.stringify(codes.flatMap(codesIn)), JSON.stringify(errors), limit],
		);
	if (rows.length === limit) return { rows, end: null };
	const last = c.sql(`${merged("id")} OFFSET ?`).get(...values, 1, maxScanned - 1);
	return { rows, end: last === undefined ? null : (last.id as string) };
}

const codesIn = ({ from, to }: CodeRange): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** How many attempts match, counted up to `max`; for a filter without `response`. */
export function countInRanges(
	c: Connection,
	projectNo: number,
	kind: AttemptKind,
	range: IdRange,
	max: number,
): number {
	const ranges = rangesOf(c, projectNo, kind);
	if (ranges === null) return 0;
	const all = ranges.selections.map((selection) => `SELECT 1 ${selection}`).join(" UNION ALL ");
	const row = c
		.sql(`SELECT count(*) AS count FROM (${all} LIMIT ?)`)
		.get(projectNo, range.from, range.to, ...ranges.more, max);
	return row?.count as number;
}

/** Null if nothing can match. */
function rangesOf(c: Connection, projectNo: number, kind: AttemptKind): Ranges | null {
	const { webhookIds, types: names } = kind;
	const webhooks = webhookIds === undefined ? null : knownOf(webhookIds.map((id) => c.names.webhook(projectNo, id)));
	const types = names === undefined ? c.names.allTypes() : knownOf(names.map((name) => c.names.type(name)));
	const statuses = statusesOf(kind);
	if (webhooks?.length === 0 || types.length === 0 || statuses.length === 0) return null;
	const seqs = seqsOf(c, projectNo, kind);
	if (seqs !== null) {
		if (seqs.length === 0) return null;
		// The few attempts of these events: no other index is considered.
		const selection = `
			FROM attempts INDEXED BY attempts_by_delivery
			WHERE project_no = ?1 AND seq IN (SELECT value FROM json_each(?4))
				${webhooks === null ? "" : "AND webhook_no IN (SELECT value FROM json_each(?5))"} AND id >= ?2 AND id < ?3
				${statuses.length === STATUSES.length ? "" : `AND status IN (${statuses})`}
				${names === undefined ? "" : `AND type IN (${types})`}`;
		return {
			selections: [selection],
			more: [JSON.stringify(seqs), ...(webhooks === null ? [] : [JSON.stringify(webhooks)])],
		};
	}
	const owners = webhooks === null ? ["project_no = ?1"] : webhooks.map((_, i) => `webhook_no = ?${4 + i}`);
	const selections = owners.flatMap((owner) =>
		statuses.flatMap((status) =>
			types.map(
				(type) => `
				FROM attempts
				WHERE ${owner} AND status = ${status} AND type = ${type} AND id >= ?2 AND id < ?3`,
			),
		),
	);
	return { selections, more: webhooks ?? [] };
}

const knownOf = (numbers: readonly (number | null)[]): number[] => [
	...new Set(numbers.filter((number) => number !== null)),
];

/** The events that a filter names; null if it names none. */
function seqsOf(c: Connection, projectNo: number, { eventId, seqs }: AttemptKind): readonly number[] | null {
	if (eventId === undefined) return seqs ?? null;
	const seq = findSeq(c, projectNo, eventId);
	return seq === null || seqs?.includes(seq) === false ? [] : [seq];
}
