import type { LogEvent, NewEvent } from "./log.ts";
import type { ProjectRef } from "./registry.ts";

/** An event that a fact made, as the answer to the fact tells of it: also after the event's retention has ended. */
export interface FactEvent {
	readonly id: string;
	readonly seq: number;
	readonly type: string;
	readonly createdAt: number;
}

/** What every fact carries. Events are candidates: storage appends those that the rule calls for. */
export interface NewFact {
	/** SHA-256 of what was reported: a fact with the same id and another digest is a conflict. */
	readonly digest: Uint8Array;
	/** When it was recorded, milliseconds since the Unix epoch. */
	readonly at: number;
}

export type Recorded =
	/** Now, with its events; `appended` are they as the log holds them. */
	| {
			readonly kind: "recorded";
			readonly at: number;
			readonly events: readonly FactEvent[];
			readonly appended: readonly LogEvent[];
	  }
	/** Before, with the same content: what was told then. Nothing was written. */
	| { readonly kind: "repeated"; readonly at: number; readonly events: readonly FactEvent[] }
	/** Before, with other content. Nothing was written. */
	| { readonly kind: "conflict" }
	| { readonly kind: "no_project" };

export interface NewOrder extends NewFact {
	readonly orderId: string;
	/** Stands for the customer: SHA-256 of the normalised e-mail address. */
	readonly customerKey: Uint8Array;
	readonly amountCents: number;
	readonly currency: string;
	/** The basket that was bought; it ends with the order. */
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

/** Which event a refund makes: whether it leaves anything of the order's amount, if the order has as much left. */
export function judgeRefund(
	{ amountCents, refundedCents }: Pick<Order, "amountCents" | "refundedCents">,
	refundCents: number,
): { readonly kind: "partial" | "whole" } | { readonly kind: "too_much"; readonly leftCents: number } {
	const leftCents = amountCents - refundedCents;
	if (refundCents > leftCents) return { kind: "too_much", leftCents };
	return { kind: refundCents === leftCents ? "whole" : "partial" };
}

/** Of an order that must be there: `no_order` otherwise. */
export interface OrderFact extends NewFact {
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
	/** When it is abandoned unless it is touched before. */
	readonly dueAt: number;
	/** The data of its event, as JSON. */
	readonly data: string;
}

/** A touch of a basket: of one basket no two are at the same time. */
export interface TouchedBasket {
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

/**
 * What the store platform reported. A fact and its events are written in one transaction, so that each event is made
 * exactly once, whoever races or dies; the project's alarm rings as for any append.
 */
export interface FactStorage {
	/** Records orders in their order; each is atomic by itself. One answer for each. */
	recordOrders(p: ProjectRef & { readonly orders: readonly NewOrder[] }): Promise<Recorded[]>;
	getOrder(p: ProjectRef & { readonly orderId: string }): Promise<Order | null>;

	/** Refund ids are the project's. `too_much`: more than the `leftCents` that were not refunded yet. */
	recordRefund(
		p: ProjectRef & { readonly refund: NewRefund },
	): Promise<Recorded | { readonly kind: "no_order" } | { readonly kind: "too_much"; readonly leftCents: number }>;

	/** Chargeback ids are the project's. */
	recordChargeback(
		p: ProjectRef & { readonly chargeback: NewChargeback },
	): Promise<Recorded | { readonly kind: "no_order" }>;

	/** Deliverable ids are the order's; each is recorded once, with its final outcome. */
	recordDeliverable(
		p: ProjectRef & { readonly deliverable: NewDeliverable },
	): Promise<Recorded | { readonly kind: "no_order" }>;

	recordSubscription(p: ProjectRef & { readonly subscription: NewSubscription }): Promise<Recorded>;
	/** The data of its events, or null when it is not there. */
	getSubscription(p: ProjectRef & { readonly subscriptionId: string }): Promise<string | null>;
	/** Never a conflict: canceled is canceled. */
	cancelSubscription(
		p: ProjectRef & { readonly subscriptionId: string; readonly at: number; readonly event: NewEvent },
	): Promise<Recorded | { readonly kind: "no_subscription" }>;

	/** Starts the basket's clock anew. `bought`: an order has ended this basket for good. */
	touchBasket(p: ProjectRef & { readonly touch: BasketTouch }): Promise<"touched" | "bought" | "no_project">;
	/** The basket is empty or gone; it may be touched again. */
	removeBasket(p: ProjectRef & { readonly basketId: string }): Promise<"removed" | "absent" | "no_project">;
	/**
	 * Takes baskets of all projects whose time has come at `now`, those that are longest due, in any order. They are put
	 * off to `until` in the same step: others who look meanwhile take other ones, and those that could not be abandoned
	 * come back without being in the way of others, also when whoever took them died.
	 */
	takeDueBaskets(p: { readonly now: number; readonly until: number; readonly limit: number }): Promise<DueBasket[]>;
	/** When the next basket is due, or null when there is none. */
	nextBasketDue(): Promise<number | null>;
	/**
	 * Ends baskets of a project, in one transaction with their events, which are appended in this order: those of which
	 * `touchedAt` is still the last touch. The others were touched, removed, bought, or somebody else was faster.
	 *
	 * @param baskets each of them once
	 * @returns the events that were appended
	 */
	abandonBaskets(
		p: ProjectRef & { readonly baskets: readonly AbandonedBasket[]; readonly at: number },
	): Promise<LogEvent[]>;
}
