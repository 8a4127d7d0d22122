/**
 * Facts that the store platform reported. A fact and its events are written in one transaction, so each event is created
 * exactly once, despite races and crashes. Recording one holds the project's log, so no fact is recorded twice. The
 * project's alarm is set as for any append.
 */
import {
	type AbandonedBasket,
	type BasketTouch,
	type DueBasket,
	type FactEvent,
	judgeRefund,
	type NewChargeback,
	type NewDeliverable,
	type NewFact,
	type NewOrder,
	type NewRefund,
	type NewSubscription,
	type Order,
	type Recorded,
} from "../port/facts.ts";
import type { LogEvent, NewEvent } from "../port/log.ts";
import type { ProjectRef } from "../port/registry.ts";
import {
	among,
	bytesOf,
	endUnlocked,
	fragment,
	greatest,
	joinByKey,
	type Query,
	rowsOf,
	sql,
	unlocked,
} from "./sql.ts";
import {
	appendFacts,
	commit,
	type FactEvents,
	holdLog,
	row,
	rows,
	type Steps,
	toDatabaseTime,
	together,
	toNodeTime,
} from "./verb.ts";

type OfOrder = Recorded | { readonly kind: "no_order" };

interface RecordedFact extends NewFact {
	readonly events: readonly FactEvent[];
}

/** The original response to a fact that was recorded before, or a conflict if its content differs; null if it is new. */
function earlierResult(fact: RecordedFact | undefined, digest: Uint8Array): Recorded | null {
	if (fact === undefined) return null;
	if (Buffer.compare(fact.digest, digest) !== 0) return { kind: "conflict" };
	return { kind: "repeated", at: fact.at, events: fact.events };
}

const recorded = (at: number, appended: readonly LogEvent[]): Recorded & { readonly kind: "recorded" } => {
	return { kind: "recorded", at, events: factEvents(appended), appended };
};

/** What is stored with a fact. */
const factEvents = (appended: readonly LogEvent[]): FactEvent[] =>
	appended.map(({ id, seq, type, createdAt }) => ({ id, seq, type, createdAt }));

function* append(
	{ projectId }: ProjectRef,
	project: number,
	at: number,
	event: NewEvent,
): Steps<Recorded & { readonly kind: "recorded" }> {
	const [[appended]] = yield* together(appendFacts(projectId, project, [{ at, events: [event] }]));
	return recorded(at, appended!);
}

/** Ids as databases store them: PostgreSQL accepts neither NUL nor half of a character. */
const storedId = (id: string): string => id.replaceAll("\0", "\ufffd").toWellFormed();

const hex = (key: Uint8Array): string => Buffer.from(key).toString("hex");

/** The keys of orders and of their customers as rows `g`, with bytes in hexadecimal. */
const givenKeys = rowsOf("project", "order_id text", "customer text");
/** … and the rest of new orders. */
const givenOrders = rowsOf(
	"project",
	"order_id text",
	"digest text",
	"at",
	"events json",
	"amount_cents",
	"currency text",
	"basket_id text",
);
const ITS_ORDER = joinByKey("store_orders o", "o.project_no = g.project AND o.order_id = g.order_id");
const CUSTOMER_KEY = bytesOf("g.customer");
const ITS_CUSTOMER = joinByKey("store_customers c", "c.project_no = g.project AND c.key = ", CUSTOMER_KEY);
const DIGEST = bytesOf("g.digest");

/** Records orders in sequence, each atomically: any number in three round trips. One result for each. */
export function* recordOrders(
	project: number,
	p: ProjectRef & { readonly orders: readonly NewOrder[] },
): Steps<Recorded[]> {
	const orders = p.orders.map((order) => {
		const { orderId, basketId, customerKey } = order;
		return {
			...order,
			orderId: storedId(orderId),
			basketId: basketId && storedId(basketId),
			customer: hex(customerKey),
		};
	});
	const keys = givenKeys(orders.map(({ orderId, customer }) => ({ project, order_id: orderId, customer })));
	const [, earlier, customers] = yield* together(
		holdLog(project),
		sql<RecordedFact & { orderId: string }>`
			SELECT o.order_id AS "orderId", o.digest, o.at, o.events FROM ${keys} ${ITS_ORDER}`,
		sql<{ customer: string }>`SELECT g.customer FROM ${keys} ${ITS_CUSTOMER}`,
	);
	const results = new Map(earlier.map((fact) => [fact.orderId, fact as RecordedFact]));
	const fresh = newOrders(orders, results, new Set(customers.map(({ customer }) => customer)));
	const appended = new Map<string, LogEvent[]>();
	if (fresh.length > 0) {
		const [events] = yield* together(appendFacts(p.projectId, project, fresh));
		for (const [i, { order }] of fresh.entries()) appended.set(order.orderId, events[i]!);
		yield* together(...addOrders(project, fresh, events), commit());
	}
	return orders.map((order): Recorded => {
		const { orderId, digest, at } = order;
		const before = earlierResult(results.get(orderId), digest);
		if (before !== null) return before;
		const made = recorded(at, appended.get(orderId)!);
		// For later orders with the same id.
		results.set(orderId, { digest, at, events: made.events });
		return made;
	});
}

/** An order with its customer's key in hexadecimal. */
interface KeyedOrder extends NewOrder {
	readonly customer: string;
}

interface FreshOrder extends FactEvents {
	readonly order: KeyedOrder;
	readonly isFirst: boolean;
}

/** New orders, one per id, with the events that each creates: a customer's first one comes after `customerCreated`. */
function newOrders(
	orders: readonly KeyedOrder[],
	earlier: ReadonlyMap<string, RecordedFact>,
	knownCustomers: ReadonlySet<string>,
): FreshOrder[] {
	const [ids, customers] = [new Set(earlier.keys()), new Set(knownCustomers)];
	const fresh: FreshOrder[] = [];
	for (const order of orders) {
		if (ids.has(order.orderId)) continue;
		ids.add(order.orderId);
		const { at, customer, customerCreated, purchaseCompleted } = order;
		const isFirst = !customers.has(customer);
		customers.add(customer);
		const events = isFirst ? [customerCreated, purchaseCompleted] : [purchaseCompleted];
		fresh.push({ order, isFirst, at, events });
	}
	return fresh;
}

/** Also ends the baskets that were bought. */
function addOrders(project: number, fresh: readonly FreshOrder[], appended: readonly (readonly LogEvent[])[]) {
	const rows = fresh.map(({ order, at }, i) => ({
		project,
		order_id: order.orderId,
		digest: hex(order.digest),
		at,
		events: factEvents(appended[i]!),
		amount_cents: order.amountCents,
		currency: order.currency,
		basket_id: order.basketId,
	}));
	const customers = fresh.filter(({ isFirst }) => isFirst).map(({ order: { customer } }) => ({ project, customer }));
	const baskets = rows.flatMap(({ basket_id }) => basket_id ?? []);
	return [
		sql`
			INSERT INTO posthorn.store_customers (project_no, key)
			SELECT g.project, ${CUSTOMER_KEY} FROM ${givenKeys(customers)}`,
		sql`
			INSERT INTO posthorn.store_orders (
				project_no, order_id, digest, at, events, amount_cents, currency, basket_id)
			SELECT g.project, g.order_id, ${DIGEST}, g.at, g.events, g.amount_cents, g.currency, g.basket_id
			FROM ${givenOrders(rows)}`,
		sql`
			DELETE FROM posthorn.store_baskets
			WHERE project_no = ${project} AND basket_id ${among(baskets)}`,
	];
}

const orderOf = (project: number, orderId: string): Query<Order> => sql`
	SELECT amount_cents AS "amountCents", refunded_cents AS "refundedCents", currency FROM posthorn.store_orders
	WHERE project_no = ${project} AND order_id = ${orderId}`;

export function* getOrder(project: number, { orderId }: { readonly orderId: string }): Steps<Order | null> {
	return (yield* row(orderOf(project, orderId))) ?? null;
}

/** Refund ids are unique in the project. `too_much`: more than the `leftCents` that haven't been refunded. */
export function* recordRefund(
	project: number,
	p: ProjectRef & { readonly refund: NewRefund },
): Steps<OfOrder | { readonly kind: "too_much"; readonly leftCents: number }> {
	const { orderId, refundId, digest, at, amountCents } = p.refund;
	const [, [before], [order]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_refunds
			WHERE project_no = ${project} AND refund_id = ${refundId}`,
		orderOf(project, orderId),
	);
	const known = earlierResult(before, digest);
	if (known !== null) return known;
	if (order === undefined) return { kind: "no_order" };
	const verdict = judgeRefund(order, amountCents);
	if (verdict.kind === "too_much") return verdict;
	const made = yield* append(p, project, at, p.refund[verdict.kind]);
	yield* together(
		sql`
			INSERT INTO posthorn.store_refunds (project_no, refund_id, digest, at, events)
			VALUES (${project}, ${refundId}, ${digest}, ${at}, ${JSON.stringify(made.events)})`,
		sql`
			UPDATE posthorn.store_orders SET refunded_cents = refunded_cents + ${amountCents}
			WHERE project_no = ${project} AND order_id = ${orderId}`,
	);
	return made;
}

/** Chargeback ids are unique in the project. */
export function* recordChargeback(
	project: number,
	p: ProjectRef & { readonly chargeback: NewChargeback },
): Steps<OfOrder> {
	const { orderId, chargebackId, digest, at, event } = p.chargeback;
	const [, [before], [order]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_chargebacks
			WHERE project_no = ${project} AND chargeback_id = ${chargebackId}`,
		orderOf(project, orderId),
	);
	const known = earlierResult(before, digest);
	if (known !== null) return known;
	if (order === undefined) return { kind: "no_order" };
	const made = yield* append(p, project, at, event);
	yield* row(sql`
		INSERT INTO posthorn.store_chargebacks (project_no, chargeback_id, digest, at, events)
		VALUES (${project}, ${chargebackId}, ${digest}, ${at}, ${JSON.stringify(made.events)})`);
	return made;
}

/** Deliverable ids are unique in the order. Each is recorded once, with its final outcome. */
export function* recordDeliverable(
	project: number,
	p: ProjectRef & { readonly deliverable: NewDeliverable },
): Steps<OfOrder> {
	const { orderId, deliverableId, digest, at, event } = p.deliverable;
	const [, [before], [order]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_deliverables
			WHERE project_no = ${project} AND order_id = ${orderId} AND deliverable_id = ${deliverableId}`,
		orderOf(project, orderId),
	);
	if (order === undefined) return { kind: "no_order" };
	const known = earlierResult(before, digest);
	if (known !== null) return known;
	const made = yield* append(p, project, at, event);
	yield* row(sql`
		INSERT INTO posthorn.store_deliverables (project_no, order_id, deliverable_id, digest, at, events)
		VALUES (${project}, ${orderId}, ${deliverableId}, ${digest}, ${at}, ${JSON.stringify(made.events)})`);
	return made;
}

export function* recordSubscription(
	project: number,
	p: ProjectRef & { readonly subscription: NewSubscription },
): Steps<Recorded> {
	const { subscriptionId, digest, at, data, event } = p.subscription;
	const [, [before]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_subscriptions
			WHERE project_no = ${project} AND subscription_id = ${subscriptionId}`,
	);
	const known = earlierResult(before, digest);
	if (known !== null) return known;
	const made = yield* append(p, project, at, event);
	yield* row(sql`
		INSERT INTO posthorn.store_subscriptions (project_no, subscription_id, digest, at, events, data)
		VALUES (${project}, ${subscriptionId}, ${digest}, ${at}, ${JSON.stringify(made.events)}, ${data})`);
	return made;
}

interface SubscriptionRef extends ProjectRef {
	readonly subscriptionId: string;
}

/** The data of its events; null if it doesn't exist. */
export function* getSubscription(project: number, { subscriptionId }: SubscriptionRef): Steps<string | null> {
	const found = yield* row<{ data: string }>(sql`
		SELECT data FROM posthorn.store_subscriptions
		WHERE project_no = ${project} AND subscription_id = ${subscriptionId}`);
	return found?.data ?? null;
}

/** Null while the subscription is active. */
type End = { readonly at: number | null; readonly events: readonly FactEvent[] };

/** Never a conflict. */
export function* cancelSubscription(
	project: number,
	p: SubscriptionRef & { readonly at: number; readonly event: NewEvent },
): Steps<Recorded | { readonly kind: "no_subscription" }> {
	const { subscriptionId, at } = p;
	const [, [end]] = yield* together(
		holdLog(project),
		sql<End>`
			SELECT canceled_at AS at, cancel_events AS events FROM posthorn.store_subscriptions
			WHERE project_no = ${project} AND subscription_id = ${subscriptionId}`,
	);
	if (end === undefined) return { kind: "no_subscription" };
	if (end.at !== null) return { kind: "repeated", at: end.at, events: end.events };
	const made = yield* append(p, project, at, p.event);
	yield* row(sql`
		UPDATE posthorn.store_subscriptions SET canceled_at = ${at}, cancel_events = ${JSON.stringify(made.events)}
		WHERE project_no = ${project} AND subscription_id = ${subscriptionId}`);
	return made;
}

interface BasketRef extends ProjectRef {
	readonly basketId: string;
}

/**
 * Restarts the basket's timer. `bought`: an order has ended this basket permanently.
 *
 * Two touches always have different times, even within a millisecond or if the clock steps back. Recording an order
 * holds the log, so the lookup of an order holds it too.
 */
export function* touchBasket(
	project: number,
	p: ProjectRef & { readonly touch: BasketTouch },
): Steps<"touched" | "bought" | "no_project"> {
	const { basketId, at, dueAt, data } = p.touch;
	const due = yield* toDatabaseTime(dueAt);
	const [, touched] = yield* together(
		holdLog(project),
		sql`
			INSERT INTO posthorn.store_baskets AS b (project_no, basket_id, touched_at, due_at, data)
			SELECT ${project}, ${basketId}, ${at}, ${due}, ${data}
			WHERE NOT EXISTS (
				SELECT 1 FROM posthorn.store_orders o WHERE o.project_no = ${project} AND o.basket_id = ${basketId}
			)
			ON CONFLICT (project_no, basket_id) DO UPDATE SET
				touched_at = ${greatest}(excluded.touched_at, b.touched_at + 1), due_at = excluded.due_at,
				data = excluded.data
			RETURNING basket_id`,
		commit(),
	);
	return touched.length === 1 ? "touched" : "bought";
}

/** Removes a basket. It may be touched again. */
export function* removeBasket(project: number, { basketId }: BasketRef): Steps<"removed" | "absent" | "no_project"> {
	const removed = yield* row(sql`
		DELETE FROM posthorn.store_baskets WHERE project_no = ${project} AND basket_id = ${basketId} RETURNING basket_id`);
	if (removed !== undefined) return "removed";
	// An earlier removal may not be on a standby yet. A transaction that only reads wouldn't wait for that.
	yield* together(holdLog(project));
	return "absent";
}

const BASKETS = unlocked("store_baskets", "no");
const DUE_BASKET = fragment(`
	(SELECT p.id FROM posthorn.projects p WHERE p.no = project_no) AS "projectId",
	basket_id AS "basketId", touched_at AS "touchedAt", data`);

/**
 * Claims baskets of all projects that are due at `now`, the longest overdue, in any order. The same step postpones them
 * to `until`: concurrent nodes claim different baskets, and those that couldn't be abandoned come back without blocking
 * others, even if their claimer crashed.
 */
export function* takeDueBaskets(p: {
	readonly now: number;
	readonly until: number;
	readonly limit: number;
	/** Ids of projects whose baskets are left out. Each of these that is due is still read. */
	readonly except?: readonly string[];
}): Steps<DueBasket[]> {
	const [now, until] = [yield* toDatabaseTime(p.now), yield* toDatabaseTime(p.until)];
	if (p.except === undefined || p.except.length === 0)
		return yield* rows<DueBasket>(sql`
			UPDATE posthorn.store_baskets SET due_at = ${until}
			WHERE ${BASKETS} WHERE due_at <= ${now} ORDER BY due_at LIMIT ${p.limit}${endUnlocked} RETURNING ${DUE_BASKET}`);
	return yield* rows<DueBasket>(sql`
		UPDATE posthorn.store_baskets SET due_at = ${until}
		WHERE ${BASKETS} WHERE due_at <= ${now}
			AND project_no NOT IN (SELECT no FROM posthorn.projects WHERE id ${among(p.except)})
			ORDER BY due_at LIMIT ${p.limit}${endUnlocked}
		RETURNING ${DUE_BASKET}`);
}

/** Null if there is no basket. */
export function* nextBasketDue(): Steps<number | null> {
	const next = yield* row<{ at: number }>(sql`
		SELECT due_at AS at FROM posthorn.store_baskets ORDER BY due_at LIMIT 1`);
	return next === undefined ? null : yield* toNodeTime(next.at);
}

/**
 * Ends baskets of a project whose last touch is still `touchedAt`, and appends their events in this order, in one
 * transaction. The others were touched, removed, bought or ended by someone else.
 *
 * @param p no basket twice
 * @returns the events that were appended
 */
export function* abandonBaskets(
	project: number,
	{ projectId, baskets, at }: ProjectRef & { readonly baskets: readonly AbandonedBasket[]; readonly at: number },
): Steps<LogEvent[]> {
	const [, ...ended] = yield* together(
		holdLog(project),
		...baskets.map(
			({ basketId, touchedAt }) => sql`
				DELETE FROM posthorn.store_baskets
				WHERE project_no = ${project} AND basket_id = ${basketId} AND touched_at = ${touchedAt}
				RETURNING basket_id`,
		),
	);
	const events = baskets.filter((_, i) => ended[i]!.length === 1).map(({ event }) => event);
	if (events.length === 0) return [];
	const [[appended]] = yield* together(appendFacts(projectId, project, [{ at, events }]));
	return appended!;
}
