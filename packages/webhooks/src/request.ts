import type { WebhookEvent } from "./event.ts";
import type { Settings } from "./options.ts";
import { type Body, type HeadersInput, verify } from "./verify.ts";
import { WebhookError } from "./webhook-error.ts";

export interface ReceivedRequest {
	readonly headers: HeadersInput;
	/** Its raw bytes. Nothing, if the server kept none, is refused with the reason. */
	readonly body: Body | null | undefined | Promise<Body | null | undefined>;
}

/** What to respond with. The body shows up in Posthorn's delivery log. */
export interface Reply {
	readonly status: number;
	readonly body: { readonly result: string } | { readonly code: string; readonly message: string };
}

export interface Received {
	/** Resolves within the timeout, and never rejects. */
	readonly reply: Promise<Reply>;
	/** Resolves once the handler has ended, too, and never rejects. */
	readonly done: Promise<unknown>;
}

/** What adapters need. */
export interface Receiver {
	/** The largest body to read, bytes. */
	readonly maxBytes: number;
	receive(request: ReceivedRequest): Received;
}

/** Throws a TypeError for anything but a receiver, such as its options, when a program starts. */
export function checkReceiver(receiver: unknown, name: string): void {
	if (typeof (receiver as Partial<Receiver> | null | undefined)?.receive === "function") return;
	throw new TypeError(`${name} needs a receiver: pass what createReceiver({ … }) or createInbox({ … }) returns.`);
}

/** The body is larger than `maxBytes`. Adapters reject the body with it. */
export class BodyTooLargeError extends Error {
	constructor(maxBytes: number) {
		super(`The body is larger than ${maxBytes} bytes. If Posthorn sends such events, raise the receiver's maxBytes.`);
	}
}

export const METHOD_NOT_ALLOWED = refuse(405, "method_not_allowed", "Webhooks are sent with POST.");

export function refuse(status: number, code: string, message: string): Reply {
	return { status, body: { code, message } };
}

/** Verifies a request and hands its event on. */
export function receive(
	request: ReceivedRequest,
	settings: Settings,
	handle: (event: WebhookEvent) => Promise<Reply>,
): Received {
	const work = respondTo(request, settings, handle);
	return { reply: withTimeout(work, settings.timeoutMs), done: work };
}

async function respondTo(
	request: ReceivedRequest,
	{ secrets, verifyOptions, onError }: Settings,
	handle: (event: WebhookEvent) => Promise<Reply>,
): Promise<Reply> {
	let event: WebhookEvent | undefined;
	try {
		event = await verify(await bodyOf(request), request.headers, await secrets(), verifyOptions);
		return await handle(event);
	} catch (error) {
		if (error instanceof WebhookError) return refuse(error.status, error.code, error.message);
		if (error instanceof BodyTooLargeError) return refuse(413, "body_too_large", error.message);
		// Not reported: anyone could fill the log by aborting requests.
		if (error instanceof BrokenBodyError) return refuse(400, "body_incomplete", error.message);
		onError(error, event);
		return refuse(503, "receiver_unavailable", "The receiver can't take events at the moment; its log says why.");
	}
}

class BrokenBodyError extends Error {}

async function bodyOf({ body }: ReceivedRequest): Promise<Body | null | undefined> {
	try {
		return await body;
	} catch (cause) {
		if (cause instanceof WebhookError || cause instanceof BodyTooLargeError) throw cause;
		throw new BrokenBodyError("The request ended before its body.", { cause });
	}
}

async function withTimeout(work: Promise<Reply>, timeoutMs: number): Promise<Reply> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<Reply>((resolve) => {
		const message = `Not done within ${timeoutMs / 1_000} s; the work continues. Try again later.`;
		timer = setTimeout(() => resolve(refuse(503, "timeout", message)), timeoutMs);
	});
	return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
