// Generated from the catalogue of event types: run `npm run docs` after changing it.

/** An e-mail address bought from the store for the first time. */
export interface CustomerCreated {
	/** The buyer's e-mail address. */
	customer_email?: string;
	/** The customer's first order. */
	order_id?: string;
}

/** An order was paid and recorded. Fires after the payment was confirmed and before anything is delivered. */
export interface PurchaseCompleted {
	/** The order's identifier. */
	order_id: string;
	/** The buyer's e-mail address. */
	customer_email: string;
	/** The amount paid, in minor currency units. */
	amount_cents: number;
	/** The currency code of three capital letters (ISO 4217). */
	currency: string;
	/** The ordered items. */
	items: {
		/** The product's identifier in the store. */
		product_id?: string | number;
		/** The product's name as the buyer saw it. */
		name?: string;
		/** The quantity. */
		quantity?: number;
		/** The unit price, in minor currency units. */
		unit_amount_cents?: number;
	}[];
}

/** A refund was processed. `partial` distinguishes a partial refund from one that completes the whole amount. */
export interface PurchaseRefunded {
	/** The refunded order. */
	order_id: string;
	/** The refund's identifier. */
	refund_id?: string;
	/** The amount of this refund, in minor currency units. */
	amount_cents?: number;
	/** The currency code of three capital letters (ISO 4217). */
	currency?: string;
	/** True while the order's refunds together stay below what was paid. */
	partial: boolean;
}

/** A deliverable (game command, chat-platform role or file) was completed. */
export interface DeliverySuccess {
	/** The order that the deliverable belongs to. */
	order_id?: string;
	/** The deliverable's identifier. */
	deliverable_id?: string;
	/** The kind of deliverable. */
	kind?: "game_command" | "chat_role" | "file";
	/** The store platform's details of the result. */
	detail?: string;
}

/** A deliverable was given up (dead-lettered) after its retries were exhausted. */
export interface DeliveryFailed {
	/** The order that the deliverable belongs to. */
	order_id?: string;
	/** The deliverable's identifier. */
	deliverable_id?: string;
	/** The kind of deliverable. */
	kind?: "game_command" | "chat_role" | "file";
	/** The store platform's details of the result. */
	detail?: string;
}

/** A basket with at least one item sat untouched for 24 hours, unless the operator has set another time. */
export interface BasketAbandoned {
	/** The basket's identifier. */
	basket_id?: string;
	/** The buyer's e-mail address. */
	customer_email?: string;
	/** The items in the basket. */
	items?: {
		/** The product's identifier in the store. */
		product_id?: string | number;
		/** The product's name as the buyer saw it. */
		name?: string;
		/** The quantity. */
		quantity?: number;
		/** The unit price, in minor currency units. */
		unit_amount_cents?: number;
	}[];
}

/** A recurring subscription started. */
export interface SubscriptionCreated {
	/** The subscription's identifier. */
	subscription_id?: string;
	/** The buyer's e-mail address. */
	customer_email?: string;
	/** The plan. */
	plan?: string;
}

/** A subscription was canceled. */
export interface SubscriptionCanceled {
	/** The subscription's identifier. */
	subscription_id?: string;
	/** The buyer's e-mail address. */
	customer_email?: string;
	/** The plan. */
	plan?: string;
}

/** A payment processor raised a dispute about an order. */
export interface ChargebackCreated {
	/** The dispute's identifier. */
	chargeback_id?: string;
	/** The disputed order. */
	order_id?: string;
	/** The disputed amount, in minor currency units. */
	amount_cents?: number;
	/** The currency code of three capital letters (ISO 4217). */
	currency?: string;
	/** The reason that the payment processor gave. */
	reason?: string;
}

/** The shape of each event's `data`. */
export interface EventData {
	"customer.created": CustomerCreated;
	"purchase.completed": PurchaseCompleted;
	"purchase.refunded": PurchaseRefunded;
	"delivery.success": DeliverySuccess;
	"delivery.failed": DeliveryFailed;
	"basket.abandoned": BasketAbandoned;
	"subscription.created": SubscriptionCreated;
	"subscription.canceled": SubscriptionCanceled;
	"chargeback.created": ChargebackCreated;
}
