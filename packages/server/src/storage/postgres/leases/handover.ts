/**
 * Attempts in flight that outlive their lease. A row in `handed_over` is the former holder's right to settle one.
 * Settling it deletes the row, and so does the new holder once it has expired. Both lock the project's row in `leases`,
 * so only one of them happens.
 */
import type { HandedOver, Params } from "../../port.ts";
import { handedOverOf, QUEUE_CODE, toStoredId } from "../../shared/deliveries.ts";
import type { Connections } from "../connection/connections.ts";
import { findProject, findWebhook, numberArray, numberColumns, type Session, sql } from "../connection/session.ts";
import { holdingOne, lockDeliveries, lockProject, ringForChange } from "../lanes/locks.ts";
import { type NumberedSettlement, numberSettlement, withDays } from "../lanes/settle.ts";
import { findLogged, logAttempts, moveDeliveries } from "../lanes/settle-rows.ts";
import type { PostgresNode } from "../node.ts";
import type { LeaseTime } from "./leases.ts";

const NOW = "coalesce($1::bigint, posthorn.now_ms())";

/** For the transaction that has just released the lease. Does nothing if another node holds it. */
const HAND_OVER = sql(`
	INSERT INTO posthorn.handed_over (project_no, webhook_no, seq, replay, queue, generation, until)
	SELECT l.project_no, g.webhook_no, g.seq, g.replay, g.queue, l.generation, ${NOW} + g.delay
	FROM posthorn.leases l CROSS JOIN unnest(
		$4::bigint[], $5::bigint[], $6::integer[], $7::smallint[], $8::bigint[]
	) AS g (webhook_no, seq, replay, queue, delay)
	WHERE l.project_no = $2 AND l.generation = $3 AND l.until IS NULL
	ON CONFLICT DO NOTHING`);

export interface InFlight extends HandedOver {
	readonly webhookNo: number;
}

export async function findInFlight(
	c: Session,
	project: number,
	attempts: readonly HandedOver[],
): Promise<readonly InFlight[]> {
	const found: InFlight[] = [];
	for (const attempt of attempts) {
		const webhookNo = await findWebhook(c, project, attempt.webhookId);
		if (webhookNo !== null) found.push({ ...attempt, webhookNo });
	}
	return found;
}

export async function handOver(
	c: Session,
	time: LeaseTime,
	project: number,
	generation: number,
	attempts: readonly InFlight[],
): Promise<void> {
	await c.run(
		HAND_OVER,
		time.database,
		project,
		generation,
		...numberColumns(attempts, "webhookNo", "seq", "replay"),
		numberArray(attempts.map(({ queue }) => (queue === null ? null : QUEUE_CODE[queue]))),
		numberArray(attempts.map(({ until }) => Math.ceil(until - time.node))),
	);
}

const READ = sql(`
	SELECT w.id, h.seq, h.replay, h.queue, h.until - ${NOW} AS delay
	FROM posthorn.handed_over h JOIN posthorn.webhooks w ON w.project_no = h.project_no AND w.no = h.webhook_no
	WHERE h.project_no = $2 ORDER BY h.webhook_no, h.seq`);

export async function readHandedOver(c: Session, time: LeaseTime, project: number): Promise<HandedOver[]> {
	const rows = await c.rows(READ, time.database, project);
	return rows.map((row) => handedOverOf(row, time.node + (row.delay as number)));
}

const TAKE = sql(`
	DELETE FROM posthorn.handed_over
	WHERE project_no = $1 AND webhook_no = $2 AND seq = $3 AND replay = $4 AND generation = $5`);

/**
 * A repeated call, made because a connection broke after the commit, returns `settled`: the attempt is logged under its
 * id.
 */
export async function settleHandedOver(
	connections: Connections,
	{ handedOver, settlement }: Params<"settleHandedOver">,
	node: PostgresNode,
): Promise<"settled" | "stale"> {
	const verdict = await withDays(connections, [settlement], async () => {
		const numbered = await numberSettlement(connections, settlement);
		if (numbered === null) return "stale";
		return holdingOne(connections, "settle", (c, waits) => settleOne(c, handedOver, numbered, waits));
	});
	node.rollUp.settled(settlement.attempts.length);
	return verdict;
}

async function settleOne(
	c: Session,
	handedOver: HandedOver,
	{ projectNo, settlement, attempts, moves }: NumberedSettlement,
	waits: boolean,
): Promise<"settled" | "stale"> {
	const { lastSeq } = await lockProject(c, projectNo, waits);
	if (moves.lanes.some(({ position }) => position > lastSeq)) return "stale";
	const webhookNo = await findWebhook(c, projectNo, handedOver.webhookId);
	const { seq, replay } = handedOver;
	const [taken, logged] = await Promise.all([
		c.run(TAKE, projectNo, webhookNo, seq, replay, c.storedGeneration(settlement.generation)),
		findLogged(c, attempts),
	]);
	const isSame = attempts.length > 0 && attempts.every(({ attempt }, i) => logged.get(i) === toStoredId(attempt.id));
	if (taken === 0 || logged.size > 0) return isSame ? "settled" : "stale";
	await Promise.all([
		...(attempts.length > 0 ? [logAttempts(c, attempts)] : []),
		moveDeliveries(c, moves),
		ringForChange(c, projectNo),
	]);
	return "settled";
}

const FORGET = sql(`DELETE FROM posthorn.handed_over WHERE project_no = $2 AND until <= ${NOW}`);

export async function forgetHandedOver(
	c: Session,
	{ projectId }: Params<"forgetHandedOver">,
	node: PostgresNode,
): Promise<void> {
	const project = await findProject(c, projectId);
	if (project === null) return;
	// Another session that holds the project may be settling this row: the next call deletes it.
	const held = await lockDeliveries(c, [project]);
	if (held.has(project)) await c.run(FORGET, node.time().database, project);
}
