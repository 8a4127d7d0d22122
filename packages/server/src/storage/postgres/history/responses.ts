import type { Excerpt, FoundResponse, Params, ResponseStep } from "../../port.ts";
import { textFinder } from "../../shared/body-text.ts";
import { idRange, toAttemptId, toStoredId } from "../../shared/deliveries.ts";
import { findProject } from "../connection/names.ts";
import { type Row, type Session, sql, withoutNul } from "../connection/session.ts";
import type { PostgresNode } from "../node.ts";
import { newestDaysFirst } from "../retention/partitions.ts";
import { atEntry, findAttempts, positionRows, readAt, WITHIN } from "./attempt-ranges.ts";
import { summariesAt, toSummary } from "./attempts.ts";

const READ = sql(`
	SELECT entry.status, entry.type, entry.id, a.seq, a.started_at, a.response_body
	FROM (${positionRows()}) entry CROSS JOIN LATERAL (SELECT seq, started_at, response_body ${atEntry(WITHIN)}) a
	ORDER BY entry.id DESC`);
const SUMMARIES = sql(summariesAt(positionRows(), ", e.created_at", WITHIN));

type Read = Row & {
	readonly status: number;
	readonly type: number;
	readonly id: string;
	readonly seq: number;
	readonly started_at: number;
	readonly response_body: Uint8Array;
};

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
	const find = textFinder(text);
	const matching: { readonly row: Read; readonly match: Excerpt }[] = [];
	let attempts = 0;
	let bytes = 0;
	for (const row of rows) {
		bytes += row.response_body.length;
		if (attempts > 0 && bytes > limit.maxBytes) break;
		attempts++;
		const match = row.seq < 0 ? null : find(row.response_body);
		if (match !== null) matching.push({ row, match });
	}
	const last = rows[attempts - 1];
	if (last === undefined) return { found: [], attempts, reached: null, next: null };
	const isOver = attempts === rows.length && attempts < limit.maxEvents;
	const found = await foundAt(c, project, matching);
	return { found, attempts, reached: last.started_at, next: isOver ? null : toAttemptId(last.id) };
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
