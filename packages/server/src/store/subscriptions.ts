import { digestOf, type FactRecorder, type FactResult, idFaults, textFaults } from "./recorder.ts";

export interface SubscriptionInput {
	readonly subscription_id: string;
	readonly customer_email: string;
	readonly plan: string;
}

export type CancelResult = FactResult | { readonly kind: "no_subscription" };

/** Recurring subscriptions: `subscription.created` and, once, `subscription.canceled`. */
export class Subscriptions {
	readonly #recorder: FactRecorder;

	constructor(recorder: FactRecorder) {
		this.#recorder = recorder;
	}

	async record(projectId: string, input: SubscriptionInput): Promise<FactResult> {
		const { subscription_id, plan } = input;
		const payload = { subscription_id, customer_email: input.customer_email.trim(), plan };
		const data = this.#recorder.dataOf("subscription.created", payload, [
			...idFaults("/subscription_id", subscription_id),
			...textFaults("/customer_email", payload.customer_email),
			...textFaults("/plan", plan),
		]);
		if (typeof data !== "string") return data;
		return this.#recorder.admit(projectId, Buffer.byteLength(data), async () => {
			const at = this.#recorder.now();
			const result = await this.#recorder.storage.recordSubscription({
				projectId,
				subscription: {
					subscriptionId: subscription_id,
					digest: digestOf(payload),
					at,
					data,
					event: this.#recorder.candidate(projectId, "subscription.created", at, data),
				},
			});
			return this.#recorder.done(projectId, result);
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
