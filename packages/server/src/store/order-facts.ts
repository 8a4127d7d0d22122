import { amountFaults, idFaults, payloadFaults, textFaults } from "./payload.ts";
import { digestOf, type FactRecorder, type OrderFactResult } from "./recorder.ts";

export interface RefundInput {
	readonly refund_id: string;
	readonly amount_cents: number;
}

export type RefundResult =
	| OrderFactResult
	/** The order's refunds would exceed its amount; this much is left. */
	| { readonly kind: "too_much"; readonly leftCents: number; readonly currency: string };

/** Refunds create `purchase.refunded`, partial while an order's refunds together stay below what was paid. */
export class Refunds {
	readonly #recorder: FactRecorder;

	constructor(recorder: FactRecorder) {
		this.#recorder = recorder;
	}

	async record(projectId: string, orderId: string, { refund_id, amount_cents }: RefundInput): Promise<RefundResult> {
		const faults = [...idFaults("/refund_id", refund_id), ...amountFaults(amount_cents, 1)];
		if (faults.length > 0) return { kind: "invalid", faults };
		return this.#recorder.admit(projectId, 0, () => this.#store(projectId, orderId, { refund_id, amount_cents }));
	}

	async #store(projectId: string, orderId: string, { refund_id, amount_cents }: RefundInput): Promise<RefundResult> {
		// An order's currency never changes, so it may be read before the transaction.
		const order = await this.#recorder.storage.getOrder({ projectId, orderId });
		if (order === null) return { kind: "no_order" };
		const { currency } = order;
		const at = this.#recorder.now();
		const candidate = (partial: boolean) => {
			const data = { order_id: orderId, refund_id, amount_cents, currency, partial };
			assertFits(payloadFaults("purchase.refunded", data));
			return this.#recorder.candidate(projectId, "purchase.refunded", at, JSON.stringify(data));
		};
		const result = await this.#recorder.storage.recordRefund({
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
		return result.kind === "no_order" ? result : this.#recorder.done(projectId, result);
	}
}

/** Checked fields produce data that the catalogue accepts; if not, the two have diverged. */
export function assertFits(faults: readonly { readonly pointer: string; readonly detail: string }[]): void {
	const [fault] = faults;
	if (fault)
		throw new Error(`The data of a fact's event doesn't match the catalogue: ${fault.pointer} ${fault.detail}.`);
}

export interface ChargebackInput {
	readonly chargeback_id: string;
	readonly amount_cents: number;
	readonly reason?: string;
}

/**
 * Disputes raised by a payment processor create `chargeback.created`. They may exceed the order's amount because of
 * fees.
 */
export class Chargebacks {
	readonly #recorder: FactRecorder;

	constructor(recorder: FactRecorder) {
		this.#recorder = recorder;
	}

	async record(projectId: string, orderId: string, input: ChargebackInput): Promise<OrderFactResult> {
		const { chargeback_id, amount_cents, reason } = input;
		const faults = [
			...idFaults("/chargeback_id", chargeback_id),
			...amountFaults(amount_cents, 0),
			...textFaults("/reason", reason),
		];
		if (faults.length > 0) return { kind: "invalid", faults };
		return this.#recorder.admit(projectId, Buffer.byteLength(reason ?? ""), () =>
			this.#store(projectId, orderId, input),
		);
	}

	async #store(projectId: string, orderId: string, input: ChargebackInput): Promise<OrderFactResult> {
		const { chargeback_id, amount_cents, reason } = input;
		const order = await this.#recorder.storage.getOrder({ projectId, orderId });
		if (order === null) return { kind: "no_order" };
		const payload = { chargeback_id, order_id: orderId, amount_cents, currency: order.currency, reason };
		const misfits = payloadFaults("chargeback.created", payload);
		if (misfits.length > 0) return { kind: "invalid", faults: misfits };
		const data = JSON.stringify(payload);
		const tooLarge = this.#recorder.sizeFault(data);
		if (tooLarge !== null) return tooLarge;
		const at = this.#recorder.now();
		const result = await this.#recorder.storage.recordChargeback({
			projectId,
			chargeback: {
				orderId,
				chargebackId: chargeback_id,
				digest: digestOf({ orderId, ...input }),
				at,
				event: this.#recorder.candidate(projectId, "chargeback.created", at, data),
			},
		});
		return result.kind === "no_order" ? result : this.#recorder.done(projectId, result);
	}
}

export const DELIVERABLE_KINDS = ["game_command", "chat_role", "file"] as const;
export const OUTCOMES = ["completed", "dead_lettered"] as const;

export interface DeliverableInput {
	readonly kind: (typeof DELIVERABLE_KINDS)[number];
	readonly outcome: (typeof OUTCOMES)[number];
	readonly detail?: string;
}

/**
 * The final result of one of an order's deliverables: `delivery.success` or `delivery.failed`. The order must be
 * recorded first, so that its `purchase.completed` comes before.
 */
export class Deliverables {
	readonly #recorder: FactRecorder;

	constructor(recorder: FactRecorder) {
		this.#recorder = recorder;
	}

	async record(
		projectId: string,
		orderId: string,
		deliverableId: string,
		input: DeliverableInput,
	): Promise<OrderFactResult> {
		const { kind, outcome, detail } = input;
		const type = outcome === "completed" ? "delivery.success" : "delivery.failed";
		const payload = { order_id: orderId, deliverable_id: deliverableId, kind, detail };
		const faults = [
			...idFaults("/deliverable_id", deliverableId),
			...textFaults("/detail", detail),
			...payloadFaults(type, payload),
		];
		if (faults.length > 0) return { kind: "invalid", faults };
		const data = JSON.stringify(payload);
		const tooLarge = this.#recorder.sizeFault(data);
		if (tooLarge !== null) return tooLarge;
		return this.#recorder.admit(projectId, Buffer.byteLength(data), async () => {
			const at = this.#recorder.now();
			const result = await this.#recorder.storage.recordDeliverable({
				projectId,
				deliverable: {
					orderId,
					deliverableId,
					digest: digestOf({ orderId, deliverableId, ...input }),
					at,
					event: this.#recorder.candidate(projectId, type, at, data),
				},
			});
			return result.kind === "no_order" ? result : this.#recorder.done(projectId, result);
		});
	}
}
