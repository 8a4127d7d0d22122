export { type BodyDifference, bodyDifference, type ChangedBody, changedBodies } from "./body-changes.ts";
export { basketAbandonedAfter } from "./catalogue/basket.ts";
export { CURRENCIES } from "./catalogue/currencies.ts";
export type { EventType, EventTypeEntry, JsonSchema } from "./catalogue/entry.ts";
export { EVENT_TYPES, eventTypeEntry, isEventType } from "./catalogue.ts";
export { type Envelope, encodeEnvelope, sameContent } from "./envelope.ts";
export { type Certificate, certificateFields, dnsText } from "./failure-text.ts";
export {
	DEFAULT_BRAND,
	type HeaderNames,
	headerNames,
	isBrand,
	isInMilliseconds,
	type RequestHeaders,
	requestHeaders,
	STANDARD_HEADERS,
	TIMESTAMP_TOLERANCE_S,
} from "./headers.ts";
export { isoTime, isoTimeOrNull } from "./iso-time.ts";
export { LOG_FILTERS } from "./log-filters.ts";
export { isMissingSecret } from "./missing-secret.ts";
export { NAME_DETAIL, NAME_LENGTH, NAME_PATTERN, nameFaults } from "./names.ts";
export { eachElement, eachMember, memberSource } from "./raw-json.ts";
export {
	createSecret,
	SECRET_PREFIX,
	SigningKey,
	secretDigest,
	sign,
	signingKey,
	signStandard,
	standardDigest,
} from "./signature.ts";
export { SIGNATURE_VECTORS, type SignatureVector } from "./vectors.ts";
