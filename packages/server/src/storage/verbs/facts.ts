/** Facts about orders and subscriptions. Recording one holds the project's log, so no fact is recorded twice. */
import {
	type FactEvent,
	judgeRefund,
	type NewChargeback,
	type NewDeliverable,
	type NewRefund,
	type NewSubscription,
	type Order,
	type Recorded,
} from "../port/facts.ts";
import type { NewEvent } from "../port/log.ts";
import type { ProjectRef } from "../port/registry.ts";
import { earlier, type RecordedFact, recorded } from "../shared/facts.ts";
import { type Query, sql } from "./sql.ts";
import { appendEvents, findProject, holdLog, row, type Steps, together } from "./verb.ts";

type OfOrder = Recorded | { readonly kind: "no_order" };

function* append(
	{ projectId }: ProjectRef,
	project: number,
	at: number,
	event: NewEvent,
): Steps<Recorded & { readonly kind: "recorded" }> {
	const [appended] = yield* together(appendEvents(projectId, project, at, [event]));
	return recorded(at, appended);
}

const orderOf = (project: number, orderId: string): Query<Order> => sql`
	SELECT amount_cents AS "amountCents", refunded_cents AS "refundedCents", currency FROM posthorn.store_orders
	WHERE project_no = ${project} AND order_id = ${orderId}`;

export function* getOrder({ projectId, orderId }: ProjectRef & { readonly orderId: string }): Steps<Order | null> {
	const project = yield* findProject(projectId);
	if (project === null) return null;
	return (yield* row(orderOf(project, orderId))) ?? null;
}

export function* recordRefund(
	p: ProjectRef & { readonly refund: NewRefund },
): Steps<OfOrder | { readonly kind: "too_much"; readonly leftCents: number }> {
	const { orderId, refundId, digest, at, amountCents } = p.refund;
	const project = yield* findProject(p.projectId);
	if (project === null) return { kind: "no_project" };
	const [, [told], [order]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_refunds
			WHERE project_no = ${project} AND refund_id = ${refundId}`,
		orderOf(project, orderId),
	);
	const known = earlier(told, digest);
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

export function* recordChargeback(p: ProjectRef & { readonly chargeback: NewChargeback }): Steps<OfOrder> {
	const { orderId, chargebackId, digest, at, event } = p.chargeback;
	const project = yield* findProject(p.projectId);
	if (project === null) return { kind: "no_project" };
	const [, [told], [order]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_chargebacks
			WHERE project_no = ${project} AND chargeback_id = ${chargebackId}`,
		orderOf(project, orderId),
	);
	const known = earlier(told, digest);
	if (known !== null) return known;
	if (order === undefined) return { kind: "no_order" };
	const made = yield* append(p, project, at, event);
	yield* row(sql`
		INSERT INTO posthorn.store_chargebacks (project_no, chargeback_id, digest, at, events)
		VALUES (${project}, ${chargebackId}, ${digest}, ${at}, ${JSON.stringify(made.events)})`);
	return made;
}

export function* recordDeliverable(p: ProjectRef & { readonly deliverable: NewDeliverable }): Steps<OfOrder> {
	const { orderId, deliverableId, digest, at, event } = p.deliverable;
	const project = yield* findProject(p.projectId);
	if (project === null) return { kind: "no_project" };
	const [, [told], [order]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_deliverables
			WHERE project_no = ${project} AND order_id = ${orderId} AND deliverable_id = ${deliverableId}`,
		orderOf(project, orderId),
	);
	if (order === undefined) return { kind: "no_order" };
	const known = earlier(told, digest);
	if (known !== null) return known;
	const made = yield* append(p, project, at, event);
	yield* row(sql`
		INSERT INTO posthorn.store_deliverables (project_no, order_id, deliverable_id, digest, at, events)
		VALUES (${project}, ${orderId}, ${deliverableId}, ${digest}, ${at}, ${JSON.stringify(made.events)})`);
	return made;
}

export function* recordSubscription(p: ProjectRef & { readonly subscription: NewSubscription }): Steps<Recorded> {
	const { subscriptionId, digest, at, data, event } = p.subscription;
	const project = yield* findProject(p.projectId);
	if (project === null) return { kind: "no_project" };
	const [, [told]] = yield* together(
		holdLog(project),
		sql<RecordedFact>`
			SELECT digest, at, events FROM posthorn.store_subscriptions
			WHERE project_no = ${project} AND subscription_id = ${subscriptionId}`,
	);
	const known = earlier(told, digest);
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
export function* getSubscription({ projectId, subscriptionId }: SubscriptionRef): Steps<string | null> {
	const project = yield* findProject(projectId);
	const found = yield* row<{ data: string }>(sql`
		SELECT data FROM posthorn.store_subscriptions
		WHERE project_no = ${project} AND subscription_id = ${subscriptionId}`);
	return found?.data ?? null;
}

/** Null while the subscription is active. */
type End = { readonly at: number | null; readonly events: readonly FactEvent[] };

export function* cancelSubscription(
	p: SubscriptionRef & { readonly at: number; readonly event: NewEvent },
): Steps<Recorded | { readonly kind: "no_subscription" }> {
	const { subscriptionId, at } = p;
	const project = yield* findProject(p.projectId);
	if (project === null) return { kind: "no_project" };
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
