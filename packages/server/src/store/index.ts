import type { Logger } from "../base/logger.ts";
import { Baskets, BasketTimer } from "./baskets.ts";
import { Chargebacks, Deliverables, Refunds } from "./order-facts.ts";
import { Orders } from "./orders.ts";
import { FactRecorder, type StoreOptions } from "./recorder.ts";
import { Subscriptions } from "./subscriptions.ts";

export type { BasketInput, RemoveResult, TouchResult } from "./baskets.ts";
export type { ChargebackInput, RefundInput, RefundResult } from "./order-facts.ts";
export { DELIVERABLE_KINDS, type DeliverableInput, OUTCOMES } from "./order-facts.ts";
export type { OrderInput, PreparedOrder } from "./orders.ts";
export { ID_LENGTH } from "./payload.ts";
export type * from "./recorder.ts";
export type { CancelResult, SubscriptionInput } from "./subscriptions.ts";

export interface StartStoreOptions extends StoreOptions {
	readonly logger: Logger;
	/** How long a basket goes untouched before it is abandoned, milliseconds. */
	readonly basketIdleMs: number;
}

/** The rules that turn the store platform's reports into events, one for each kind of fact. */
export interface Store {
	readonly orders: Orders;
	readonly refunds: Refunds;
	readonly chargebacks: Chargebacks;
	readonly deliverables: Deliverables;
	readonly subscriptions: Subscriptions;
	readonly baskets: Baskets;
}

export interface RunningStore extends Store {
	/** Stops the baskets' timer and waits for its current work. Storage and engine keep running. */
	stop(): Promise<void>;
}

export function startStore(options: StartStoreOptions): RunningStore {
	const { basketIdleMs: idleMs, engine, clock, logger } = options;
	const recorder = new FactRecorder(options);
	const timer = new BasketTimer({ recorder, engine, clock, logger });
	timer.start();
	return {
		orders: new Orders(recorder),
		refunds: new Refunds(recorder),
		chargebacks: new Chargebacks(recorder),
		deliverables: new Deliverables(recorder),
		subscriptions: new Subscriptions(recorder),
		baskets: new Baskets(recorder, { idleMs, onTouched: (dueAt) => timer.due(dueAt) }),
		stop: () => timer.stop(),
	};
}
