import { EVENT_TYPES, headerNames, requestHeaders, SIGNATURE_VECTORS } from "@posthorn/protocol";
import type { Components } from "./components.ts";

const EXAMPLE = {
	eventId: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
	createdAt: "2026-11-21T03:47:36.123Z",
	projectId: "proj_01kbjh2c7mfpyt0m9k5r8s3e4d",
	timestamp: 1_795_232_856,
};

const SIGNED = `The signature is HMAC-SHA256, in lower-case hexadecimal, over the timestamp header, a dot and the exact body, keyed with the webhook's secret. Compare it in constant time, and refuse timestamps more than 300 seconds away.

Answer any 2xx at once and work afterwards: what takes longer than the time allowed counts as failed and is tried again. The same event may come more than once; de-duplicate by its id.`;

/** The requests that receivers get, one for each event type: the document's `webhooks`. */
export function receiverWebhooks(brand: string, components: Components): Record<string, unknown> {
	return Object.fromEntries(
		EVENT_TYPES.map(({ type, description, schema, sample }) => [
			type,
			{
				post: {
					operationId: `receive.${type}`,
					tags: ["Received"],
					summary: type,
					description: `${description}\n\n${SIGNED}`,
					security: [],
					parameters: headersOf(brand, type),
					requestBody: {
						required: true,
						content: {
							"application/json": {
								schema: envelopeOf(type, components.schema(schema)),
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
						"2XX": { description: "Received: the delivery is over." },
						default: { description: "Anything else, a redirect included, counts as failed and is tried again." },
					},
				},
			},
		]),
	);
}

function headersOf(brand: string, type: string): unknown[] {
	const names = headerNames(brand);
	const descriptions: Record<string, string> = {
		[names.event]: "The event's type.",
		[names.eventId]: "The event's id, equal to the body's `id`.",
		[names.signature]: "64 hexadecimal characters.",
		[names.timestamp]: "Unix time in whole seconds, as it was signed.",
		"User-Agent": "Who sends.",
	};
	const examples = requestHeaders({
		brand,
		eventType: type,
		eventId: EXAMPLE.eventId,
		timestamp: EXAMPLE.timestamp,
		signature: SIGNATURE_VECTORS[0]!.signature,
	});
	return Object.entries(descriptions).map(([name, description]) => ({
		name,
		in: "header",
		required: true,
		description,
		schema: { type: "string" },
		example: examples[name],
	}));
}

function envelopeOf(type: string, data: unknown): Record<string, unknown> {
	return {
		type: "object",
		required: ["id", "type", "created_at", "project_id", "data"],
		properties: {
			id: { type: "string", description: "De-duplicate by it." },
			type: { const: type },
			created_at: { type: "string", format: "date-time", description: "When it was generated, ISO 8601 in UTC." },
			project_id: { type: "string", description: "The store project." },
			data,
		},
	};
}
