import { digestOf } from "./digest.ts";
import { idFaults, payloadFaults, textFaults } from "./payload.ts";
import type { FactRecorder } from "./recorder.ts";
import type { OrderFactResult } from "./result.ts";

export const DELIVERABLE_KINDS = ["game_command", "chat_role", "file"] as const;
export const OUTCOMES = ["completed", "dead_lettered"] as const;

export interface DeliverableInput {
	readonly kind: (typeof DELIVERABLE_KINDS)[number];
	readonly outcome: (typeof OUTCOMES)[number];
	readonly detail?: string;
}

/**
 * How a deliverable of an order ended, once and for all: `delivery.success` or `delivery.failed`. The order must be
 * recorded, so that its `purchase.completed` comes before.
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
			const result = await this.#recorder.storage.recordDeliverable(projectId, {
				orderId,
				deliverableId,
				digest: digestOf({ orderId, deliverableId, ...input }),
				at,
				event: this.#recorder.candidate(projectId, type, at, data),
			});
			return result.kind === "no_order" ? result : this.#recorder.done(projectId, result);
		});
	}
}
