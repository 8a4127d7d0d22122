/** What a failover lost. Nodes that haven't noticed it still act by that. */
import { isFirst, type Ledger, type LedgerWebhook } from "./ledger.ts";

/** First attempts that were settled, and now seem never to have been made. */
export class LostFirsts {
	readonly #lost = new Set<string>();

	/** The database went back from one state to another. */
	restored(before: Ledger, after: Ledger): void {
		for (const [id, { open }] of after.webhooks) {
			const had = before.webhooks.get(id)?.deliveries;
			for (const [seq, delivery] of open) {
				const known = had?.get(seq);
				if (known?.event.id === delivery.event.id && isFirst(delivery) && !isFirst(known))
					this.#lost.add(`${id}/${seq}`);
			}
		}
	}

	has(webhook: LedgerWebhook, seq: number): boolean {
		return this.#lost.has(`${webhook.id}/${seq}`);
	}
}

/** If the state before allowed webhooks more attempts in flight, that ends now, as if it had been changed. */
export function narrow(before: Ledger, after: Ledger, at: number): void {
	for (const [id, { widths, maxInFlight }] of after.webhooks) {
		const known = new Set(widths.map((width) => width.at));
		const lost = before.webhooks.get(id)?.widths.filter((width) => !known.has(width.at)) ?? [];
		if (lost.length > 0) widths.push(...lost, { at, maxInFlight });
	}
}

/** A retry that a user made early may still be made early, though the database no longer knows why. */
export function keepEarly(before: Ledger, after: Ledger): void {
	for (const [id, { open }] of after.webhooks)
		for (const [seq, delivery] of open) {
			const known = before.webhooks.get(id)?.deliveries.get(seq);
			const isSame = known?.event.id === delivery.event.id && known.series === delivery.series;
			if (isSame && known.next === delivery.next && known.early) delivery.early = true;
		}
}
