import type { IncomingMessage, ServerResponse } from "node:http";
import { BodyTooLargeError, checkReceiver, METHOD_NOT_ALLOWED, type Receiver, type Reply } from "../request.ts";
import type { Body } from "../verify.ts";
import { WebhookError } from "../webhook-error.ts";

/**
 * A listener for `node:http` and `node:https`, and a route handler for Express, Connect and Next.js's Pages API. It
 * resolves once it has responded: Koa and serverless platforms have to wait for that.
 */
export function nodeHandler(receiver: Receiver): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
	checkReceiver(receiver, "nodeHandler");
	return async (request, response) => {
		checkResponse(response);
		if (request.method !== "POST") return send(response, METHOD_NOT_ALLOWED, { allow: "POST" });
		const { reply } = receiver.receive({ headers: request.headers, body: readBody(request, receiver.maxBytes) });
		const answer = await reply;
		// The rest of a body that is too large isn't read, so nothing can follow on this connection.
		send(response, answer, request.complete ? {} : { connection: "close" });
	};
}

/** Throws a TypeError for the arguments of other servers. */
function checkResponse(response: unknown): void {
	if (typeof (response as Partial<ServerResponse> | null | undefined)?.writeHead === "function") return;
	throw new TypeError(
		"nodeHandler got no response of node:http. In Koa, pass it ctx.req and ctx.res. For servers that speak the Fetch " +
			"API, such as Next.js's App Router and Hono, use fetchHandler from @posthorn/webhooks/fetch.",
	);
}

function send(response: ServerResponse, { status, body }: Reply, headers: Record<string, string>): void {
	if (response.headersSent || response.destroyed) return;
	response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** What middleware may have left on the request. */
interface ReadRequest extends IncomingMessage {
	/** Express: the output of its body parsers. */
	readonly body?: unknown;
	/** Firebase and Google Cloud Functions: the bytes as they came. */
	readonly rawBody?: unknown;
}

async function readBody(request: ReadRequest, maxBytes: number): Promise<Body> {
	if (!request.readableEnded && !request.destroyed) return readStream(request, maxBytes);
	for (const body of [request.rawBody, request.body]) {
		if (body instanceof Uint8Array || typeof body === "string") return body;
	}
	throw new WebhookError(
		"body_parsed",
		"The body has already been parsed. Register this route before express.json() and other body parsers. In NestJS, " +
			"create the application with { rawBody: true }. In Next.js's Pages API, export const config = { api: { bodyParser: false } }.",
	);
}

function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
	return new Promise((resolve, reject) => {
		const chunks: Uint8Array[] = [];
		let size = 0;
		const stop = (error: Error) => {
			request.pause().removeAllListeners("data");
			reject(error);
		};
		if (Number(request.headers["content-length"]) > maxBytes) return stop(new BodyTooLargeError(maxBytes));
		request.on("data", (part: Uint8Array | string) => {
			// Chunks are text if other code has called `setEncoding`.
			const chunk = typeof part === "string" ? Buffer.from(part, request.readableEncoding ?? "utf8") : part;
			chunks.push(chunk);
			size += chunk.length;
			if (size > maxBytes) stop(new BodyTooLargeError(maxBytes));
		});
		request.once("end", () => resolve(Buffer.concat(chunks)));
		request.once("error", reject);
		request.once("close", () => reject(new Error("The sender closed the connection before the end of the body.")));
	});
}
