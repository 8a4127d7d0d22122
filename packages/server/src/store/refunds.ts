import { digestOf } from "./digest.ts";
import { amountFaults, idFaults, payloadFaults } from "./payload.ts";
import type { FactRecorder } from "./recorder.ts";
import type { OrderFactResult } from "./result.ts";

export interface RefundInput {
	readonly refund_id: string;
	readonly amount_cents: number;
}

export type RefundResult =
	| OrderFactResult
	/** The order's refunds would exceed its amount; this much is left. */
	| { readonly kind: "too_much"; readonly leftCents: number; readonly currency: string };

/** Refunds make `purchase.refunded`, partial while an order's refunds together stay below what was paid. */
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
		const order = await this.#recorder.storage.getOrder(projectId, orderId);
		if (order === null) return { kind: "no_order" };
		const { currency } = order;
		const at = this.#recorder.now();
		const candidate = (partial: boolean) => {
			const data = { order_id: orderId, refund_id, amount_cents, currency, partial };
			assertFits(payloadFaults("purchase.refunded", data));
			return this.#recorder.candidate(projectId, "purchase.refunded", at, JSON.stringify(data));
		};
		const result = await this.#recorder.storage.recordRefund(projectId, {
			orderId,
			refundId: refund_id,
			digest: digestOf({ orderId, refund_id, amount_cents }),
			at,
			amountCents: amount_cents,
			partial: candidate(true),
			whole: candidate(false),
		});
		if (result.kind === "too_much") return { ...result, currency };
		return result.kind === "no_order" ? result : this.#recorder.done(projectId, result);
	}
}

/** Checked fields make data that the catalogue takes; if not, the two have come apart. */
export function assertFits(faults: readonly { readonly pointer: string; readonly detail: string }[]): void {
	const [fault] = faults;
	if (fault)
		throw new Error(`The data of a fact's event is not as the catalogue says: ${fault.pointer} ${fault.detail}.`);
}
