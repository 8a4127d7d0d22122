/**
 * What happens to a request, whichever server it came through:
 *
 *     verify ──▶ claim ──▶ handle ──▶ finish      200 handled
 *       │          │          ├─ fails ─▶ release  500, Posthorn tries again
 *       │          │          └─ slow              503 after 12 s; the handler continues
 *       │          ├─ in progress                  503
 *       │          ├─ done                         200 duplicate
 *       │          └─ store unavailable            503
 *       └─ not genuine                             400 or 401
 *
 * A 2xx ends Posthorn's retries, so it is sent only once the handler has succeeded. If the process dies before, the claim
 * expires and a retry runs the handler again.
 */
import type { WebhookEvent } from "./event.ts";
import { handleHeld, handlerOf } from "./handlers.ts";
import { type ReceiverOptions, settingsOf } from "./options.ts";
import { type Receiver, type Reply, receive, refuse } from "./request.ts";

/**
 * Verifies requests, skips duplicates and runs a handler for each event. Connect it to a server with `fetchHandler`,
 * `nodeHandler` or `fastifyWebhooks`.
 *
 * @throws {TypeError | RangeError} if the secret is empty, the store is missing, a handler is for no known type, or an option is out of range
 */
export function createReceiver(options: ReceiverOptions): Receiver {
	const { store } = options;
	if (typeof store?.claim !== "function")
		throw new TypeError(
			`store ${store ? "isn't a store" : "is missing"}: pass memoryStore() for one process, or a SQLite, PostgreSQL or Redis store, to skip duplicates.`,
		);
	const settings = settingsOf(options);
	const { on, leaseMs, keyOf } = settings;

	async function handle(event: WebhookEvent): Promise<Reply> {
		const handler = handlerOf(on, event);
		if (!handler) return { status: 200, body: { result: "ignored" } };
		const key = keyOf(event);
		const token = crypto.randomUUID();
		const takenAt = performance.now();
		const claim = await store.claim(key, token, leaseMs);
		if (claim === "done") return { status: 200, body: { result: "duplicate" } };
		if (claim === "in_progress") return refuse(503, "in_progress", "The event is being handled. Try again later.");
		const onError = (error: unknown) => settings.onError(error, event);
		const held = { store, key, token, leaseMs, event, takenAt, retryMs: 0, onError };
		if (await handleHeld(handler, held)) return { status: 200, body: { result: "handled" } };
		return refuse(500, "handler_failed", "The event's handler failed; the receiver's log says why.");
	}

	return { maxBytes: settings.maxBytes, receive: (request) => receive(request, settings, handle) };
}
