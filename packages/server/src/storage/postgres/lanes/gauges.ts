import type { Gauges } from "../../port.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { BACKLOG } from "./backlog.ts";

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
