import { createHash } from "node:crypto";
import type { NewOrder } from "../storage/port.ts";
import { amountFaults, currencyFaults, idFaults, itemFaults, payloadFaults, textFaults } from "./payload.ts";
import { digestOf, type FactFault, type FactRecorder, type FactRefused, type FactResult } from "./recorder.ts";

/**
 * Identifies a customer: SHA-256 of the address, so that no address is kept for longer than its events. Two addresses
 * belong to one customer if they are equal without surrounding space, in compatibility form (NFKC) and in lower case.
 */
export function customerKey(email: string): Buffer {
	const normal = email.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
	return createHash("sha256").update(normal).digest();
}

export type Items = readonly Readonly<Record<string, unknown>>[];

export interface OrderInput {
	readonly order_id: string;
	readonly customer_email: string;
	readonly amount_cents: number;
	readonly currency: string;
	readonly items: Items;
	readonly basket_id?: string;
}

/** An order that storage may record, or why not. */
export type PreparedOrder = NewOrder | FactRefused;

/**
 * Paid orders. A customer's first one creates `customer.created`, and each creates `purchase.completed`, in this order
 * and before anything that refers to the order. Rejects only if storage fails.
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
	 * Records orders in the given order, each separately, and returns what became of each. If the queue to the
	 * log has no room, none is recorded.
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
		const faults = orderFaults(purchase, basket_id);
		if (faults.length > 0) return { kind: "invalid", faults };
		const data = JSON.stringify(purchase);
		const tooLarge = this.#recorder.sizeFault(data);
		if (tooLarge !== null) return tooLarge;
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
}

function orderFaults(order: OrderInput, basketId: string | undefined): FactFault[] {
	const faults = [
		...idFaults("/order_id", order.order_id),
		...textFaults("/customer_email", order.customer_email),
		...amountFaults(order.amount_cents, 0),
		...currencyFaults(order.currency),
		...itemFaults(order.items),
		...(basketId === undefined ? [] : idFaults("/basket_id", basketId)),
	];
	return merged(faults, payloadFaults("purchase.completed", order));
}

/** Faults of two checks, one per field. */
export function merged(faults: readonly FactFault[], others: readonly FactFault[]): FactFault[] {
	const places = new Set(faults.map(({ pointer }) => pointer));
	return [...faults, ...others.filter(({ pointer }) => !places.has(pointer))];
}
