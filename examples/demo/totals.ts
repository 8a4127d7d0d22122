import type { Attempt, Published, Webhook } from "./api.ts";
import type { Receipt } from "./receiver.ts";

type DeliveryState = "waiting" | Attempt["status"];

export interface Totals {
	readonly published: number;
	/** Deliveries that the published events make: one for each webhook that subscribes to the event's type. */
	readonly deliveries: number;
	readonly delivered: number;
	/** Delivered, but not with the first attempt. */
	readonly deliveredByRetry: number;
	readonly retrying: number;
	readonly failed: number;
	/** Not attempted yet. */
	readonly waiting: number;
	/** Deliveries that the service calls delivered, and that their receiver accepted with a signature it found right. */
	readonly verified: number;
	/** Requests that a receiver had accepted before, by the event's id. */
	readonly duplicates: number;
	/** Requests that a receiver's check refused: signature, timestamp or headers. */
	readonly signatureFailures: number;
	/** From publish call to a receiver's first accepted request, milliseconds; null before there is one. */
	readonly medianMs: number | null;
}

interface Delivery {
	state: DeliveryState;
	retried: boolean;
	accepted: boolean;
}

export interface Tally {
	published(event: Published, calledAt: number): void;
	attempted(attempt: Attempt): void;
	received(receipt: Receipt): void;
	/** The event's number in its project's log, or null if the store of the demonstration did not publish it. */
	seqOf(eventId: string): number | null;
	totals(): Totals;
}

/** Newest waits that the median is taken of, so that a long run stays small in memory. */
const KEPT_WAITS = 10_000;

/**
 * Counts what the store published, what the delivery log says became of it, and what the receivers saw. Events that
 * someone else published (with the commands on the screen, say) count only where receivers report on every request.
 */
export function openTally(webhooks: readonly Webhook[]): Tally {
	const events = new Map<string, { seq: number; calledAt: number }>();
	const deliveries = new Map<string, Delivery>();
	/** First acceptances that arrived before the answer to their publish did. */
	const early = new Map<string, number>();
	const waits: number[] = [];
	const counts = { delivered: 0, deliveredByRetry: 0, retrying: 0, failed: 0, waiting: 0, verified: 0 };
	let duplicates = 0;
	let signatureFailures = 0;

	return {
		published(event, calledAt) {
			events.set(event.id, { seq: event.seq, calledAt });
			for (const webhook of webhooks) {
				if (!webhook.events.includes(event.type)) continue;
				const key = keyOf(webhook.id, event.id);
				const delivery: Delivery = { state: "waiting", retried: false, accepted: false };
				count(delivery, 1);
				deliveries.set(key, delivery);
				const receivedAt = early.get(key);
				if (receivedAt !== undefined) accepted(delivery, receivedAt - calledAt);
				early.delete(key);
			}
		},
		attempted(attempt) {
			const delivery = deliveries.get(keyOf(attempt.webhook_id, attempt.event_id));
			if (delivery === undefined) return;
			count(delivery, -1);
			delivery.state = attempt.status;
			delivery.retried ||= attempt.attempt > 1 || attempt.replay > 0;
			count(delivery, 1);
		},
		received(receipt) {
			if (!receipt.verified) signatureFailures++;
			else if (receipt.duplicate) duplicates++;
			else if (receipt.accepted) {
				const webhook = webhooks.find(({ url }) => url === receipt.url);
				if (webhook === undefined) return;
				const key = keyOf(webhook.id, receipt.eventId);
				const event = events.get(receipt.eventId);
				const delivery = deliveries.get(key);
				if (event === undefined) early.set(key, receipt.receivedAt);
				else if (delivery !== undefined) accepted(delivery, receipt.receivedAt - event.calledAt);
			}
		},
		seqOf: (eventId) => events.get(eventId)?.seq ?? null,
		totals: () => ({
			published: events.size,
			deliveries: deliveries.size,
			...counts,
			duplicates,
			signatureFailures,
			medianMs: median(waits),
		}),
	};

	function accepted(delivery: Delivery, waitMs: number): void {
		count(delivery, -1);
		delivery.accepted = true;
		count(delivery, 1);
		waits.push(waitMs);
		if (waits.length > KEPT_WAITS) waits.shift();
	}

	function count(delivery: Delivery, by: 1 | -1): void {
		counts[delivery.state] += by;
		if (delivery.state !== "delivered") return;
		if (delivery.retried) counts.deliveredByRetry += by;
		if (delivery.accepted) counts.verified += by;
	}
}

/** Whether nothing is on its way any more. */
export function isSettled({ waiting, retrying }: Totals): boolean {
	return waiting === 0 && retrying === 0;
}

/** Whether every delivery succeeded, its receiver agrees, and no receiver found a signature wrong. */
export function isComplete({ deliveries, delivered, verified, signatureFailures }: Totals): boolean {
	return delivered === deliveries && verified === deliveries && signatureFailures === 0;
}

function keyOf(webhookId: string, eventId: string): string {
	return `${webhookId} ${eventId}`;
}

function median(values: readonly number[]): number | null {
	const sorted = values.toSorted((a, b) => a - b);
	const middle = sorted.length >> 1;
	const upper = sorted[middle];
	if (upper === undefined) return null;
	const lower = sorted.length % 2 === 0 ? sorted[middle - 1] : undefined;
	return lower === undefined ? upper : (lower + upper) / 2;
}
