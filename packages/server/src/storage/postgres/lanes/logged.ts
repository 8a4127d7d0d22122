/**
 * Whether attempts are already in the delivery log. For most, their lanes show it at no cost: events that a lane hasn't
 * passed haven't been attempted. The log is searched only for the others: retries, replays and test events, and events
 * that a lane has passed because the owner moved it or because the settlement is a repetition.
 */
import { numberArray } from "../connection/literals.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import type { AttemptRow } from "./settle-rows.ts";

/** Attempts are searched on the days since their events were published, and one more in case clocks differ. */
const CLOCKS_DIFFER_MS = 86_400_000;

/**
 * Whether attempts are already logged, by their ids in the log. The oldest event of each project determines how far
 * back to search.
 */
const FIND_LOGGED = sql(`
	SELECT g.nth, logged.id
	FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::integer[])
		AS g (nth, project_no, webhook_no, seq, replay, attempt)
	CROSS JOIN LATERAL (
		SELECT a.id FROM posthorn.attempts a
		WHERE a.project_no = g.project_no AND a.seq = g.seq AND a.webhook_no = g.webhook_no AND a.replay = g.replay
			AND a.attempt = g.attempt
			AND a.id >= (
				SELECT posthorn.id_at(coalesce(min(e.published_at), 0) - ${CLOCKS_DIFFER_MS})
				FROM unnest($7::bigint[], $8::bigint[]) AS oldest (project_no, seq) CROSS JOIN LATERAL (
					SELECT published_at FROM posthorn.events
					WHERE project_no = oldest.project_no AND seq = oldest.seq LIMIT 1
				) e
			)
		-- The order of the primary key.
		ORDER BY a.id LIMIT 1
	) logged`);

/** An attempt and its index in the settlement. */
interface IndexedAttempt extends AttemptRow {
	readonly nth: number;
}

/** @returns by the attempt's index, the stored id under which it is logged */
export async function findLogged(c: Session, rows: readonly AttemptRow[]): Promise<Map<number, string>> {
	const indexed = rows.map((row, nth): IndexedAttempt => ({ ...row, nth }));
	const { first = [], later = [] } = Object.groupBy(indexed, (row) => (isFirst(row) ? "first" : "later"));
	const [passed, found] = await Promise.all([passedByLanes(c, first), inLog(c, later)]);
	for (const [nth, id] of await inLog(c, passed)) found.set(nth, id);
	return found;
}

const isFirst = ({ attempt: { seq, attempt, replay } }: AttemptRow): boolean =>
	seq > 0 && attempt === 1 && replay === 0;

const LANES = sql(`
	SELECT lane.*
	FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, webhook_no) CROSS JOIN LATERAL (
		SELECT project_no, webhook_no, position, open FROM posthorn.lanes
		WHERE project_no = g.project_no AND webhook_no = g.webhook_no LIMIT 1
	) lane`);

/** Events that their lanes have passed, or whose webhook no longer has a lane. */
async function passedByLanes(c: Session, rows: readonly IndexedAttempt[]): Promise<IndexedAttempt[]> {
	if (rows.length === 0) return [];
	const byLane = new Map(rows.map((row) => [laneOf(row.projectNo, row.webhookNo), row]));
	const lanes = await c.rows<{ project_no: number; webhook_no: number; position: number; open: readonly number[] }>(
		LANES,
		numberArray([...byLane.values()].map((row) => row.projectNo)),
		numberArray([...byLane.values()].map((row) => row.webhookNo)),
	);
	const known = new Map(lanes.map((lane) => [laneOf(lane.project_no, lane.webhook_no), lane]));
	return rows.filter(({ projectNo, webhookNo, attempt: { seq } }) => {
		const lane = known.get(laneOf(projectNo, webhookNo));
		return lane === undefined || (seq <= lane.position && !lane.open.includes(seq));
	});
}

const laneOf = (projectNo: number, webhookNo: number): string => `${projectNo}/${webhookNo}`;

async function inLog(c: Session, rows: readonly IndexedAttempt[]): Promise<Map<number, string>> {
	if (rows.length === 0) return new Map();
	const oldest = oldestEvents(rows);
	const found = await c.rows<{ nth: number; id: string }>(
		FIND_LOGGED,
		numberArray(rows.map(({ nth }) => nth)),
		numberArray(rows.map((row) => row.projectNo)),
		numberArray(rows.map((row) => row.webhookNo)),
		numberArray(rows.map((row) => row.attempt.seq)),
		numberArray(rows.map((row) => row.attempt.replay)),
		numberArray(rows.map((row) => row.attempt.attempt)),
		numberArray(oldest.map(({ projectNo }) => projectNo)),
		numberArray(oldest.map(({ seq }) => seq)),
	);
	return new Map(found.map(({ nth, id }) => [nth, id]));
}

/** For each project, the first event of the log and the first test event, which are numbered downward. */
function oldestEvents(rows: readonly AttemptRow[]): { projectNo: number; seq: number }[] {
	const oldest = new Map<string, { projectNo: number; seq: number }>();
	for (const { projectNo, attempt } of rows) {
		const key = `${projectNo}/${attempt.seq > 0}`;
		const known = oldest.get(key);
		if (known === undefined || Math.abs(attempt.seq) < Math.abs(known.seq))
			oldest.set(key, { projectNo, seq: attempt.seq });
	}
	return [...oldest.values()];
}
