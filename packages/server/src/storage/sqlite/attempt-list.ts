import type { AttemptFilter, AttemptPage, AttemptSummary } from "../port.ts";
import { toStoredId } from "../shared/attempt-codes.ts";
import { idRange } from "../shared/id-range.ts";
import { countInRanges, walkAttempts } from "./attempt-ranges.ts";
import { readSummary } from "./attempt-rows.ts";
import type { Connection } from "./connection.ts";

/** Row numbers of a page, newest first, one more than it holds. */
export function findPage(
	c: Connection,
	projectId: string,
	filter: AttemptFilter,
	page: Omit<AttemptPage, "maxBytes">,
): number[] {
	const project = c.names.project(projectId);
	if (project === null) return [];
	const { from, to } = idRange(filter);
	const before = page.before === undefined ? to : toStoredId(page.before);
	const range = { from, to: before < to ? before : to };
	const rows = walkAttempts(c, project, filter, range, { columns: "no", order: "DESC", limit: page.limit + 1 });
	return rows.map((row) => row.no as number);
}

export function listAttemptSummaries(
	c: Connection,
	projectId: string,
	filter: AttemptFilter,
	page: Omit<AttemptPage, "maxBytes">,
): { rows: AttemptSummary[]; more: boolean } {
	const places = findPage(c, projectId, filter, page);
	return { rows: places.slice(0, page.limit).map((no) => readSummary(c, no)), more: places.length > page.limit };
}

export function countAttempts(c: Connection, projectId: string, filter: AttemptFilter, max: number): number {
	const project = c.names.project(projectId);
	return project === null ? 0 : countInRanges(c, project, filter, idRange(filter), max);
}
