import type { Attempt, Delivery, Params } from "../../port.ts";
import { STATUS_CODE, toStoredId } from "../../shared/attempt-codes.ts";
import { deliveryOf, MAX_DELIVERY_ATTEMPTS } from "../../shared/delivery.ts";
import { numberArray, withoutNul } from "../connection/literals.ts";
import { findProject, findWebhook } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { KINDS } from "./attempt-ranges.ts";
import { attemptsAt, attemptsFrom, toAttempt } from "./attempt-rows.ts";
import { findEventPosition, standingOf } from "./delivery.ts";

const GET = sql(
	attemptsAt(`
		WITH ${KINDS}
		SELECT status, type, $4 AS id FROM kind`),
);

export async function getAttempt(c: Session, { projectId, attemptId }: Params<"getAttempt">): Promise<Attempt | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const statuses = numberArray(Object.values(STATUS_CODE));
	const row = await c.row(GET, project, statuses, null, toStoredId(withoutNul(attemptId)));
	return row === undefined ? null : toAttempt(row);
}

const OF_DELIVERY = sql(`
	${attemptsFrom(`
		SELECT * FROM posthorn.attempts WHERE project_no = $1 AND seq = $2 AND webhook_no = $3
		ORDER BY replay DESC, attempt DESC LIMIT ${MAX_DELIVERY_ATTEMPTS}`)}
	ORDER BY a.replay, a.attempt`);

/** From one state of the database, so that pending and logged attempts are consistent. */
export async function getDelivery(
	c: Session,
	{ projectId, webhookId, eventId }: Params<"getDelivery">,
): Promise<Delivery | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const [webhook, event] = await Promise.all([
		findWebhook(c, project, webhookId),
		findEventPosition(c, project, eventId),
	]);
	if (webhook === null || event === null) return null;
	const [standing, rows] = await Promise.all([
		standingOf(c, project, webhook, event),
		c.rows(OF_DELIVERY, project, event.seq, webhook),
	]);
	if (standing === null) return null;
	const attempts = rows.map(toAttempt);
	return deliveryOf(standing, attempts);
}
