import type { Backlog, Gauges, Params } from "../../port.ts";
import { findProject } from "../connection/names.ts";
import { type Session, sql, textArray } from "../connection/session.ts";
import { firstOfType, lastOfType } from "../log/log.ts";

const FIRST = firstOfType("lane.project_no", "s.type", "greatest(lane.position, s.from_seq)");

/**
 * The backlog of each `lane` (rows of `lanes`): its open events, and for each subscribed type the events after its
 * position (and after the subscription's start), counted as the difference of two numbers. A few index probes per type,
 * for a backlog of any size.
 */
const BACKLOG = `
	SELECT coalesce(sum(waits.n), 0)::bigint AS events, (array_agg(e.published_at ORDER BY waits.seq))[1] AS oldest_at
	FROM (
		SELECT first.seq, last.type_seq - first.type_seq + 1 AS n
		FROM posthorn.subscriptions s
			CROSS JOIN LATERAL (
				SELECT seq, type_seq FROM posthorn.events ${FIRST} LIMIT 1
			) first
			CROSS JOIN LATERAL (
				SELECT type_seq FROM posthorn.events ${lastOfType("lane.project_no", "s.type")} LIMIT 1
			) last
		WHERE s.project_no = lane.project_no AND s.webhook_no = lane.webhook_no
		UNION ALL
		SELECT open.seq, 1
		FROM unnest(lane.open) AS open (seq)
			CROSS JOIN LATERAL (
				SELECT type FROM posthorn.events WHERE project_no = lane.project_no AND seq = open.seq LIMIT 1
			) e
			JOIN posthorn.subscriptions s
				ON s.project_no = lane.project_no AND s.webhook_no = lane.webhook_no AND s.type = e.type
		WHERE open.seq > s.from_seq
	) waits
		CROSS JOIN LATERAL (
			SELECT published_at FROM posthorn.events WHERE project_no = lane.project_no AND seq = waits.seq LIMIT 1
		) e`;

const READ = sql(`
	SELECT w.id, waiting.events, waiting.oldest_at
	FROM posthorn.webhooks w
		JOIN posthorn.lanes lane ON lane.project_no = w.project_no AND lane.webhook_no = w.no
		CROSS JOIN LATERAL (${BACKLOG}) waiting
	WHERE w.project_no = $1 AND w.id = ANY ($2::text[])`);

export async function readBacklogs(
	c: Session,
	{ projectId, webhookIds }: Params<"readBacklogs">,
): Promise<Map<string, Backlog>> {
	const project = await findProject(c, projectId);
	if (project === null || webhookIds.length === 0) return new Map();
	const rows = await c.rows<{ id: string; events: number; oldest_at: number | null }>(
		READ,
		project,
		textArray(webhookIds),
	);
	return new Map(rows.map(({ id, events, oldest_at }) => [id, { events, oldestAt: oldest_at }]));
}

/** Lanes aggregated per statement, so that each statement is short. */
const LANES_AT_ONCE = 200;

const PROJECTS = sql("SELECT count(*) AS count FROM posthorn.projects");
const SLICE = sql(`
	SELECT lane.project_no, lane.webhook_no, lane.retries_waiting, lane.dead_letters, waiting.events, waiting.oldest_at
	FROM (
		SELECT * FROM posthorn.lanes WHERE (project_no, webhook_no) > ($1, $2) ORDER BY project_no, webhook_no
		LIMIT ${LANES_AT_ONCE}
	) lane CROSS JOIN LATERAL (${BACKLOG}) waiting
	ORDER BY lane.project_no, lane.webhook_no`);

export async function readGauges(c: Session): Promise<Gauges> {
	const projects = (await c.row<{ count: number }>(PROJECTS))!.count;
	const sum = { webhooks: 0, backlog: 0, retriesWaiting: 0, deadLetters: 0 };
	let oldestAt: number | null = null;
	let after: readonly number[] | null = [0, 0];
	while (after !== null) {
		const lanes: Lane[] = await c.rows<Lane>(SLICE, ...after);
		sum.webhooks += lanes.length;
		for (const lane of lanes) {
			sum.backlog += lane.events;
			sum.retriesWaiting += lane.retries_waiting;
			sum.deadLetters += lane.dead_letters;
			if (lane.oldest_at !== null) oldestAt = Math.min(oldestAt ?? lane.oldest_at, lane.oldest_at);
		}
		const last = lanes.at(-1);
		after = last === undefined || lanes.length < LANES_AT_ONCE ? null : [last.project_no, last.webhook_no];
	}
	return { projects, ...sum, oldestAt };
}

type Lane = {
	project_no: number;
	webhook_no: number;
	retries_waiting: number;
	dead_letters: number;
	events: number;
	oldest_at: number | null;
};
