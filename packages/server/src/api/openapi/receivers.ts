/** The requests that receivers get, as the document describes them. */
import {
	EVENT_TYPES,
	eventTypeEntry,
	headerNames,
	requestHeaders,
	SIGNATURE_VECTORS,
	STANDARD_HEADERS,
} from "@posthorn/protocol";
import { dataSchema } from "../routes/publishing/event-types.ts";

const EXAMPLE = {
	eventId: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
	createdAt: "2026-11-21T03:47:36.123Z",
	projectId: "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
	timestamp: 1_795_232_856,
};

const SIGNED = `The signature is HMAC-SHA256, in lowercase hexadecimal, of the timestamp header, a dot and the exact body. The key is the webhook's secret. Compare it in constant time, and reject timestamps that differ from your clock by more than 300 seconds.

Respond with 2xx once the event is handled, or stored for later if the work takes long: a 2xx ends the retries. A response that takes too long counts as failed, and the event is retried. An event may arrive more than once; deduplicate by its id.`;

/**
 * The requests that receivers get, one per event type: the `webhooks` part of the document.
 *
 * @param inDocument a schema as it appears in the document
 */
export function receiverWebhooks(brand: string, inDocument: (schema: object) => unknown): Record<string, unknown> {
	return Object.fromEntries(
		EVENT_TYPES.map(({ type, description, sample }) => [
			type,
			{
				post: {
					operationId: `receive.${type}`,
					tags: ["Received"],
					summary: type,
					description: `${description}\n\n${SIGNED}`,
					security: [],
					parameters: receivedHeaders(brand, type),
					requestBody: {
						required: true,
						content: {
							"application/json": {
								schema: envelopeOf(type, inDocument(dataSchema(eventTypeEntry(type)))),
								example: {
									id: EXAMPLE.eventId,
									type,
									created_at: EXAMPLE.createdAt,
									project_id: EXAMPLE.projectId,
									data: sample,
								},
							},
						},
					},
					responses: {
						"2XX": { description: "Received. The delivery is finished." },
						default: { description: "Anything else, including a redirect, counts as failed and is retried." },
					},
				},
			},
		]),
	);
}

function receivedHeaders(brand: string, type: string): unknown[] {
	const names = headerNames(brand);
	const descriptions: Record<string, string> = {
		[names.event]: "The event's type.",
		[names.eventId]: "The event's id, the same as `id` in the body.",
		[names.signature]: "64 hexadecimal characters.",
		[names.timestamp]: "The signed Unix time, in whole seconds.",
		"User-Agent": "The sender.",
	};
	const examples = requestHeaders({
		brand,
		eventType: type,
		eventId: EXAMPLE.eventId,
		timestamp: EXAMPLE.timestamp,
		signature: SIGNATURE_VECTORS[0]!.signature,
		standardSignature: Buffer.from(SIGNATURE_VECTORS[1]!.signature, "hex").toString("base64"),
	});
	const standard: Record<string, string> = {
		[STANDARD_HEADERS.id]: "The event's id, for Standard Webhooks.",
		[STANDARD_HEADERS.timestamp]: "The signed Unix time, in whole seconds, for Standard Webhooks.",
		[STANDARD_HEADERS.signature]: "`v1,` and the signature in base64, for Standard Webhooks.",
	};
	return Object.entries({ ...descriptions, ...standard }).map(([name, description]) => ({
		name,
		in: "header",
		required: name in descriptions,
		description: name in standard ? `${description} Only if the webhook has \`standard_webhooks\`.` : description,
		schema: { type: "string" },
		example: examples[name],
	}));
}

function envelopeOf(type: string, data: unknown): Record<string, unknown> {
	return {
		type: "object",
		required: ["id", "type", "created_at", "project_id", "data"],
		properties: {
			id: { type: "string", description: "Deduplicate by it." },
			type: { const: type },
			created_at: { type: "string", format: "date-time", description: "When it was generated, ISO 8601 in UTC." },
			project_id: { type: "string", description: "The project that the event belongs to." },
			data,
		},
	};
}
