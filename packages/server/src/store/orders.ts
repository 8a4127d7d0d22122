import { createHash } from "node:crypto";
import { normalizeEmail } from "../base/text.ts";
import type { NewOrder } from "../storage/port.ts";
import {
	digestOf,
	type FactRecorder,
	type FactRefused,
	type FactResult,
	idFaults,
	itemFaults,
	type OrderFactResult,
	textFaults,
} from "./recorder.ts";

/** Identifies a customer: SHA-256 of the normalized address, so that no address is kept for longer than its events. */
export const customerKey = (email: string): Buffer => createHash("sha256").update(normalizeEmail(email)).digest();

interface SubscriptionInput {
	readonly subscription_id: string;
	readonly customer_email: string;
	readonly plan: string;
}

type CancelResult = FactResult | { readonly kind: "no_subscription" };

export type Items = readonly Readonly<Record<string, unknown>>[];

export interface OrderInput {
	readonly order_id: string;
	readonly customer_email: string;
	readonly amount_cents: number;
	readonly currency: string;
	readonly items: Items;
	readonly basket_id?: string;
}

interface RefundInput {
	readonly refund_id: string;
	readonly amount_cents: number;
}

type RefundResult =
	| OrderFactResult
	/** The order's refunds would exceed its amount; this much is left. */
	| { readonly kind: "too_much"; readonly leftCents: number; readonly currency: string };

interface ChargebackInput {
	readonly chargeback_id: string;
	readonly amount_cents: number;
	readonly reason?: string;
}

export const DELIVERABLE_KINDS = ["game_command", "chat_role", "file"] as const;
export const OUTCOMES = ["completed", "dead_lettered"] as const;

interface DeliverableInput {
	readonly kind: (typeof DELIVERABLE_KINDS)[number];
	readonly outcome: (typeof OUTCOMES)[number];
	readonly detail?: string;
}

/** An order that storage may record, or why not. */
export type PreparedOrder = NewOrder | FactRefused;

/**
 * Paid orders, and facts about them. A customer's first order creates `customer.created`, and each creates
 * `purchase.completed`, in this order and before anything that refers to the order. Rejects only if storage fails.
 */
export class Orders {
	readonly #recorder: FactRecorder;

	constructor(recorder: FactRecorder) {
		this.#recorder = recorder;
	}

	async record(projectId: string, input: OrderInput): Promise<FactResult> {
		const [result] = await this.recordAll(projectId, [this.prepare(projectId, input)]);
		return result!;
	}

	/**
	 * Records orders in the given order, each separately, and returns what became of each. If the queue to the log has no
	 * room, none is recorded.
	 */
	async recordAll(projectId: string, prepared: readonly PreparedOrder[]): Promise<FactResult[]> {
		const orders = prepared.filter((each) => "orderId" in each);
		const results = (await this.#store(projectId, orders)).values();
		return prepared.map((each) => ("orderId" in each ? results.next().value! : each));
	}

	async #store(projectId: string, orders: readonly NewOrder[]): Promise<FactResult[]> {
		if (orders.length === 0) return [];
		const bytes = orders.reduce((sum, { purchaseCompleted }) => sum + purchaseCompleted.body.length, 0);
		const storing = () => this.#recorder.storage.recordOrders({ projectId, orders });
		const recorded = await this.#recorder.admit(projectId, bytes, storing, orders.length);
		if ("kind" in recorded) return orders.map(() => recorded);
		return recorded.map((result) => this.#recorder.done(projectId, result));
	}

	/** Checks an order and encodes the events that may follow from it. For many orders, the caller does so in slices. */
	prepare(projectId: string, input: OrderInput): PreparedOrder {
		const { order_id, amount_cents, currency, items, basket_id } = input;
		const customer_email = input.customer_email.trim();
		const purchase = { order_id, customer_email, amount_cents, currency, items };
		const data = this.#recorder.dataOf("purchase.completed", purchase, [
			...idFaults("/order_id", order_id),
			...textFaults("/customer_email", customer_email),
			...itemFaults(items),
			...(basket_id === undefined ? [] : idFaults("/basket_id", basket_id)),
		]);
		if (typeof data !== "string") return data;
		const at = this.#recorder.now();
		const customer = JSON.stringify({ customer_email, order_id });
		return {
			orderId: order_id,
			digest: digestOf({ ...purchase, basket_id }),
			at,
			customerKey: customerKey(customer_email),
			amountCents: amount_cents,
			currency,
			basketId: basket_id ?? null,
			customerCreated: this.#recorder.candidate(projectId, "customer.created", at, customer),
			purchaseCompleted: this.#recorder.candidate(projectId, "purchase.completed", at, data),
		};
	}

	/**
	 * Creates `purchase.refunded`, partial while an order's refunds together stay below what was paid. Storage decides
	 * which, by `judgeRefund` in `storage/port/facts.ts`: concurrent refunds must not exceed the amount.
	 */
	async refund(projectId: string, orderId: string, { refund_id, amount_cents }: RefundInput): Promise<RefundResult> {
		const faults = idFaults("/refund_id", refund_id);
		if (faults.length > 0) return { kind: "invalid", faults };
		const recorder = this.#recorder;
		return recorder.admit<RefundResult>(projectId, 0, async () => {
			// An order's currency never changes, so it may be read before the transaction.
			const order = await recorder.storage.getOrder({ projectId, orderId });
			if (order === null) return { kind: "no_order" };
			const { currency } = order;
			const at = recorder.now();
			const candidate = (partial: boolean) => {
				const data = { order_id: orderId, refund_id, amount_cents, currency, partial };
				return recorder.candidate(projectId, "purchase.refunded", at, JSON.stringify(data));
			};
			const result = await recorder.storage.recordRefund({
				projectId,
				refund: {
					orderId,
					refundId: refund_id,
					digest: digestOf({ orderId, refund_id, amount_cents }),
					at,
					amountCents: amount_cents,
					partial: candidate(true),
					whole: candidate(false),
				},
			});
			if (result.kind === "too_much") return { ...result, currency };
			return result.kind === "no_order" ? result : recorder.done(projectId, result);
		});
	}

	/** A payment processor's dispute: creates `chargeback.created`. With fees it may exceed the order's amount. */
	async chargeback(projectId: string, orderId: string, input: ChargebackInput): Promise<OrderFactResult> {
		const { chargeback_id, amount_cents, reason } = input;
		const faults = [...idFaults("/chargeback_id", chargeback_id), ...textFaults("/reason", reason)];
		if (faults.length > 0) return { kind: "invalid", faults };
		const recorder = this.#recorder;
		return recorder.admit<OrderFactResult>(projectId, Buffer.byteLength(reason ?? ""), async () => {
			const order = await recorder.storage.getOrder({ projectId, orderId });
			if (order === null) return { kind: "no_order" };
			const payload = { chargeback_id, order_id: orderId, amount_cents, currency: order.currency, reason };
			const data = recorder.dataOf("chargeback.created", payload);
			if (typeof data !== "string") return data;
			const fact = recorder.factOf(projectId, "chargeback.created", data, { orderId, ...input });
			const chargeback = { orderId, chargebackId: chargeback_id, ...fact };
			const result = await recorder.storage.recordChargeback({ projectId, chargeback });
			return result.kind === "no_order" ? result : recorder.done(projectId, result);
		});
	}

	/**
	 * The final outcome of a deliverable: creates `delivery.success` or `delivery.failed`. Its order must be recorded
	 * first, so that `purchase.completed` comes before.
	 */
	async deliverable(
		projectId: string,
		orderId: string,
		deliverableId: string,
		input: DeliverableInput,
	): Promise<OrderFactResult> {
		const { kind, outcome, detail } = input;
		const type = outcome === "completed" ? "delivery.success" : "delivery.failed";
		const payload = { order_id: orderId, deliverable_id: deliverableId, kind, detail };
		const faults = [...idFaults("/deliverable_id", deliverableId), ...textFaults("/detail", detail)];
		const recorder = this.#recorder;
		const data = recorder.dataOf(type, payload, faults);
		if (typeof data !== "string") return data;
		return recorder.admit<OrderFactResult>(projectId, Buffer.byteLength(data), async () => {
			const fact = recorder.factOf(projectId, type, data, { orderId, deliverableId, ...input });
			const deliverable = { orderId, deliverableId, ...fact };
			const result = await recorder.storage.recordDeliverable({ projectId, deliverable });
			return result.kind === "no_order" ? result : recorder.done(projectId, result);
		});
	}
}

/** Recurring subscriptions: `subscription.created` and, once, `subscription.canceled`. */
export class Subscriptions {
	readonly #recorder: FactRecorder;

	constructor(recorder: FactRecorder) {
		this.#recorder = recorder;
	}

	async record(projectId: string, input: SubscriptionInput): Promise<FactResult> {
		const { subscription_id, plan } = input;
		const payload = { subscription_id, customer_email: input.customer_email.trim(), plan };
		const recorder = this.#recorder;
		const data = recorder.dataOf("subscription.created", payload, [
			...idFaults("/subscription_id", subscription_id),
			...textFaults("/customer_email", payload.customer_email),
			...textFaults("/plan", plan),
		]);
		if (typeof data !== "string") return data;
		return recorder.admit(projectId, Buffer.byteLength(data), async () => {
			const fact = recorder.factOf(projectId, "subscription.created", data, payload);
			const subscription = { subscriptionId: subscription_id, data, ...fact };
			return recorder.done(projectId, await recorder.storage.recordSubscription({ projectId, subscription }));
		});
	}

	cancel(projectId: string, subscriptionId: string): Promise<CancelResult> {
		const recorder = this.#recorder;
		return recorder.admit<CancelResult>(projectId, 0, async () => {
			const data = await recorder.storage.getSubscription({ projectId, subscriptionId });
			if (data === null) return { kind: "no_subscription" };
			const at = recorder.now();
			const event = recorder.candidate(projectId, "subscription.canceled", at, data);
			const result = await recorder.storage.cancelSubscription({ projectId, subscriptionId, at, event });
			return result.kind === "no_subscription" ? result : recorder.done(projectId, result);
		});
	}
}
