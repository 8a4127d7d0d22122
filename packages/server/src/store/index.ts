import { Baskets, BasketTimer, type BasketTimerOptions } from "./baskets.ts";
import { Orders, Subscriptions } from "./orders.ts";
import { FactRecorder, type StoreOptions } from "./recorder.ts";

export type { BasketInput } from "./baskets.ts";
export { DELIVERABLE_KINDS, type OrderInput, OUTCOMES, type PreparedOrder } from "./orders.ts";
export { type FactRecorded, type FactRefused, type FactResult, ID_LENGTH } from "./recorder.ts";

interface StartStoreOptions extends StoreOptions, Pick<BasketTimerOptions, "logger" | "isTrusted"> {
	/** How long a basket goes untouched before it is abandoned, milliseconds. */
	readonly basketIdleMs: number;
}

/** The rules that turn the store platform's reports into events, one for each kind of fact. */
export interface Store {
	readonly orders: Orders;
	readonly subscriptions: Subscriptions;
	readonly baskets: Baskets;
}

export interface RunningStore extends Store {
	/** Stops the baskets' timer and waits for its current work. Storage and engine keep running. */
	stop(): Promise<void>;
}

export function startStore(options: StartStoreOptions): RunningStore {
	const { basketIdleMs: idleMs, engine, clock, logger, isTrusted } = options;
	const recorder = new FactRecorder(options);
	const timer = new BasketTimer({ recorder, engine, clock, logger, isTrusted });
	timer.start();
	return {
		orders: new Orders(recorder),
		subscriptions: new Subscriptions(recorder),
		baskets: new Baskets(recorder, { idleMs, onTouched: (dueAt) => timer.due(dueAt) }),
		stop: () => timer.stop(),
	};
}
