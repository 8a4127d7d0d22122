import type { MatchingReplays, ReplayedPage, ReplaySelection } from "../../port.ts";
import { STATUS_CODE, toAttemptId, toStoredId } from "../../shared/attempt-codes.ts";
import { idRange } from "../../shared/id-range.ts";
import { findProject } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { AT_PLACE, aboutMatching, askAboutMatching, type IdRange } from "../history/attempt-ranges.ts";
import { lockProject } from "../lanes/lock.ts";
import { beginSeries } from "./replay.ts";

/** A scanned attempt. */
type Seen = {
	readonly id: string;
	readonly webhook_no: number;
	readonly seq: number;
	readonly replay: number;
	readonly status: number;
	/** Whether it's the newest of an ended delivery of an existing webhook. */
	readonly chosen: boolean;
};

/**
 * A deleted webhook has no lane. Pending attempts are looked up by bounds and in an order that only the primary key
 * has: with equality, the planner may scan everything pending for the webhook.
 */
const LOOK_AT = aboutMatching(
	"ASC",
	0,
	(attempts) => `
		SELECT a.id, a.webhook_no, a.seq, a.replay, a.status,
			newest.id = a.id AND waiting.seq IS NULL AND lane.webhook_no IS NOT NULL AS chosen
		FROM (SELECT status, type, id FROM (${attempts}) m ORDER BY id LIMIT $6) place
		CROSS JOIN LATERAL (
			SELECT id, webhook_no, seq, replay, status ${AT_PLACE}
		) a
		CROSS JOIN LATERAL (
			SELECT n.id FROM posthorn.attempts n WHERE n.project_no = $1 AND n.seq = a.seq AND n.webhook_no = a.webhook_no
			ORDER BY n.replay DESC, n.attempt DESC LIMIT 1
		) newest
		LEFT JOIN LATERAL (
			SELECT seq FROM posthorn.retries
			WHERE project_no = $1 AND (seq, webhook_no) BETWEEN (a.seq, a.webhook_no) AND (a.seq, a.webhook_no)
			ORDER BY seq, webhook_no LIMIT 1
		) waiting ON true
		LEFT JOIN LATERAL (
			SELECT webhook_no FROM posthorn.lanes WHERE project_no = $1 AND webhook_no = a.webhook_no LIMIT 1
		) lane ON true
		ORDER BY a.id`,
);

/** Begins a new series for the deliveries of one step. */
export async function replayMatching(
	c: Session,
	{ projectId, selection, at, limit, after }: MatchingReplays,
): Promise<ReplayedPage> {
	const project = await findProject(c, projectId);
	if (project === null) return { count: 0, next: null };
	await lockProject(c, project);
	const { chosen, next } = await choose(c, project, selection, at, limit, after);
	if (chosen.length > 0) {
		const series = chosen.map(({ webhook_no, seq, replay, status }) => ({
			webhook: webhook_no,
			seq,
			replay: replay + 1,
			wasDead: status === STATUS_CODE.failed,
		}));
		await beginSeries(c, project, "replay", series, at);
	}
	return { count: chosen.length, next };
}

/** The same step, only counted. */
export async function countMatching(
	c: Session,
	{ projectId, selection, at, limit, after }: MatchingReplays,
): Promise<ReplayedPage> {
	const project = await findProject(c, projectId);
	if (project === null) return { count: 0, next: null };
	const { chosen, next } = await choose(c, project, selection, at, limit, after);
	return { count: chosen.length, next };
}

async function choose(
	c: Session,
	project: number,
	selection: ReplaySelection,
	at: number,
	limit: number,
	after: string | undefined,
): Promise<{ chosen: Seen[]; next: string | null }> {
	const range = rangeOf(selection, at, after);
	const { rows: seen, end } = await askAboutMatching<Seen>(c, LOOK_AT, project, selection, range, limit);
	const last = seen.length < limit ? end : seen.at(-1)!.id;
	return { chosen: seen.filter(({ chosen }) => chosen), next: last === null ? null : toAttemptId(last) };
}

function rangeOf(selection: ReplaySelection, at: number, after: string | undefined): IdRange {
	const { from, to } = idRange({ since: selection.since, until: Math.min(selection.until ?? at, at) });
	if (after === undefined) return { from, to };
	// Sorts after this id and before every other.
	const behind = `${toStoredId(after)} `;
	return { from: behind > from ? behind : from, to };
}
