import { isEventType } from "@posthorn/protocol";
import type { Guard } from "../engine/send/guard.ts";
import type { Fault } from "./fault.ts";
import { textFaults } from "./text.ts";

/** First attempts of a webhook that may be under way at once. */
export const MAX_IN_FLIGHT = { min: 1, max: 100, default: 1 } as const;

export interface WebhookLimits {
	readonly maxWebhooksPerProject: number;
	readonly maxUrlLength: number;
	readonly maxDescriptionLength: number;
}

/** The fields of a webhook that its owner sets. */
export interface WebhookFields {
	readonly url?: string;
	readonly description?: string;
	readonly events?: readonly string[];
	readonly max_in_flight?: number;
}

/** Space and controls: the URL parser drops or encodes them without a word, so that another URL would be called. */
const BLANK = /[\s\p{Cc}]/u;

/** Everything that is wrong with those fields that are there. */
export function webhookFaults(fields: WebhookFields, limits: WebhookLimits, guard: Pick<Guard, "checkUrl">): Fault[] {
	const { url, description, events, max_in_flight } = fields;
	const faults: Fault[] = [];
	if (url !== undefined) faults.push(...urlFaults(url, limits.maxUrlLength, guard));
	if (description !== undefined)
		faults.push(...textFaults(description, "/description", { min: 0, max: limits.maxDescriptionLength }));
	if (events !== undefined) faults.push(...eventsFaults(events));
	if (
		max_in_flight !== undefined &&
		!(Number.isInteger(max_in_flight) && max_in_flight >= MAX_IN_FLIGHT.min && max_in_flight <= MAX_IN_FLIGHT.max)
	)
		faults.push({
			pointer: "/max_in_flight",
			detail: `must be a whole number from ${MAX_IN_FLIGHT.min} to ${MAX_IN_FLIGHT.max}`,
		});
	return faults;
}

/**
 * The URL as requests name it: host names in ASCII, no default port, paths without `..`, percent-encoded.
 *
 * @param text a URL without {@link urlFaults}
 */
export function calledUrl(text: string): string {
	const { origin, pathname, search } = new URL(text);
	return origin + pathname + search;
}

/** What keeps a webhook from being registered for this URL. */
export function urlFaults(text: string, maxLength: number, guard: Pick<Guard, "checkUrl">): Fault[] {
	const pointer = "/url";
	const tooLong = [{ pointer, detail: `must have at most ${maxLength} characters, encoded as in a request` }];
	if (text.length > maxLength) return tooLong;
	if (BLANK.test(text) || !text.isWellFormed())
		return [{ pointer, detail: "must not contain spaces, line breaks or control characters" }];
	const url = URL.parse(text);
	if (url === null) return [{ pointer, detail: "must be an absolute URL, such as https://example.com/webhooks" }];
	if (text.includes("#")) return [{ pointer, detail: "must not have a fragment (#…): it would never be sent" }];
	const verdict = guard.checkUrl(url);
	if (!verdict.ok) return [{ pointer, detail: verdict.text }];
	return calledUrl(text).length > maxLength ? tooLong : [];
}

function eventsFaults(events: readonly string[]): Fault[] {
	if (events.length === 0)
		return [{ pointer: "/events", detail: "must name at least one event type; GET /v1/event-types lists them" }];
	const seen = new Set<string>();
	const faults: Fault[] = [];
	for (const [index, type] of events.entries()) {
		const pointer = `/events/${index}`;
		if (!isEventType(type)) faults.push({ pointer, detail: "must be an event type; GET /v1/event-types lists them" });
		else if (seen.has(type)) faults.push({ pointer, detail: `names ${type} a second time` });
		seen.add(type);
	}
	return faults;
}
