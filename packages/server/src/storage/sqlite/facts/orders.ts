import type { NewOrder, Params, Recorded } from "../../port.ts";
import { earlier, factEvents, type RecordedFact, recorded } from "../../shared/facts.ts";
import type { Connection } from "../connection/connection.ts";
import { appendOfFact } from "./record.ts";

export function recordOrders(c: Connection, { projectId, orders }: Params<"recordOrders">): Recorded[] {
	const project = c.names.project(projectId);
	return orders.map((order) => (project === null ? { kind: "no_project" } : recordOrder(c, projectId, project, order)));
}

function recordOrder(c: Connection, projectId: string, project: number, order: NewOrder): Recorded {
	const { orderId, digest, at, customerKey, amountCents, currency, basketId } = order;
	const before = c
		.sql("SELECT digest, at, events FROM store_orders WHERE project_no = ? AND order_id = ?")
		.get(project, orderId);
	const known = earlier(before && toFact(before), digest);
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

function toFact({ digest, at, events }: Record<string, unknown>): RecordedFact {
	return { digest: digest as Uint8Array, at: at as number, events: JSON.parse(events as string) };
}
