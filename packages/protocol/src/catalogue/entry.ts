/** The names of the event types, the values of the envelope's `type` and of the event header. */
export type EventType =
	| "customer.created"
	| "purchase.completed"
	| "purchase.refunded"
	| "delivery.success"
	| "delivery.failed"
	| "basket.abandoned"
	| "subscription.created"
	| "subscription.canceled"
	| "chargeback.created";

/**
 * A JSON Schema, draft 2020-12 (the dialect of OpenAPI 3.1). The catalogue only uses keywords that mean the same since
 * draft-07, and no `$schema`, so that validators of either draft compile it.
 */
export interface JsonSchema {
	readonly [keyword: string]: unknown;
}

/** The catalogue's entry for one event type. */
export interface EventTypeEntry {
	readonly type: EventType;
	/** When the event fires, for users who choose what to subscribe to. */
	readonly description: string;
	/** Announced, but not yet published by every store platform; subscribing and publishing are possible anyway. */
	readonly future: boolean;
	/** Whether published `data` must match `schema`. If not, any JSON object is accepted and the schema is a guide. */
	readonly strict: boolean;
	/** The shape of the envelope's `data`. Further properties are always allowed. */
	readonly schema: JsonSchema;
	/** Realistic `data`, valid by `schema`, for test events. */
	readonly sample: Readonly<Record<string, unknown>>;
}
