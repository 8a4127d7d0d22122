/** Facts that refer to an order. Whether they are known is looked at together with their order, once the log is held. */
import type { Params, Recorded } from "../../port.ts";
import { findProject } from "../connection/find.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { holdLogs } from "../log/append-rows.ts";
import { findOrder } from "./orders.ts";
import { appendOfFact, earlier, eventsJson, recorded, storedId, type Told } from "./record.ts";

type OfOrder = Recorded | { readonly kind: "no_order" };

const FIND_REFUND = sql(`
	SELECT digest, at, events FROM posthorn.store_refunds WHERE project_no = $1 AND refund_id = $2`);
const ADD_REFUND = sql(`
	INSERT INTO posthorn.store_refunds (project_no, refund_id, digest, at, events) VALUES ($1, $2, $3, $4, $5)`);
const COUNT_REFUND = sql(`
	UPDATE posthorn.store_orders SET refunded_cents = refunded_cents + $3 WHERE project_no = $1 AND order_id = $2`);

export async function recordRefund(
	c: Session,
	{ projectId, refund: { orderId, refundId, digest, at, amountCents, partial, whole } }: Params<"recordRefund">,
): Promise<OfOrder | { readonly kind: "too_much"; readonly leftCents: number }> {
	const project = await findProject(c, projectId);
	if (project === null) return { kind: "no_project" };
	const id = storedId(refundId);
	const [, told, order] = await Promise.all([
		holdLogs(c, [project], true),
		c.row<Told>(FIND_REFUND, project, id),
		findOrder(c, project, orderId),
	]);
	const known = earlier(told, digest);
	if (known !== null) return known;
	if (order === null) return { kind: "no_order" };
	const leftCents = order.amountCents - order.refundedCents;
	if (amountCents > leftCents) return { kind: "too_much", leftCents };
	const appended = await appendOfFact(c, project, at, amountCents === leftCents ? whole : partial);
	await Promise.all([
		c.run(ADD_REFUND, project, id, digest, at, eventsJson(appended)),
		c.run(COUNT_REFUND, project, storedId(orderId), amountCents),
		c.commit(),
	]);
	return recorded(at, appended);
}

const FIND_CHARGEBACK = sql(`
	SELECT digest, at, events FROM posthorn.store_chargebacks WHERE project_no = $1 AND chargeback_id = $2`);
const ADD_CHARGEBACK = sql(`
	INSERT INTO posthorn.store_chargebacks (project_no, chargeback_id, digest, at, events) VALUES ($1, $2, $3, $4, $5)`);

export async function recordChargeback(
	c: Session,
	{ projectId, chargeback: { orderId, chargebackId, digest, at, event } }: Params<"recordChargeback">,
): Promise<OfOrder> {
	const project = await findProject(c, projectId);
	if (project === null) return { kind: "no_project" };
	const id = storedId(chargebackId);
	const [, told, order] = await Promise.all([
		holdLogs(c, [project], true),
		c.row<Told>(FIND_CHARGEBACK, project, id),
		findOrder(c, project, orderId),
	]);
	const known = earlier(told, digest);
	if (known !== null) return known;
	if (order === null) return { kind: "no_order" };
	const appended = await appendOfFact(c, project, at, event);
	await Promise.all([c.run(ADD_CHARGEBACK, project, id, digest, at, eventsJson(appended)), c.commit()]);
	return recorded(at, appended);
}

const FIND_DELIVERABLE = sql(`
	SELECT digest, at, events FROM posthorn.store_deliverables
	WHERE project_no = $1 AND order_id = $2 AND deliverable_id = $3`);
const ADD_DELIVERABLE = sql(`
	INSERT INTO posthorn.store_deliverables (project_no, order_id, deliverable_id, digest, at, events)
	VALUES ($1, $2, $3, $4, $5, $6)`);

export async function recordDeliverable(
	c: Session,
	{ projectId, deliverable: { orderId, deliverableId, digest, at, event } }: Params<"recordDeliverable">,
): Promise<OfOrder> {
	const project = await findProject(c, projectId);
	if (project === null) return { kind: "no_project" };
	const key = [project, storedId(orderId), storedId(deliverableId)];
	const [, order, told] = await Promise.all([
		holdLogs(c, [project], true),
		findOrder(c, project, orderId),
		c.row<Told>(FIND_DELIVERABLE, ...key),
	]);
	if (order === null) return { kind: "no_order" };
	const known = earlier(told, digest);
	if (known !== null) return known;
	const appended = await appendOfFact(c, project, at, event);
	await Promise.all([c.run(ADD_DELIVERABLE, ...key, digest, at, eventsJson(appended)), c.commit()]);
	return recorded(at, appended);
}
