import { digestOf } from "./digest.ts";
import { amountFaults, idFaults, payloadFaults, textFaults } from "./payload.ts";
import type { FactRecorder } from "./recorder.ts";
import type { OrderFactResult } from "./result.ts";

export interface ChargebackInput {
	readonly chargeback_id: string;
	readonly amount_cents: number;
	readonly reason?: string;
}

/** Disputes that a payment processor raised make `chargeback.created`. They may exceed the order's amount: fees. */
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
		const order = await this.#recorder.storage.getOrder(projectId, orderId);
		if (order === null) return { kind: "no_order" };
		const payload = { chargeback_id, order_id: orderId, amount_cents, currency: order.currency, reason };
		const misfits = payloadFaults("chargeback.created", payload);
		if (misfits.length > 0) return { kind: "invalid", faults: misfits };
		const data = JSON.stringify(payload);
		const tooLarge = this.#recorder.sizeFault(data);
		if (tooLarge !== null) return tooLarge;
		const at = this.#recorder.now();
		const result = await this.#recorder.storage.recordChargeback(projectId, {
			orderId,
			chargebackId: chargeback_id,
			digest: digestOf({ orderId, ...input }),
			at,
			event: this.#recorder.candidate(projectId, "chargeback.created", at, data),
		});
		return result.kind === "no_order" ? result : this.#recorder.done(projectId, result);
	}
}
