import type { Params, Recorded } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { findOrder } from "./orders.ts";
import { appendOfFact, earlier, factEvents, recorded } from "./record.ts";

type OfOrder = Recorded | { readonly kind: "no_order" };

export function recordRefund(
	c: Connection,
	{ projectId, refund }: Params<"recordRefund">,
): OfOrder | { readonly kind: "too_much"; readonly leftCents: number } {
	const { orderId, refundId, digest, at, amountCents } = refund;
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	const before = c
		.sql("SELECT digest, at, events FROM store_refunds WHERE project_no = ? AND refund_id = ?")
		.get(project, refundId);
	const known = earlier(before, digest);
	if (known !== null) return known;
	const order = findOrder(c, project, orderId);
	if (order === null) return { kind: "no_order" };
	const leftCents = order.amountCents - order.refundedCents;
	if (amountCents > leftCents) return { kind: "too_much", leftCents };
	const appended = appendOfFact(c, projectId, at, [amountCents === leftCents ? refund.whole : refund.partial]);
	c.sql("INSERT INTO store_refunds (project_no, refund_id, digest, at, events) VALUES (?, ?, ?, ?, ?)").run(
		project,
		refundId,
		digest,
		at,
		JSON.stringify(factEvents(appended)),
	);
	c.sql("UPDATE store_orders SET refunded_cents = refunded_cents + ? WHERE project_no = ? AND order_id = ?").run(
		amountCents,
		project,
		orderId,
	);
	return recorded(at, appended);
}

export function recordChargeback(c: Connection, { projectId, chargeback }: Params<"recordChargeback">): OfOrder {
	const { orderId, chargebackId, digest, at, event } = chargeback;
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	const before = c
		.sql("SELECT digest, at, events FROM store_chargebacks WHERE project_no = ? AND chargeback_id = ?")
		.get(project, chargebackId);
	const known = earlier(before, digest);
	if (known !== null) return known;
	if (findOrder(c, project, orderId) === null) return { kind: "no_order" };
	const appended = appendOfFact(c, projectId, at, [event]);
	c.sql("INSERT INTO store_chargebacks (project_no, chargeback_id, digest, at, events) VALUES (?, ?, ?, ?, ?)").run(
		project,
		chargebackId,
		digest,
		at,
		JSON.stringify(factEvents(appended)),
	);
	return recorded(at, appended);
}

export function recordDeliverable(c: Connection, { projectId, deliverable }: Params<"recordDeliverable">): OfOrder {
	const { orderId, deliverableId, digest, at, event } = deliverable;
	const project = c.names.project(projectId);
	if (project === null) return { kind: "no_project" };
	if (findOrder(c, project, orderId) === null) return { kind: "no_order" };
	const before = c
		.sql(`
			SELECT digest, at, events FROM store_deliverables
			WHERE project_no = ? AND order_id = ? AND deliverable_id = ?`)
		.get(project, orderId, deliverableId);
	const known = earlier(before, digest);
	if (known !== null) return known;
	const appended = appendOfFact(c, projectId, at, [event]);
	c.sql(`
		INSERT INTO store_deliverables (project_no, order_id, deliverable_id, digest, at, events)
		VALUES (?, ?, ?, ?, ?, ?)`).run(project, orderId, deliverableId, digest, at, JSON.stringify(factEvents(appended)));
	return recorded(at, appended);
}
