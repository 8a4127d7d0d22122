import { BodyTooLargeError, checkReceiver, METHOD_NOT_ALLOWED, type Receiver, type Reply } from "../request.ts";
import { WebhookError } from "../webhook-error.ts";

export interface FetchHandlerOptions {
	/**
	 * Keeps a serverless function alive until slow handlers have ended: `after` of Next.js, or
	 * `(work) => ctx.waitUntil(work)` in a worker, where `waitUntil` is a method and can't be passed without its `ctx`.
	 * Without it they may be frozen after the response, and run again when Posthorn tries again.
	 */
	readonly waitUntil?: (work: Promise<unknown>) => void;
}

/** What frameworks pass instead of a `Request`, and where it has one. */
export type RequestContext =
	/** SvelteKit, Astro, React Router. */
	| { readonly request: Request }
	/** Hono; h3 2 and Nitro 3. */
	| { readonly req: { readonly raw: Request } | Request };

export interface FetchHandler {
	(context: RequestContext): Promise<Response>;
	// Next.js reads the last one, and takes only a `Request`.
	(request: Request): Promise<Response>;
}

/**
 * A handler for servers that speak the Fetch API: Next.js, Hono, SvelteKit, Astro, React Router, Bun, Deno, Cloudflare
 * Workers. It takes a `Request`, or what the framework passes to a route.
 */
export function fetchHandler(receiver: Receiver, { waitUntil }: FetchHandlerOptions = {}): FetchHandler {
	checkReceiver(receiver, "fetchHandler");
	return async (input: Request | RequestContext) => {
		const request = requestOf(input);
		if (request.method !== "POST") return toResponse(METHOD_NOT_ALLOWED, { allow: "POST" });
		const received = receiver.receive({ headers: request.headers, body: readBody(request, receiver.maxBytes) });
		waitUntil?.(received.done);
		return toResponse(await received.reply);
	};
}

/** Throws a TypeError if there is no `Request`: the response must not blame the sender. */
function requestOf(input: unknown): Request {
	const { request, req, raw } = (input ?? {}) as Record<"request" | "req" | "raw", unknown>;
	const { raw: inner } = (req ?? {}) as { raw?: unknown };
	for (const one of [input, request, inner, req, raw]) if (isRequest(one)) return one;
	throw new TypeError(
		"fetchHandler got no Request of the Fetch API. Pass it one, or use nodeHandler from @posthorn/webhooks/node for " +
			"node:http, Express, Koa and NestJS, and fastifyWebhooks from @posthorn/webhooks/fastify for Fastify.",
	);
}

/** By its methods, because frameworks have classes of their own. */
function isRequest(value: unknown): value is Request {
	const { arrayBuffer, headers } = (value ?? {}) as Partial<Request>;
	return typeof arrayBuffer === "function" && typeof headers?.get === "function";
}

function toResponse({ status, body }: Reply, headers: Record<string, string> = {}): Response {
	return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
}

/** Rejects as soon as the body turns out to be too large. */
async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
	if (request.bodyUsed || request.body?.locked) {
		throw new WebhookError(
			"body_parsed",
			"The body has already been read. Verify first, and use the event it returns.",
		);
	}
	if (Number(request.headers.get("content-length")) > maxBytes) throw new BodyTooLargeError(maxBytes);
	const chunks: Uint8Array[] = [];
	let size = 0;
	const reader = request.body?.getReader();
	for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
		size += part.value.length;
		if (size > maxBytes) {
			// Not awaited: the response mustn't depend on how the server ends a stream.
			reader?.cancel().catch(() => undefined);
			throw new BodyTooLargeError(maxBytes);
		}
		chunks.push(part.value);
	}
	const body = new Uint8Array(size);
	let at = 0;
	for (const chunk of chunks) {
		body.set(chunk, at);
		at += chunk.length;
	}
	return body;
}
