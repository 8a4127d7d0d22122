/** Signs requests as Posthorn does, for tests of receivers. */
import type { EventType } from "../../protocol/src/catalogue/entry.ts";
import { eventTypeEntry, isEventType } from "../../protocol/src/catalogue.ts";
import { DEFAULT_BRAND, requestHeaders } from "../../protocol/src/headers.ts";
import { EVENT_TYPES } from "./event.ts";
import type { EventData } from "./event-data.ts";
import { sign, utf8 } from "./signature.ts";
import { checkedSecrets } from "./verify.ts";

export interface SignOptions {
	/** The time to sign, milliseconds since the Unix epoch, or a clock that returns it. `Date.now` by default. */
	readonly now?: number | (() => number);
	/** The word in the header names. `Service` by default. */
	readonly brand?: string;
}

/** An event to sign. Missing fields are made up; the id is a new one each time. */
export interface TestEvent<Data = unknown> {
	readonly type: string;
	readonly data: Data;
	readonly id?: string;
	readonly created_at?: string;
	readonly project_id?: string;
}

export interface SignedRequest {
	readonly headers: Record<string, string>;
	/** Send exactly this. */
	readonly body: string;
}

/** The catalogue's sample for a type, with your own values for some of its fields. Throws a RangeError for an unknown type. */
export function sampleEvent<Type extends EventType>(
	type: Type,
	data: Partial<EventData[Type]> = {},
): TestEvent<EventData[Type]> & { readonly type: Type } {
	if (!isEventType(type))
		throw new RangeError(
			`sampleEvent got "${type}", which isn't an event type of this version. The types are ${EVENT_TYPES.join(", ")}. ` +
				"For another type, give signEvent the type and the data.",
		);
	const sample = eventTypeEntry(type).sample as unknown as EventData[Type];
	return { type, data: { ...sample, ...data } };
}

/**
 * The request that Posthorn would send for an event.
 *
 * @throws {TypeError} if the secret is empty, or the event can't be written as JSON
 */
export async function signEvent(event: TestEvent, secret: string, options: SignOptions = {}): Promise<SignedRequest> {
	const now = timeOf(options);
	const { type, data, id = `evt_${crypto.randomUUID()}`, project_id = "proj_test" } = event;
	const created_at = event.created_at ?? new Date(now).toISOString();
	const body = written({ id, type, created_at, project_id, data });
	return { headers: await signBody(body, secret, { ...options, now, id, type }), body };
}

/**
 * The headers for any body, for example one that isn't an event.
 *
 * @throws {TypeError} if the secret is empty, or the body isn't text or bytes
 */
export async function signBody(
	body: string | Uint8Array,
	secret: string,
	options: SignOptions & { readonly id?: string; readonly type?: string } = {},
): Promise<Record<string, string>> {
	const { brand = DEFAULT_BRAND, id = "evt_test", type = "test" } = options;
	if (typeof body !== "string" && !ArrayBuffer.isView(body))
		throw new TypeError(
			"signBody needs the body as text or bytes, exactly as it will be sent. For an event, use signEvent.",
		);
	const [key = ""] = checkedSecrets(secret);
	const timestamp = String(Math.floor(timeOf(options) / 1_000));
	const signature = await sign(key, timestamp, typeof body === "string" ? utf8(body) : body);
	return requestHeaders({ brand, eventType: type, eventId: id, timestamp, signature });
}

function written(event: object): string {
	try {
		return JSON.stringify(event);
	} catch (cause) {
		throw new TypeError(
			"signEvent can't write this event as JSON. If its data has a BigInt, write the JSON yourself and sign it with signBody.",
			{ cause },
		);
	}
}

const timeOf = ({ now = Date.now }: SignOptions): number => (typeof now === "function" ? now() : now);
