import type { LogEvent, NewOrder, Params, Recorded } from "../../port.ts";
import { earlier, factEvents, type RecordedFact, recorded } from "../../shared/facts.ts";
import { findProject } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { numberArray, sql, textArray } from "../connection/session.ts";
import { appendOfFacts, bytesArray, holdLogs, storedId } from "../log/append-rows.ts";

const FIND_TOLD = sql(`
	SELECT o.order_id, o.digest, o.at, o.events
	FROM unnest($2::text[]) AS g (order_id) CROSS JOIN LATERAL (
		SELECT * FROM posthorn.store_orders WHERE project_no = $1 AND order_id = g.order_id LIMIT 1
	) o`);
const FIND_CUSTOMERS = sql(`
	SELECT c.key
	FROM unnest($2::bytea[]) AS g (key) CROSS JOIN LATERAL (
		SELECT key FROM posthorn.store_customers WHERE project_no = $1 AND key = g.key LIMIT 1
	) c`);

/** In a transaction, and in three round trips for any number of orders. */
export async function recordOrders(c: Session, { projectId, orders }: Params<"recordOrders">): Promise<Recorded[]> {
	const project = await findProject(c, projectId);
	if (project === null) return orders.map(() => ({ kind: "no_project" }));
	const ids = new Set(orders.map(({ orderId }) => storedId(orderId)));
	const keys = new Map(orders.map(({ customerKey }) => [hex(customerKey), customerKey]));
	const [, rows, customers] = await Promise.all([
		holdLogs(c, [project], true),
		c.rows<RecordedFact & { order_id: string }>(FIND_TOLD, project, textArray([...ids])),
		c.rows<{ key: Buffer }>(FIND_CUSTOMERS, project, bytesArray([...keys.values()])),
	]);
	const told = new Map<string, RecordedFact>(rows.map((row) => [row.order_id, row]));
	const fresh = new Map<string, NewOrder>();
	for (const order of orders) {
		const id = storedId(order.orderId);
		if (!told.has(id) && !fresh.has(id)) fresh.set(id, order);
	}
	const known = new Set(customers.map(({ key }) => hex(key)));
	const made = fresh.size === 0 ? new Map<string, LogEvent[]>() : await record(c, project, fresh, known);
	return orders.map((order): Recorded => {
		const id = storedId(order.orderId);
		const before = earlier(told.get(id), order.digest);
		if (before !== null) return before;
		const appended = made.get(id)!;
		// For later orders with the same id.
		told.set(id, { digest: order.digest, at: order.at, events: factEvents(appended) });
		return recorded(order.at, appended);
	});
}

const ADD_CUSTOMERS = sql("INSERT INTO posthorn.store_customers (project_no, key) SELECT $1, unnest($2::bytea[])");
const ADD = sql(`
	INSERT INTO posthorn.store_orders (project_no, order_id, digest, at, events, amount_cents, currency, basket_id)
	SELECT $1, order_id, digest, at, events::json, amount_cents, currency, basket_id
	FROM unnest($2::text[], $3::bytea[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[])
		AS g (order_id, digest, at, events, amount_cents, currency, basket_id)`);
const END_BASKETS = sql("DELETE FROM posthorn.store_baskets WHERE project_no = $1 AND basket_id = ANY ($2::text[])");

/**
 * Records new orders, one per id, and commits. The log is locked, so no customer is added meanwhile.
 *
 * @param customers those that have bought before, as hex
 * @returns the orders' events, by the orders' ids
 */
async function record(
	c: Session,
	projectNo: number,
	fresh: ReadonlyMap<string, NewOrder>,
	customers: ReadonlySet<string>,
): Promise<Map<string, LogEvent[]>> {
	const orders = [...fresh.values()];
	const created = new Map<string, Uint8Array>();
	const makings = orders.map(({ at, customerKey, customerCreated, purchaseCompleted }) => {
		const key = hex(customerKey);
		if (customers.has(key) || created.has(key)) return { at, events: [purchaseCompleted] };
		created.set(key, customerKey);
		return { at, events: [customerCreated, purchaseCompleted] };
	});
	const appended = await appendOfFacts(c, projectNo, makings);
	const baskets = orders.map(({ basketId }) => (basketId === null ? null : storedId(basketId)));
	await Promise.all([
		c.run(ADD_CUSTOMERS, projectNo, bytesArray([...created.values()])),
		c.run(
			ADD,
			projectNo,
			textArray([...fresh.keys()]),
			bytesArray(orders.map(({ digest }) => digest)),
			numberArray(orders.map(({ at }) => at)),
			textArray(appended.map((events) => JSON.stringify(factEvents(events)))),
			numberArray(orders.map(({ amountCents }) => amountCents)),
			textArray(orders.map(({ currency }) => currency)),
			textArray(baskets),
		),
		c.run(END_BASKETS, projectNo, textArray(baskets.filter((id) => id !== null))),
		c.commit(),
	]);
	return new Map([...fresh.keys()].map((id, i) => [id, appended[i]!]));
}

const hex = (key: Uint8Array): string => Buffer.from(key).toString("hex");
