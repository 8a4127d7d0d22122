import type { AttemptFilter, AttemptPage, AttemptRows, AttemptSummary, Params } from "../../port.ts";
import { toAttemptId, toStoredId } from "../../shared/attempt-codes.ts";
import { idRange } from "../../shared/id-range.ts";
import type { Connection } from "../connection/connection.ts";
import { countInRanges, type Walk, walkAttempts } from "./attempt-ranges.ts";
import { readSummary } from "./attempt-rows.ts";

/** Row numbers (`no`) of a page, newest first, plus one extra row. */
export function findPage(
	c: Connection,
	projectId: string,
	filter: AttemptFilter,
	page: Omit<AttemptPage, "maxBytes">,
): Walk {
	const project = c.names.project(projectId);
	if (project === null) return { rows: [], end: null };
	const { from, to } = idRange(filter);
	const before = page.before === undefined ? to : toStoredId(page.before);
	const range = { from, to: before < to ? before : to };
	return walkAttempts(c, project, filter, range, { columns: "no", order: "DESC", limit: page.limit + 1 });
}

/** The page of those rows that were found. */
export function pageOf<Row extends { readonly id: string }>(rows: Row[], found: Walk): AttemptRows<Row> {
	if (rows.length < found.rows.length) return { rows, next: rows.at(-1)!.id };
	return { rows, next: found.end === null ? null : toAttemptId(found.end) };
}

export function listAttemptSummaries(
	c: Connection,
	{ projectId, filter, page }: Params<"listAttemptSummaries">,
): AttemptRows<AttemptSummary> {
	const found = findPage(c, projectId, filter, page);
	return pageOf(
		found.rows.slice(0, page.limit).map(({ no }) => readSummary(c, no as number)),
		found,
	);
}

export function countAttempts(
	c: Connection,
	{ projectId, filter, max }: Params<"countAttempts">,
): { count: number; capped: boolean } {
	const project = c.names.project(projectId);
	if (project === null) return { count: 0, capped: false };
	if (filter.response === undefined) {
		const count = countInRanges(c, project, filter, idRange(filter), max + 1);
		return { count: Math.min(count, max), capped: count > max };
	}
	const how = { columns: "no", order: "DESC", limit: max + 1 } as const;
	const { rows, end } = walkAttempts(c, project, filter, idRange(filter), how);
	return { count: Math.min(rows.length, max), capped: rows.length > max || end !== null };
}
