import type { NewOrder, Order, Params, Recorded } from "../../port.ts";
import type { Connection } from "../connection/connection.ts";
import { appendOfFact, earlier, factEvents, recorded } from "./record.ts";

export function recordOrders(c: Connection, { projectId, orders }: Params<"recordOrders">): Recorded[] {
	const project = c.names.project(projectId);
	return orders.map((order) => (project === null ? { kind: "no_project" } : recordOrder(c, projectId, project, order)));
}

function recordOrder(c: Connection, projectId: string, project: number, order: NewOrder): Recorded {
	const { orderId, digest, at, customerKey, amountCents, currency, basketId } = order;
	const before = c
		.sql("SELECT digest, at, events FROM store_orders WHERE project_no = ? AND order_id = ?")
		.get(project, orderId);
	const known = earlier(before, digest);
	if (known !== null) return known;
	const isFirst =
		c
			.sql("INSERT INTO store_customers (project_no, key) VALUES (?, ?) ON CONFLICT DO NOTHING")
			.run(project, customerKey).changes === 1;
	const candidates = isFirst ? [order.customerCreated, order.purchaseCompleted] : [order.purchaseCompleted];
	const appended = appendOfFact(c, projectId, at, candidates);
	c.sql(`
		INSERT INTO store_orders (project_no, order_id, digest, at, events, amount_cents, currency, basket_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`).run(
		project,
		orderId,
		digest,
		at,
		JSON.stringify(factEvents(appended)),
		amountCents,
		currency,
		basketId,
	);
	if (basketId !== null)
		c.sql("DELETE FROM store_baskets WHERE project_no = ? AND basket_id = ?").run(project, basketId);
	return recorded(at, appended);
}

export function getOrder(c: Connection, { projectId, orderId }: Params<"getOrder">): Order | null {
	const project = c.names.project(projectId);
	return project === null ? null : findOrder(c, project, orderId);
}

export function findOrder(c: Connection, project: number, orderId: string): Order | null {
	const row = c
		.sql("SELECT amount_cents, refunded_cents, currency FROM store_orders WHERE project_no = ? AND order_id = ?")
		.get(project, orderId);
	if (row === undefined) return null;
	return {
		amountCents: row.amount_cents as number,
		refundedCents: row.refunded_cents as number,
		currency: row.currency as string,
	};
}
