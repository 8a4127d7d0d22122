/** The default word in the header names and the User-Agent. */
export const DEFAULT_BRAND = "Service";

const BRAND = /^[A-Za-z](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/;

/** Whether `text` can be a brand: 1 to 32 letters, digits and inner hyphens, starting with a letter. */
export function isBrand(text: string): boolean {
	return BRAND.test(text);
}

/** How far receivers let a request's timestamp be from their clock, seconds. */
export const TIMESTAMP_TOLERANCE_S = 300;

/** Whether a timestamp that should be in seconds looks like milliseconds: as seconds, it would be after the year 5000. */
export const isInMilliseconds = (timestamp: number): boolean => timestamp >= 1e11 && timestamp < 1e14;

/** The names of the headers whose value differs between requests. */
export interface HeaderNames {
	readonly event: string;
	readonly eventId: string;
	readonly signature: string;
	readonly timestamp: string;
}

/** The names of the branded headers, for example `X-Service-Event`. */
export function headerNames(brand: string): HeaderNames {
	return {
		event: `X-${brand}-Event`,
		eventId: `X-${brand}-Event-Id`,
		signature: `X-${brand}-Signature`,
		timestamp: `X-${brand}-Timestamp`,
	};
}

/** The names of the headers of the Standard Webhooks specification, for webhooks that ask for them. */
export const STANDARD_HEADERS = {
	id: "webhook-id",
	timestamp: "webhook-timestamp",
	signature: "webhook-signature",
} as const;

export interface RequestHeaders {
	readonly brand: string;
	readonly eventType: string;
	readonly eventId: string;
	/** Unix time in whole seconds, as signed. */
	readonly timestamp: number | string;
	/** 64 lower-case hexadecimal digits. */
	readonly signature: string;
	/** The signature of the Standard Webhooks specification, in base64, if the webhook asks for it. */
	readonly standardSignature?: string;
}

/**
 * The headers of a webhook request, all six and in the order of the specification's section 4.1, then those of Standard
 * Webhooks if there are any.
 */
export function requestHeaders(request: RequestHeaders): Record<string, string> {
	const names = headerNames(request.brand);
	return {
		"Content-Type": "application/json",
		"User-Agent": `${request.brand}-Webhooks/1.0`,
		[names.event]: request.eventType,
		[names.eventId]: request.eventId,
		[names.signature]: request.signature,
		[names.timestamp]: String(request.timestamp),
		...(request.standardSignature !== undefined && {
			[STANDARD_HEADERS.id]: request.eventId,
			[STANDARD_HEADERS.timestamp]: String(request.timestamp),
			[STANDARD_HEADERS.signature]: `v1,${request.standardSignature}`,
		}),
	};
}
