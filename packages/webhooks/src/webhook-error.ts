/** Why a request was refused, and the HTTP status to refuse it with. The codes are stable. */
const STATUS = {
	headers_not_passed: 400,
	timestamp_missing: 400,
	timestamp_repeated: 400,
	timestamp_malformed: 400,
	timestamp_too_old: 400,
	timestamp_too_new: 400,
	body_not_json: 400,
	body_not_an_event: 400,
	signature_missing: 401,
	signature_repeated: 401,
	signature_malformed: 401,
	signature_mismatch: 401,
	body_not_read: 401,
	body_parsed: 401,
	body_reserialized: 401,
	body_byte_order_mark: 401,
	body_base64: 401,
	secret_whitespace: 401,
	secret_quoted: 401,
	secret_prefix: 401,
} as const;

export type WebhookErrorCode = keyof typeof STATUS;

/**
 * A request that must not be trusted. Its message names the likely cause and never contains the secret. Express 5,
 * Fastify, Koa, NestJS, Hono and h3 respond with its status if a handler throws it; elsewhere return `getResponse()`.
 */
export class WebhookError extends Error {
	override readonly name = "WebhookError";
	readonly code: WebhookErrorCode;
	/** The HTTP status to respond with. */
	readonly status: 400 | 401;

	constructor(code: WebhookErrorCode, message: string) {
		super(message);
		this.code = code;
		this.status = STATUS[code];
	}

	// Getters, so that logs of the error don't show the same status twice.
	/** The same as `status`, by the name that NestJS reads. */
	get statusCode(): 400 | 401 {
		return this.status;
	}

	/** Tells Koa that the response may show the message. */
	get expose(): true {
		return true;
	}

	/** The response to refuse the request with. Hono calls this if a handler throws. */
	getResponse(): Response {
		return Response.json({ code: this.code, message: this.message }, { status: this.status });
	}
}
