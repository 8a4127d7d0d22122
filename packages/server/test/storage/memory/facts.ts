import {
	type FactEvent,
	judgeRefund,
	type LogEvent,
	type NewEvent,
	type NewFact,
	type NewOrder,
	type Order,
	type Params,
	type Recorded,
} from "../../../src/storage/port.ts";
import { ring } from "./alarm.ts";
import { addEvent } from "./append.ts";
import type { MemoryNode } from "./node.ts";
import type { ProjectRow } from "./rows.ts";
import { eventKey } from "./tables.ts";
import { factKey, type OrderRow, type ToldRow } from "./tables-facts.ts";

/** A hash as a key. */
const hex = (hash: Uint8Array): string => Buffer.from(hash).toString("hex");

type OfOrder = Recorded | { readonly kind: "no_order" };

/**
 * The original response to a fact that was recorded before, or a conflict if its content differs; null if it is new.
 */
function earlier(row: ToldRow | undefined, { digest }: NewFact): Recorded | null {
	if (row === undefined) return null;
	return row.digest === hex(digest) ? repeated(row) : { kind: "conflict" };
}

const repeated = ({ at, events }: Pick<ToldRow, "at" | "events">): Recorded => {
	return { kind: "repeated", at, events: events.map((event) => ({ ...event })) };
};

const recorded = (at: number, appended: readonly LogEvent[]): Recorded => {
	return { kind: "recorded", at, events: eventsOf(appended), appended };
};

const eventsOf = (appended: readonly LogEvent[]): FactEvent[] =>
	appended.map(({ id, seq, type, createdAt }) => ({ id, seq, type, createdAt }));

const told = (key: string, { digest, at }: NewFact, appended: readonly LogEvent[]): ToldRow => {
	return { key, digest: hex(digest), at, events: eventsOf(appended) };
};

/** Appends the events of a fact. */
export function appendOfFact(
	node: MemoryNode,
	project: ProjectRow,
	publishedAt: number,
	events: readonly NewEvent[],
): LogEvent[] {
	const appended = events.map((event): LogEvent => {
		if (node.tables.events.by.id.get(eventKey(project.no, event.id)) !== undefined)
			throw new Error("The events of a fact could not be appended: one has an id that is taken.");
		const { seq } = addEvent(node, project, event, publishedAt);
		const { id, type, createdAt, body } = event;
		return { seq, id, type, createdAt, publishedAt, body };
	});
	ring(node, project);
	node.ends.set(project.id, node.tables.logs.get(project.no)!.lastSeq);
	return appended;
}

export function recordOrders(node: MemoryNode, { projectId, orders }: Params<"recordOrders">): Recorded[] {
	const project = node.database.project(projectId);
	return orders.map((order) => (project === undefined ? { kind: "no_project" } : recordOrder(node, project, order)));
}

function recordOrder(node: MemoryNode, project: ProjectRow, order: NewOrder): Recorded {
	const { tables } = node;
	const key = factKey(project.no, order.orderId);
	const known = earlier(tables.orders.get(key), order);
	if (known !== null) return known;
	const customer = { key: factKey(project.no, hex(order.customerKey)) };
	const isFirst = tables.customers.get(customer.key) === undefined;
	tables.customers.put(customer);
	const candidates = isFirst ? [order.customerCreated, order.purchaseCompleted] : [order.purchaseCompleted];
	const appended = appendOfFact(node, project, order.at, candidates);
	const { amountCents, currency, basketId } = order;
	tables.orders.put({ ...told(key, order, appended), order: { amountCents, refundedCents: 0, currency } });
	if (basketId !== null) {
		const basket = factKey(project.no, basketId);
		tables.boughtBaskets.put({ key: basket });
		const waiting = tables.baskets.by.key.get(basket);
		if (waiting !== undefined) tables.baskets.delete(waiting.no);
	}
	return recorded(order.at, appended);
}

export function getOrder(node: MemoryNode, { projectId, orderId }: Params<"getOrder">): Order | null {
	const project = node.database.project(projectId);
	const row = project && findOrder(node, project, orderId);
	return row === undefined ? null : { ...row.order };
}

const findOrder = ({ tables }: MemoryNode, project: ProjectRow, orderId: string): OrderRow | undefined =>
	tables.orders.get(factKey(project.no, orderId));

export function recordRefund(
	node: MemoryNode,
	{ projectId, refund }: Params<"recordRefund">,
): OfOrder | { readonly kind: "too_much"; readonly leftCents: number } {
	const { tables } = node;
	const project = node.database.project(projectId);
	if (project === undefined) return { kind: "no_project" };
	const key = factKey(project.no, refund.refundId);
	const known = earlier(tables.refunds.get(key), refund);
	if (known !== null) return known;
	const row = findOrder(node, project, refund.orderId);
	if (row === undefined) return { kind: "no_order" };
	const { order } = row;
	const verdict = judgeRefund(order, refund.amountCents);
	if (verdict.kind === "too_much") return verdict;
	const appended = appendOfFact(node, project, refund.at, [refund[verdict.kind]]);
	tables.refunds.put(told(key, refund, appended));
	tables.orders.put({ ...row, order: { ...order, refundedCents: order.refundedCents + refund.amountCents } });
	return recorded(refund.at, appended);
}

export function recordChargeback(node: MemoryNode, { projectId, chargeback }: Params<"recordChargeback">): OfOrder {
	const { chargebacks } = node.tables;
	const project = node.database.project(projectId);
	if (project === undefined) return { kind: "no_project" };
	const key = factKey(project.no, chargeback.chargebackId);
	const known = earlier(chargebacks.get(key), chargeback);
	if (known !== null) return known;
	if (findOrder(node, project, chargeback.orderId) === undefined) return { kind: "no_order" };
	const appended = appendOfFact(node, project, chargeback.at, [chargeback.event]);
	chargebacks.put(told(key, chargeback, appended));
	return recorded(chargeback.at, appended);
}

export function recordDeliverable(node: MemoryNode, { projectId, deliverable }: Params<"recordDeliverable">): OfOrder {
	const { deliverables } = node.tables;
	const project = node.database.project(projectId);
	if (project === undefined) return { kind: "no_project" };
	if (findOrder(node, project, deliverable.orderId) === undefined) return { kind: "no_order" };
	const key = factKey(project.no, deliverable.orderId, deliverable.deliverableId);
	const known = earlier(deliverables.get(key), deliverable);
	if (known !== null) return known;
	const appended = appendOfFact(node, project, deliverable.at, [deliverable.event]);
	deliverables.put(told(key, deliverable, appended));
	return recorded(deliverable.at, appended);
}

export function recordSubscription(
	node: MemoryNode,
	{ projectId, subscription }: Params<"recordSubscription">,
): Recorded {
	const { subscriptions } = node.tables;
	const project = node.database.project(projectId);
	if (project === undefined) return { kind: "no_project" };
	const key = factKey(project.no, subscription.subscriptionId);
	const known = earlier(subscriptions.get(key), subscription);
	if (known !== null) return known;
	const appended = appendOfFact(node, project, subscription.at, [subscription.event]);
	subscriptions.put({ ...told(key, subscription, appended), data: subscription.data, canceled: null });
	return recorded(subscription.at, appended);
}

export function getSubscription(
	node: MemoryNode,
	{ projectId, subscriptionId }: Params<"getSubscription">,
): string | null {
	const project = node.database.project(projectId);
	const row = project && node.tables.subscriptions.get(factKey(project.no, subscriptionId));
	return row?.data ?? null;
}

export function cancelSubscription(
	node: MemoryNode,
	{ projectId, subscriptionId, at, event }: Params<"cancelSubscription">,
): Recorded | { readonly kind: "no_subscription" } {
	const { subscriptions } = node.tables;
	const project = node.database.project(projectId);
	if (project === undefined) return { kind: "no_project" };
	const row = subscriptions.get(factKey(project.no, subscriptionId));
	if (row === undefined) return { kind: "no_subscription" };
	if (row.canceled !== null) return repeated(row.canceled);
	const appended = appendOfFact(node, project, at, [event]);
	subscriptions.put({ ...row, canceled: { at, events: eventsOf(appended) } });
	return recorded(at, appended);
}
