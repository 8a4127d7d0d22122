import {
	headerNames,
	type RequestHeaders,
	requestHeaders,
	STANDARD_HEADERS,
	sign,
	signStandard,
} from "@posthorn/protocol";
import type { Clock } from "../../base/clock.ts";
import type { Origin } from "../../net/connections.ts";
import { hostOf } from "../../net/egress.ts";
import type { SentRequest, Shipment, Target } from "./outcome.ts";

/** Where a request goes, parsed once for each URL. */
export interface Destination {
	readonly url: string;
	readonly origin: Origin;
	/** The request line and those header lines that are the same for all requests to this URL. */
	readonly head: Buffer;
}

/** Signs a shipment with the current key and time, and returns the bytes of the whole request. */
export type RequestWriter = (shipment: Shipment, destination: Destination) => { bytes: Buffer; sent: SentRequest };

/** Parsed once per webhook URL, because parsing costs more than the rest of sending a request. */
const destinations = new WeakMap<Target, Destination>();

/** @throws TypeError if the webhook's URL isn't an https URL: a bug, since it was validated before */
export function destinationOf(target: Target, brand: string): Destination {
	const known = destinations.get(target);
	if (known?.url === target.url) return known;
	const destination = parseDestination(target.url, brand);
	destinations.set(target, destination);
	return destination;
}

function parseDestination(url: string, brand: string): Destination {
	const parsed = new URL(url);
	const { protocol, origin, host, port, pathname, search } = parsed;
	if (protocol !== "https:") throw new TypeError("a webhook's URL is not https");
	const constant = requestHeaders({ brand, eventType: "", eventId: "", timestamp: "", signature: "" });
	const varying = new Set<string>(Object.values(headerNames(brand)));
	const lines = [`POST ${pathname}${search} HTTP/1.1`, `host: ${host}`, "connection: keep-alive"];
	for (const [name, value] of Object.entries(constant)) if (!varying.has(name)) lines.push(`${name}: ${value}`);
	return {
		url,
		origin: { key: origin, hostname: hostOf(parsed), port: Number(port || 443) },
		head: Buffer.from(`${lines.join("\r\n")}\r\n`, "latin1"),
	};
}

/** Characters allowed in a header's value (RFC 9110, 5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const standardLines = (eventId: string, timestamp: number, signature: string): string =>
	`${STANDARD_HEADERS.id}: ${eventId}\r\n${STANDARD_HEADERS.timestamp}: ${timestamp}\r\n${STANDARD_HEADERS.signature}: v1,${signature}\r\n`;

export function createRequestWriter(brand: string, clock: Pick<Clock, "now">): RequestWriter {
	const names = headerNames(brand);
	const headerLines = ({ eventType, eventId, timestamp, signature }: Omit<RequestHeaders, "brand">): string =>
		`${names.event}: ${eventType}\r\n${names.eventId}: ${eventId}\r\n${names.signature}: ${signature}\r\n${names.timestamp}: ${timestamp}\r\n`;
	return ({ eventId, eventType, body, target }, { url, head }) => {
		if (!HEADER_VALUE.test(eventType) || !HEADER_VALUE.test(eventId))
			throw new TypeError("an event's type or id cannot be sent in a header");
		const timestamp = Math.floor(clock.now() / 1_000);
		const signature = sign(target.key, timestamp, body);
		const standardSignature = target.standardKey && signStandard(target.standardKey, eventId, timestamp, body);
		const varying = headerLines({ eventType, eventId, timestamp, signature });
		const standard = standardSignature ? standardLines(eventId, timestamp, standardSignature) : "";
		const lines = `${varying}${standard}content-length: ${body.length}\r\n\r\n`;
		// One buffer, so that it is sent in one write and, if it fits, one TLS record.
		const bodyAt = head.length + lines.length;
		const bytes = Buffer.allocUnsafe(bodyAt + body.length);
		bytes.set(head);
		bytes.write(lines, head.length, "latin1");
		bytes.set(body, bodyAt);
		return { bytes, sent: { url, brand, timestamp, signature, ...(standardSignature && { standardSignature }) } };
	};
}
