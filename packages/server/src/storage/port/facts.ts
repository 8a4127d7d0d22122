import type { EventSummary, LogEvent, NewEvent } from "./log.ts";

/** An event that a fact created, as its response lists it, even after the event's retention has ended. */
export type FactEvent = EventSummary;

/** What every fact has. Its events are candidates: storage appends those that the rules ask for. */
export interface NewFact {
	/** SHA-256 of what was reported: a fact with the same id and another digest is a conflict. */
	readonly digest: Uint8Array;
	/** When it was recorded, milliseconds since the Unix epoch. */
	readonly at: number;
}

export type Recorded =
	/** New. `appended` are its events as they are in the log. */
	| {
			readonly kind: "recorded";
			readonly at: number;
			readonly events: readonly FactEvent[];
			readonly appended: readonly LogEvent[];
	  }
	/** Recorded before with the same content: the original response. Nothing was written. */
	| { readonly kind: "repeated"; readonly at: number; readonly events: readonly FactEvent[] }
	/** Recorded before with other content. Nothing was written. */
	| { readonly kind: "conflict" }
	| { readonly kind: "no_project" };

export interface NewOrder extends NewFact {
	readonly orderId: string;
	/** Identifies the customer: SHA-256 of the normalized e-mail address. */
	readonly customerKey: Uint8Array;
	readonly amountCents: number;
	readonly currency: string;
	/** The basket that was bought; the order ends it. */
	readonly basketId: string | null;
	/** Appended first, if the project has no order of this customer yet. */
	readonly customerCreated: NewEvent;
	readonly purchaseCompleted: NewEvent;
}

export interface Order {
	readonly amountCents: number;
	readonly refundedCents: number;
	readonly currency: string;
}

/**
 * The refund rule: `partial` if something of the order's amount is left afterwards, `whole` if nothing is, `too_much` if
 * the refund exceeds what is left. Verbs call it within the transaction that reads the order.
 */
export function judgeRefund(
	{ amountCents, refundedCents }: Pick<Order, "amountCents" | "refundedCents">,
	refundCents: number,
): { readonly kind: "partial" | "whole" } | { readonly kind: "too_much"; readonly leftCents: number } {
	const leftCents = amountCents - refundedCents;
	if (refundCents > leftCents) return { kind: "too_much", leftCents };
	return { kind: refundCents === leftCents ? "whole" : "partial" };
}

/** A fact about an existing order; otherwise `no_order`. */
interface OrderFact extends NewFact {
	readonly orderId: string;
}

export interface NewRefund extends OrderFact {
	readonly refundId: string;
	readonly amountCents: number;
	/** Appended while the order's refunds stay below its amount, … */
	readonly partial: NewEvent;
	/** … and when they reach it. */
	readonly whole: NewEvent;
}

export interface NewChargeback extends OrderFact {
	readonly chargebackId: string;
	readonly event: NewEvent;
}

export interface NewDeliverable extends OrderFact {
	readonly deliverableId: string;
	readonly event: NewEvent;
}

export interface NewSubscription extends NewFact {
	readonly subscriptionId: string;
	/** The data of its events, as JSON. */
	readonly data: string;
	readonly event: NewEvent;
}

export interface BasketTouch {
	readonly basketId: string;
	readonly at: number;
	/** When it is abandoned, unless it's touched first. */
	readonly dueAt: number;
	/** The data of its event, as JSON. */
	readonly data: string;
}

/** A touch of a basket. No two touches of a basket have the same time. */
interface TouchedBasket {
	readonly basketId: string;
	readonly touchedAt: number;
}

export interface DueBasket extends TouchedBasket {
	readonly projectId: string;
	readonly data: string;
}

export interface AbandonedBasket extends TouchedBasket {
	readonly event: NewEvent;
}
