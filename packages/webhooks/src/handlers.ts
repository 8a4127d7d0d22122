import { EVENT_TYPES, type EventOf, type EventType, type WebhookEvent } from "./event.ts";
import { Lease } from "./lease.ts";
import type { Store } from "./store.ts";

export interface HandlerContext {
	/** Aborts if the claim on the event is lost, since another process may handle the event then. */
	readonly signal: AbortSignal;
}

/** A handler for each type, and `*` for every other type, types unknown to this version included. */
export type Handlers = {
	readonly [Type in EventType]?: (event: EventOf<Type>, context: HandlerContext) => unknown;
} & {
	readonly "*"?: (event: WebhookEvent, context: HandlerContext) => unknown;
};

export type Handler = (event: WebhookEvent, context: HandlerContext) => unknown;

/** The handler for an event; undefined if its type has none. */
export function handlerOf(handlers: Handlers, { type }: WebhookEvent): Handler | undefined {
	const own = Object.hasOwn(handlers, type) ? (handlers[type as EventType] as Handler | undefined) : undefined;
	return own ?? handlers["*"];
}

/** Throws a TypeError for a handler that would never be called, such as one of a misspelled type. */
export function checkHandlers(handlers: unknown): void {
	if (typeof handlers !== "object" || handlers === null)
		throw new TypeError('on is missing: pass the handlers, such as { "purchase.completed": async (event) => … }.');
	for (const [type, handler] of Object.entries(handlers)) {
		if (type !== "*" && !EVENT_TYPES.includes(type))
			throw new TypeError(
				`on has a handler for "${type}", which isn't an event type of this version. The types are ${EVENT_TYPES.join(", ")}. ` +
					'For types that are newer than this package, use "*" and look at event.type.',
			);
		if (handler !== undefined && typeof handler !== "function")
			throw new TypeError(`on["${type}"] isn't a function; give one that takes the event.`);
	}
}

export interface HeldEvent {
	readonly store: Store;
	readonly key: string;
	readonly token: string;
	readonly leaseMs: number;
	readonly event: WebhookEvent;
	/** When the claim was requested, on the clock of `performance.now`. */
	readonly takenAt: number;
	/** When to offer the event again if the handler fails. */
	readonly retryMs: number;
	readonly onError: (error: unknown) => void;
}

/** Handles an event under its claim. False if the handler failed; then the event can be claimed again. Never rejects. */
export async function handleHeld(handler: Handler | undefined, held: HeldEvent): Promise<boolean> {
	const { store, key, token, onError } = held;
	const lease = new Lease(held, held.takenAt);
	try {
		await handler?.(held.event, { signal: lease.signal });
	} catch (error) {
		onError(error);
		lease.end();
		await store.release(key, token, held.retryMs).catch(onError);
		return false;
	}
	lease.end();
	try {
		if (!(await store.finish(key, token)))
			throw new Error(`The claim on ${key} was lost; the event may be handled twice.`);
	} catch (error) {
		// The work is done, so a retry could only repeat it.
		onError(error);
	}
	return true;
}
