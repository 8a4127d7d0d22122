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
 * A JSON Schema, draft 2020-12 (the dialect of OpenAPI 3.1). The catalogue keeps to keywords that mean the same since
 * draft-07, and names no `$schema`, so that validators of either draft compile it.
 */
export interface JsonSchema {
	readonly [keyword: string]: unknown;
}

/** What the catalogue says of one event type. */
export interface EventTypeEntry {
	readonly type: EventType;
	/** When the event fires, for people who choose what to subscribe to. */
	readonly description: string;
	/** Announced but not yet made by every store platform; can be subscribed to and published all the same. */
	readonly future: boolean;
	/** Whether published `data` must match `schema`. If not, any JSON object is taken and the schema is a guide. */
	readonly strict: boolean;
	/** The shape of the envelope's `data`. Further properties are always allowed. */
	readonly schema: JsonSchema;
	/** A realistic `data`, valid under `schema`; what a test event carries. */
	readonly sample: Readonly<Record<string, unknown>>;
}
