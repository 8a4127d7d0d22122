/** Signs requests as Posthorn does, for tests of receivers. */
import type { EventType } from "../../protocol/src/catalogue/entry.ts";
import { eventTypeEntry } from "../../protocol/src/catalogue.ts";
import { DEFAULT_BRAND, requestHeaders } from "../../protocol/src/headers.ts";
import type { EventData } from "./event-data.ts";
import { sign, utf8 } from "./signature.ts";

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

/** The catalogue's sample for a type, with your own values for some of its fields. */
export function sampleEvent<Type extends EventType>(
	type: Type,
	data: Partial<EventData[Type]> = {},
): TestEvent<EventData[Type]> & { readonly type: Type } {
	const sample = eventTypeEntry(type).sample as unknown as EventData[Type];
	return { type, data: { ...sample, ...data } };
}

/** The request that Posthorn would send for an event. */
export async function signEvent(event: TestEvent, secret: string, options: SignOptions = {}): Promise<SignedRequest> {
	const now = timeOf(options);
	const { type, data, id = `evt_${crypto.randomUUID()}`, project_id = "proj_test" } = event;
	const body = JSON.stringify({
		id,
		type,
		created_at: event.created_at ?? new Date(now).toISOString(),
		project_id,
		data,
	});
	return { headers: await signBody(body, secret, { ...options, now, id, type }), body };
}

/** The headers for any body, for example one that isn't an event. */
export async function signBody(
	body: string | Uint8Array,
	secret: string,
	options: SignOptions & { readonly id?: string; readonly type?: string } = {},
): Promise<Record<string, string>> {
	const { brand = DEFAULT_BRAND, id = "evt_test", type = "test" } = options;
	const timestamp = String(Math.floor(timeOf(options) / 1_000));
	const signature = await sign(secret, timestamp, typeof body === "string" ? utf8(body) : body);
	return requestHeaders({ brand, eventType: type, eventId: id, timestamp, signature });
}

const timeOf = ({ now = Date.now }: SignOptions): number => (typeof now === "function" ? now() : now);
