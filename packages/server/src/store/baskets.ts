import { type Items, merged } from "./orders.ts";
import { idFaults, itemFaults, payloadFaults, textFaults } from "./payload.ts";
import type { FactRecorder } from "./recorder.ts";
import type { FactRefused } from "./result.ts";

export interface BasketInput {
	readonly items: Items;
	readonly customer_email?: string;
}

export type TouchResult =
	/** `dueAt`: when it is abandoned unless it is touched before; null when it is empty. */
	| { readonly kind: "touched"; readonly at: number; readonly dueAt: number | null }
	/** An order has ended this basket for good. */
	| { readonly kind: "bought" }
	| Exclude<FactRefused, { kind: "conflict" }>;

/** It is gone afterwards, whether it was there or not; or nothing was done. */
export type RemoveResult =
	| { readonly kind: "removed" | "absent" }
	| Extract<FactRefused, { kind: "busy" | "no_project" }>;

export interface BasketsOptions {
	/** How long a basket sits untouched before it is abandoned, milliseconds. */
	readonly idleMs: number;
	/** A basket may be due at this time. */
	readonly onTouched: (dueAt: number) => void;
}

/** Baskets: every report is a touch that starts the clock anew. An empty basket is never abandoned. */
export class Baskets {
	readonly #recorder: FactRecorder;
	readonly #options: BasketsOptions;

	constructor(recorder: FactRecorder, options: BasketsOptions) {
		this.#recorder = recorder;
		this.#options = options;
	}

	async touch(projectId: string, basketId: string, input: BasketInput): Promise<TouchResult> {
		const { items } = input;
		const customer_email = input.customer_email?.trim();
		const payload = { basket_id: basketId, customer_email, items };
		const faults = [
			...idFaults("/basket_id", basketId),
			...textFaults("/customer_email", customer_email),
			...itemFaults(items),
		];
		const all = items.length === 0 ? faults : merged(faults, payloadFaults("basket.abandoned", payload));
		if (all.length > 0) return { kind: "invalid", faults: all };
		const data = JSON.stringify(payload);
		const tooLarge = this.#recorder.sizeFault(data);
		if (tooLarge !== null) return tooLarge;
		if (items.length === 0) {
			const removed = await this.remove(projectId, basketId);
			if (removed.kind === "no_project" || removed.kind === "busy") return removed;
			return { kind: "touched", at: this.#recorder.now(), dueAt: null };
		}
		return this.#recorder.admit(projectId, Buffer.byteLength(data), async () => {
			const at = this.#recorder.now();
			const dueAt = at + this.#options.idleMs;
			// Before it is stored: should storage fail, it may be stored all the same.
			this.#options.onTouched(dueAt);
			const kind = await this.#recorder.storage.touchBasket(projectId, { basketId, at, dueAt, data });
			return kind === "touched" ? { kind, at, dueAt } : { kind };
		});
	}

	remove(projectId: string, basketId: string): Promise<RemoveResult> {
		return this.#recorder.admit(projectId, 0, async () => ({
			kind: await this.#recorder.storage.removeBasket(projectId, basketId),
		}));
	}
}
