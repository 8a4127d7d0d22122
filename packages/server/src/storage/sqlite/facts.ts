/** Facts of the store, as far as verbs/facts.ts leaves them to the engine. */
import type { LogEvent } from "../port.ts";
import type { AddedOrder, FactEvents, KnownOrders, RecordedFact, StoredOrder } from "../verbs/verb.ts";
import type { Connection } from "./connection/connection.ts";
import { appendEvents } from "./log/append.ts";

/** In the current transaction. */
export function appendFacts(c: Connection, projectId: string, facts: readonly FactEvents[]): LogEvent[][] {
	const results = appendEvents(
		c,
		facts.map(({ at, events }) => ({ projectId, publishedAt: at, events })),
	);
	return facts.map(({ at, events }, nth) => {
		const result = results[nth]!;
		if (result.kind !== "appended") throw new Error(`The events of a fact could not be appended: ${result.kind}.`);
		return events.map(({ id, type, body }, i) => {
			const { seq, createdAt } = result.events[i]!;
			return { seq, id, type, createdAt, publishedAt: at, body };
		});
	});
}

export function findOrders(c: Connection, projectNo: number, orders: readonly StoredOrder[]): KnownOrders {
	const order = c.sql("SELECT digest, at, events FROM store_orders WHERE project_no = ? AND order_id = ?");
	const customer = c.sql("SELECT 1 FROM store_customers WHERE project_no = ? AND key = ?");
	const found = orders.flatMap(({ orderId }): [string, RecordedFact][] => {
		const row = order.get(projectNo, orderId);
		if (row === undefined) return [];
		const { digest, at, events } = row;
		return [[orderId, { digest: digest as Uint8Array, at: at as number, events: JSON.parse(events as string) }]];
	});
	const keys = orders.map(({ customerKey }) => customerKey);
	return { orders: new Map(found), customers: keys.filter((key) => customer.get(projectNo, key) !== undefined) };
}

export function addOrders(
	c: Connection,
	projectNo: number,
	orders: readonly AddedOrder[],
	customers: readonly Uint8Array[],
): void {
	const addCustomer = c.sql("INSERT INTO store_customers (project_no, key) VALUES (?, ?)");
	const addOrder = c.sql(`
		INSERT INTO store_orders (project_no, order_id, digest, at, events, amount_cents, currency, basket_id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
	const endBasket = c.sql("DELETE FROM store_baskets WHERE project_no = ? AND basket_id = ?");
	for (const key of customers) addCustomer.run(projectNo, key);
	for (const { orderId, digest, at, events, amountCents, currency, basketId } of orders) {
		addOrder.run(projectNo, orderId, digest, at, JSON.stringify(events), amountCents, currency, basketId);
		if (basketId !== null) endBasket.run(projectNo, basketId);
	}
}
