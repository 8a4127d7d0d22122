/** What went over the network: each request, what became of it, and which of them are on their way. */
import type { Happening } from "../happenings.ts";
import type { SeenRequest } from "../network/types.ts";
import type { Ledger, LedgerWebhook } from "./ledger.ts";

export interface Transfer {
	readonly request: SeenRequest;
	readonly eventId: string;
	readonly signature: string;
	readonly timestamp: string;
	/** True times, milliseconds from the world's beginning. */
	readonly sentAt: number;
	readonly webhook: LedgerWebhook | null;
	/** The attempt that it is, by what was settled when it was sent; null if no attempt was due. */
	readonly attempt: { readonly series: number; readonly number: number; readonly requested: boolean } | null;
	readonly seq: number | null;
	receivedAt: number | null;
	endedAt: number | null;
	/** 0 if there was no response. */
	status: number;
	/** Settled with this signature. */
	logged: boolean;
	/** The death of its node. */
	endedBy: string | null;
}

export class Wire {
	readonly #ledger: () => Ledger;
	readonly #brand: string;
	readonly #byNo = new Map<number, Transfer>();
	readonly #byDelivery = new Map<string, Transfer[]>();
	readonly #byNode = new Map<string, Transfer[]>();
	/** By webhook, those that have not ended, of nodes that live. */
	readonly open = new Map<string, Set<Transfer>>();
	/** By webhook and event, what was sent last and not settled, by nodes that live. */
	readonly #unsettled = new Map<string, Map<string, Transfer>>();
	/** What was read last: every check asks for the same. */
	#last: Transfer | null = null;
	count = 0;

	constructor(ledger: () => Ledger, brand: string) {
		this.#ledger = ledger;
		this.#brand = brand.toLowerCase();
	}

	apply(happening: Happening): void {
		switch (happening.kind) {
			case "sent":
				this.#sent(happening.request, happening.at);
				break;
			case "received": {
				const transfer = this.#byNo.get(happening.request.no);
				if (transfer) transfer.receivedAt = happening.at;
				break;
			}
			case "responded":
			case "broken": {
				this.#last = null;
				const transfer = this.#byNo.get(happening.request.no);
				if (!transfer || transfer.endedAt !== null) break;
				transfer.endedAt = happening.at;
				if (happening.kind === "responded") transfer.status = happening.status;
				this.#close(transfer);
				break;
			}
			case "crashed":
			case "stopped":
				for (const transfer of this.#byNode.get(happening.node) ?? []) {
					transfer.endedBy = happening.kind;
					this.#close(transfer);
				}
				for (const events of this.#unsettled.values())
					for (const [eventId, { request }] of events) if (request.node === happening.node) events.delete(eventId);
				this.#byNode.delete(happening.node);
				break;
			case "settled":
				for (const attempt of happening.settlement.attempts) {
					const event = this.#ledger().webhooks.get(attempt.webhookId)?.deliveries.get(attempt.seq)?.event;
					if (event) this.#unsettled.get(attempt.webhookId)?.delete(event.id);
					if (!event || !attempt.sent) continue;
					for (const transfer of this.of(attempt.webhookId, event.id))
						if (transfer.signature === attempt.sent.signature) transfer.logged = true;
				}
				break;
		}
	}

	/** What was sent of a delivery, in order. */
	of(webhookId: string, eventId: string): readonly Transfer[] {
		return this.#byDelivery.get(`${webhookId}/${eventId}`) ?? [];
	}

	/** Attempts of this webhook that may still be under way: they are not in the log, and their nodes live. */
	unsettled(webhookId: string): number {
		return this.#unsettled.get(webhookId)?.size ?? 0;
	}

	/** How many of these are first attempts of their events. */
	unsettledFirst(webhookId: string): number {
		let count = 0;
		for (const { attempt } of this.#unsettled.get(webhookId)?.values() ?? [])
			if (attempt?.series === 0 && attempt.number === 1) count += 1;
		return count;
	}

	/** How many of these may be second or later attempts of a series. */
	unsettledRetries(webhookId: string): number {
		let count = 0;
		for (const { attempt } of this.#unsettled.get(webhookId)?.values() ?? [])
			if (attempt === null || attempt.number > 1) count += 1;
		return count;
	}

	all(): Iterable<Transfer> {
		return this.#byNo.values();
	}

	/** The request with what it says of itself; not kept yet. */
	read(request: SeenRequest, at: number): Transfer {
		if (this.#last?.request !== request || this.#last.sentAt !== at) this.#last = this.#read(request, at);
		return this.#last;
	}

	#read(request: SeenRequest, at: number): Transfer {
		const { headers } = request;
		const eventId = headers.get(`x-${this.#brand}-event-id`) ?? "";
		const webhook = this.#ledger().byUrl.get(request.url) ?? null;
		const event = webhook && this.#ledger().projects.get(webhook.projectId)?.events.get(eventId);
		const delivery = event ? webhook?.deliveries.get(event.seq) : undefined;
		return {
			...{ request, eventId, webhook, sentAt: at },
			signature: headers.get(`x-${this.#brand}-signature`) ?? "",
			timestamp: headers.get(`x-${this.#brand}-timestamp`) ?? "",
			attempt:
				delivery && delivery.next !== null
					? { series: delivery.series, number: delivery.next, requested: delivery.requested }
					: null,
			seq: event?.seq ?? null,
			...{ receivedAt: null, endedAt: null, status: 0, logged: false, endedBy: null },
		};
	}

	#close(transfer: Transfer): void {
		if (transfer.webhook) this.open.get(transfer.webhook.id)?.delete(transfer);
	}

	#sent(request: SeenRequest, at: number): void {
		const transfer = this.read(request, at);
		this.count += 1;
		this.#byNo.set(request.no, transfer);
		const ofNode = this.#byNode.get(request.node);
		if (ofNode) ofNode.push(transfer);
		else this.#byNode.set(request.node, [transfer]);
		this.#last = null;
		if (!transfer.webhook) return;
		const unsettled = this.#unsettled.get(transfer.webhook.id) ?? new Map<string, Transfer>();
		this.#unsettled.set(transfer.webhook.id, unsettled.set(transfer.eventId, transfer));
		const open = this.open.get(transfer.webhook.id);
		if (open) open.add(transfer);
		else this.open.set(transfer.webhook.id, new Set([transfer]));
		const key = `${transfer.webhook.id}/${transfer.eventId}`;
		const others = this.#byDelivery.get(key);
		if (others) others.push(transfer);
		else this.#byDelivery.set(key, [transfer]);
	}
}
