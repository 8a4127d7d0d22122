import type { Excerpt, FoundResponse, Params, ResponseStep } from "../../port.ts";
import { type ResponseRow, searchRows } from "../../shared/body-text.ts";
import { idRange, toStoredId } from "../../shared/deliveries.ts";
import { findProject } from "../connection/names.ts";
import { type Row, type Session, sql, withoutNul } from "../connection/session.ts";
import type { PostgresNode } from "../node.ts";
import { newestDaysFirst } from "../retention/partitions.ts";
import { atEntry, findAttempts, type Position, positionRows, readAt, WITHIN } from "./attempt-ranges.ts";
import { summariesAt, toSummary } from "./attempts.ts";

const READ = sql(`
	SELECT entry.status, entry.type, entry.id, a.seq, a.started_at, a.response_body
	FROM (${positionRows}) entry CROSS JOIN LATERAL (SELECT seq, started_at, response_body ${atEntry(WITHIN)}) a
	ORDER BY entry.id DESC`);
const SUMMARIES = sql(summariesAt(positionRows, ", e.created_at", WITHIN));

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
	const rows = await readAt(c, SUMMARIES, project, positions);
	const byId = new Map(rows.map((row) => [row.id, row]));
	return matching.flatMap(({ row: { id }, match }) => {
		const row = byId.get(id);
		// Deleted by retention since it was read.
		if (row === undefined) return [];
		return [{ attempt: toSummary(row), createdAt: row.created_at as number, ...match }];
	});
}
