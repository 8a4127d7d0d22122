import { BodyTooLargeError, METHOD_NOT_ALLOWED, type Receiver, type Reply } from "../request.ts";
import { WebhookError } from "../webhook-error.ts";

export interface FetchHandlerOptions {
	/**
	 * Keeps a serverless function alive until slow handlers have ended: `after` of Next.js, or
	 * `(work) => ctx.waitUntil(work)` in a worker, where `waitUntil` is a method and can't be passed without its `ctx`.
	 * Without it they may be frozen after the response, and run again when Posthorn tries again.
	 */
	readonly waitUntil?: (work: Promise<unknown>) => void;
}

/** A handler for servers that speak the Fetch API: Next.js, Hono, Bun, Deno, Cloudflare Workers. */
export function fetchHandler(
	receiver: Receiver,
	{ waitUntil }: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
	return async (request) => {
		if (request.method !== "POST") return toResponse(METHOD_NOT_ALLOWED, { allow: "POST" });
		const received = receiver.receive({ headers: request.headers, body: readBody(request, receiver.maxBytes) });
		waitUntil?.(received.done);
		return toResponse(await received.reply);
	};
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
