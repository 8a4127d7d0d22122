/** Facts of the store, as far as verbs/facts.ts leaves them to the engine: batches of any size in one statement. */
import type { LogEvent } from "../port.ts";
import type { AddedOrder, FactEvents, KnownOrders, RecordedFact, StoredOrder } from "../verbs/verb.ts";
import { typeCode } from "./connection/names.ts";
import { numberArray, type Session, sql, textArray } from "./connection/session.ts";
import { appendRows } from "./log/append-rows.ts";

/** In the current transaction, which holds the project's log. */
export async function appendFacts(c: Session, projectNo: number, facts: readonly FactEvents[]): Promise<LogEvent[][]> {
	const rows = facts.flatMap(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => {
			return { projectNo, id, type: typeCode(c.names, type), createdAt, publishedAt: at, body };
		}),
	);
	let seq = (await appendRows(c, rows, true)).ends.get(projectNo);
	if (seq === undefined) throw new Error("The events of a fact could not be appended: one has an id that is taken.");
	return facts.map(({ at, events }) =>
		events.map(({ id, type, createdAt, body }) => ({ seq: ++seq!, id, type, createdAt, publishedAt: at, body })),
	);
}

const FIND_ORDERS = sql(`
	SELECT o.order_id, o.digest, o.at, o.events
	FROM unnest($2::text[]) AS g (order_id) CROSS JOIN LATERAL (
		SELECT * FROM posthorn.store_orders WHERE project_no = $1 AND order_id = g.order_id LIMIT 1
	) o`);
const FIND_CUSTOMERS = sql(`
	SELECT c.key
	FROM unnest($2::bytea[]) AS g (key) CROSS JOIN LATERAL (
		SELECT key FROM posthorn.store_customers WHERE project_no = $1 AND key = g.key LIMIT 1
	) c`);

export async function findOrders(c: Session, projectNo: number, orders: readonly StoredOrder[]): Promise<KnownOrders> {
	const ids = [...new Set(orders.map(({ orderId }) => orderId))];
	const [found, customers] = await Promise.all([
		c.rows<RecordedFact & { order_id: string }>(FIND_ORDERS, projectNo, textArray(ids)),
		c.rows<{ key: Buffer }>(FIND_CUSTOMERS, projectNo, bytesArray(orders.map(({ customerKey }) => customerKey))),
	]);
	return { orders: new Map(found.map((row) => [row.order_id, row])), customers: customers.map(({ key }) => key) };
}

const ADD_CUSTOMERS = sql("INSERT INTO posthorn.store_customers (project_no, key) SELECT $1, unnest($2::bytea[])");
const ADD_ORDERS = sql(`
	INSERT INTO posthorn.store_orders (project_no, order_id, digest, at, events, amount_cents, currency, basket_id)
	SELECT $1, order_id, digest, at, events::json, amount_cents, currency, basket_id
	FROM unnest($2::text[], $3::bytea[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[])
		AS g (order_id, digest, at, events, amount_cents, currency, basket_id)`);
const END_BASKETS = sql("DELETE FROM posthorn.store_baskets WHERE project_no = $1 AND basket_id = ANY ($2::text[])");

export async function addOrders(
	c: Session,
	projectNo: number,
	orders: readonly AddedOrder[],
	customers: readonly Uint8Array[],
): Promise<void> {
	const baskets = orders.map(({ basketId }) => basketId);
	await Promise.all([
		c.run(ADD_CUSTOMERS, projectNo, bytesArray(customers)),
		c.run(
			ADD_ORDERS,
			projectNo,
			textArray(orders.map(({ orderId }) => orderId)),
			bytesArray(orders.map(({ digest }) => digest)),
			numberArray(orders.map(({ at }) => at)),
			textArray(orders.map(({ events }) => JSON.stringify(events))),
			numberArray(orders.map(({ amountCents }) => amountCents)),
			textArray(orders.map(({ currency }) => currency)),
			textArray(baskets),
		),
		c.run(END_BASKETS, projectNo, textArray(baskets.filter((id) => id !== null))),
	]);
}

/** One parameter for a column of byte strings: `$1::bytea[]`. */
function bytesArray(values: readonly Uint8Array[]): string {
	return textArray(values.map((value) => `\\x${Buffer.from(value).toString("hex")}`));
}
