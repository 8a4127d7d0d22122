import type { Attempt, Published, Webhook } from "./api.ts";
import type { Receipt } from "./receiver.ts";

type DeliveryState = "waiting" | Attempt["status"];

export interface Totals {
	readonly published: number;
	/** One delivery of each published event to each webhook that subscribes to its type. */
	readonly deliveries: number;
	readonly delivered: number;
	/** Delivered, but not by the first attempt. */
	readonly deliveredByRetry: number;
	readonly retrying: number;
	readonly failed: number;
	/** Not attempted yet. */
	readonly waiting: number;
	/** Deliveries that the service logged as delivered, and that their receiver verified and accepted. */
	readonly verified: number;
	/** Requests with an event id that the receiver had already accepted. */
	readonly duplicates: number;
	/** Requests that failed a receiver's check of signature, timestamp or headers. */
	readonly signatureFailures: number;
	/** Milliseconds from the publish call to a receiver's first accepted request; null before the first one. */
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
	/** The event's sequence number, or null if the demonstration's store didn't publish it. */
	seqOf(eventId: string): number | null;
	totals(): Totals;
}

/** The median covers only this many recent waits, so that a long run takes little memory. */
const KEPT_WAITS = 10_000;

/**
 * Counts what the store published, the outcomes in the delivery log, and what the receivers saw. Events published by
 * others, such as with the commands on screen, count only in the receivers' statistics.
 */
export function openTally(webhooks: readonly Webhook[]): Tally {
	const events = new Map<string, { seq: number; calledAt: number }>();
	const deliveries = new Map<string, Delivery>();
	/** First acceptances that arrived before the response to the publish call. */
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

/** Whether no delivery is pending. */
export function isSettled({ waiting, retrying }: Totals): boolean {
	return waiting === 0 && retrying === 0;
}

/** Whether every delivery succeeded and was verified by its receiver, and no signature was wrong. */
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
