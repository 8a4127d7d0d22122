import type { Attempt, AttemptFilter, AttemptRows, AttemptSummary, Params } from "../../port.ts";
import { toAttemptId, toStoredId } from "../../shared/attempt-codes.ts";
import { idRange } from "../../shared/id-range.ts";
import { withoutNul } from "../connection/literals.ts";
import { findProject } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { aboutMatching, askAboutMatching, type IdRange, scanFor } from "./attempt-ranges.ts";
import { attemptsAt, summariesAt, toAttempt, toSummary } from "./attempt-rows.ts";

/** The positions of a page's rows, newest first, and of one row after it. */
const pageOf = (attempts: string) => `SELECT status, type, id FROM (${attempts}) m ORDER BY id DESC LIMIT $6`;

/** Bodies are measured by their stored lengths, without reading them. */
const LIST = aboutMatching(
	"DESC",
	1,
	(attempts) => `
		SELECT * FROM (
			SELECT *, count(*) OVER () AS found, row_number() OVER newest_first AS place,
				sum(octet_length(request_body) + octet_length(response_body)) OVER newest_first AS bytes
			FROM (${attemptsAt(pageOf(attempts))}) page
			WINDOW newest_first AS (ORDER BY id DESC)
		) counted
		WHERE place < $6 AND (bytes <= $7::bigint OR place = 1)
		ORDER BY id DESC`,
);

export async function listAttempts(
	c: Session,
	{ projectId, filter, page }: Params<"listAttempts">,
): Promise<AttemptRows<Attempt>> {
	const project = await findProject(c, projectId);
	if (project === null) return { rows: [], next: null };
	const range = rangeOf(filter, page.before);
	const { rows, end } = await askAboutMatching(c, LIST, project, filter, range, page.limit + 1, page.maxBytes);
	return toPage(rows.map(toAttempt), rows.length > 0 && rows.length < (rows[0]!.found as number), end);
}

const LIST_SUMMARIES = aboutMatching("DESC", 0, (attempts) => `${summariesAt(pageOf(attempts))} ORDER BY a.id DESC`);

export async function listAttemptSummaries(
	c: Session,
	{ projectId, filter, page }: Params<"listAttemptSummaries">,
): Promise<AttemptRows<AttemptSummary>> {
	const project = await findProject(c, projectId);
	if (project === null) return { rows: [], next: null };
	const range = rangeOf(filter, page.before);
	const { rows, end } = await askAboutMatching(c, LIST_SUMMARIES, project, filter, range, page.limit + 1);
	return toPage(rows.slice(0, page.limit).map(toSummary), rows.length > page.limit, end);
}

/** @param more whether rows were found beyond the page */
function toPage<R extends { readonly id: string }>(rows: R[], more: boolean, end: string | null): AttemptRows<R> {
	if (more) return { rows, next: rows.at(-1)!.id };
	return { rows, next: end === null ? null : toAttemptId(end) };
}

function rangeOf(filter: AttemptFilter, before: string | undefined): IdRange {
	const { from, to } = idRange(filter);
	const stored = before === undefined ? to : toStoredId(withoutNul(before));
	return { from, to: stored < to ? stored : to };
}

const COUNT = aboutMatching(
	"DESC",
	0,
	(attempts) => `SELECT count(*) AS count FROM (SELECT FROM (${attempts}) m LIMIT $6) counted`,
);

export async function countAttempts(
	c: Session,
	{ projectId, filter, max }: Params<"countAttempts">,
): Promise<{ count: number; capped: boolean }> {
	const project = await findProject(c, projectId);
	if (project === null) return { count: 0, capped: false };
	const range = idRange(filter);
	if (filter.response !== undefined) {
		const { rows, end } = await scanFor(c, "DESC", project, filter, filter.response, range, max + 1);
		return { count: Math.min(rows.length, max), capped: rows.length > max || end !== null };
	}
	const { rows } = await askAboutMatching<{ count: number }>(c, COUNT, project, filter, range, max + 1);
	const count = rows[0]?.count ?? 0;
	return { count: Math.min(count, max), capped: count > max };
}
