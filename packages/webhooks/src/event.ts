import type { EventType } from "../../protocol/src/catalogue/entry.ts";
import type { EventData } from "./event-data.ts";
import { WebhookError } from "./webhook-error.ts";

export type { EventType };

/**
 * Any type that this version of the library doesn't know: an opaque string. With a plain `string`, which also matches the
 * known names, comparing `type` with one of those would no longer narrow `data`.
 */
declare enum UnknownEventType {
	Any = "",
}

export type { UnknownEventType };

/** A record, so that the compiler finds one that is missing here. */
const KNOWN: Readonly<Record<EventType, true>> = {
	"customer.created": true,
	"purchase.completed": true,
	"purchase.refunded": true,
	"delivery.success": true,
	"delivery.failed": true,
	"basket.abandoned": true,
	"subscription.created": true,
	"subscription.canceled": true,
	"chargeback.created": true,
};

/** The event types that this version of the library knows. */
export const EVENT_TYPES: readonly string[] = Object.keys(KNOWN);

interface Envelope<Type extends string, Data> {
	/** `evt_…`, unique within its project. Posthorn repeats it in the event id header, which is not signed. */
	readonly id: string;
	readonly type: Type;
	/** When the event was generated, ISO 8601 in UTC. */
	readonly created_at: string;
	/** `proj_…`. */
	readonly project_id: string;
	readonly data: Data;
	/**
	 * The body exactly as it was signed, for integers beyond 2^53 and the like. It isn't enumerable, so copies, logs and
	 * JSON leave it out.
	 */
	readonly raw: string;
}

/** An event of one type. */
export type EventOf<Type extends EventType> = Envelope<Type, EventData[Type]>;

/** An event whose type this version of the library doesn't know. */
export type UnknownEvent = Envelope<UnknownEventType, Record<string, unknown>>;

/** Any event, discriminated by `type`. */
export type WebhookEvent = { [Type in EventType]: EventOf<Type> }[EventType] | UnknownEvent;

/** Fatal, and without dropping a byte order mark: `raw` is the signed bytes or nothing. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The event in a verified body. Throws a {@link WebhookError} if there is none. */
export function parseEvent(body: Uint8Array): WebhookEvent {
	let raw: string;
	let parsed: unknown;
	try {
		raw = decoder.decode(body);
		parsed = JSON.parse(raw);
	} catch {
		throw new WebhookError(
			"body_not_json",
			body.length === 0
				? "The signature is right, but the body is empty: did something read the request before?"
				: "The signature is right, but the body is not JSON in UTF-8. Posthorn doesn't send such bodies.",
		);
	}
	if (!isEnvelope(parsed)) {
		throw new WebhookError(
			"body_not_an_event",
			"The signature is right, but the body is not an event: it needs id, type, created_at, project_id and data.",
		);
	}
	return Object.defineProperty(parsed, "raw", { value: raw, enumerable: false }) as WebhookEvent;
}

function isEnvelope(value: unknown): value is object {
	if (!isObject(value)) return false;
	const { id, type, created_at, project_id, data } = value;
	return [id, type, created_at, project_id].every((text) => typeof text === "string" && text !== "") && isObject(data);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
