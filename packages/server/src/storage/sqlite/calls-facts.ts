import type * as port from "../port.ts";
import type { FactReply } from "./facts/record.ts";
import { InsightCalls } from "./insight-calls.ts";

/** The port's part for what the store platform reports. */
export abstract class FactCalls extends InsightCalls implements port.FactStorage {
	async recordOrders(projectId: string, orders: readonly port.NewOrder[]): Promise<port.Recorded[]> {
		const copies = orders.map((order) => ({
			...own(order),
			customerKey: Uint8Array.from(order.customerKey),
			customerCreated: ownEvent(order.customerCreated),
			purchaseCompleted: ownEvent(order.purchaseCompleted),
		}));
		const replies = await this.write("recordOrders", projectId, copies);
		return replies.map((reply, i) => {
			const { customerCreated, purchaseCompleted } = orders[i]!;
			return recorded(reply, [customerCreated, purchaseCompleted]);
		});
	}

	getOrder(projectId: string, orderId: string): Promise<port.Order | null> {
		return this.read("getOrder", projectId, orderId);
	}

	async recordRefund(projectId: string, refund: port.NewRefund) {
		const { partial, whole } = refund;
		const copy = { ...own(refund), partial: ownEvent(partial), whole: ownEvent(whole) };
		const reply = await this.write("recordRefund", projectId, copy);
		if (reply.kind === "no_order" || reply.kind === "too_much") return reply;
		return recorded(reply, [partial, whole]);
	}

	async recordChargeback(projectId: string, chargeback: port.NewChargeback) {
		const copy = { ...own(chargeback), event: ownEvent(chargeback.event) };
		const reply = await this.write("recordChargeback", projectId, copy);
		return reply.kind === "no_order" ? reply : recorded(reply, [chargeback.event]);
	}

	async recordDeliverable(projectId: string, deliverable: port.NewDeliverable) {
		const copy = { ...own(deliverable), event: ownEvent(deliverable.event) };
		const reply = await this.write("recordDeliverable", projectId, copy);
		return reply.kind === "no_order" ? reply : recorded(reply, [deliverable.event]);
	}

	async recordSubscription(projectId: string, subscription: port.NewSubscription) {
		const copy = { ...own(subscription), event: ownEvent(subscription.event) };
		return recorded(await this.write("recordSubscription", projectId, copy), [subscription.event]);
	}

	getSubscription(projectId: string, subscriptionId: string): Promise<string | null> {
		return this.read("getSubscription", projectId, subscriptionId);
	}

	async cancelSubscription(projectId: string, subscriptionId: string, at: number, event: port.NewEvent) {
		const reply = await this.write("cancelSubscription", projectId, subscriptionId, at, ownEvent(event));
		return reply.kind === "no_subscription" ? reply : recorded(reply, [event]);
	}

	touchBasket(projectId: string, touch: port.BasketTouch): Promise<"touched" | "bought" | "no_project"> {
		return this.write("touchBasket", projectId, touch);
	}

	removeBasket(projectId: string, basketId: string): Promise<"removed" | "absent" | "no_project"> {
		return this.write("removeBasket", projectId, basketId);
	}

	takeDueBaskets(now: number, until: number, limit: number): Promise<port.DueBasket[]> {
		return this.write("takeDueBaskets", now, until, limit);
	}

	nextBasketDue(): Promise<number | null> {
		return this.read("nextBasketDue");
	}

	async abandonBaskets(
		projectId: string,
		baskets: readonly port.AbandonedBasket[],
		at: number,
	): Promise<port.LogEvent[]> {
		const copies = baskets.map((basket) => ({ ...basket, event: ownEvent(basket.event) }));
		const events = await this.write("abandonBaskets", projectId, copies, at);
		return inLog(
			events,
			at,
			baskets.map(({ event }) => event),
		);
	}
}

/** Bytes of their own: a view would take all the memory that it looks into with it to the other thread. */
function own<T extends port.NewFact>(fact: T): T {
	return { ...fact, digest: Uint8Array.from(fact.digest) };
}

function ownEvent(event: port.NewEvent): port.NewEvent {
	return { ...event, body: Uint8Array.from(event.body) };
}

/** A reply of the other thread, its events with the bytes that are here. */
function recorded(reply: FactReply, candidates: readonly port.NewEvent[]): port.Recorded {
	if (reply.kind !== "recorded") return reply;
	const { kind, at, events } = reply;
	return { kind, at, events, appended: inLog(events, at, candidates) };
}

function inLog(
	events: readonly port.FactEvent[],
	publishedAt: number,
	candidates: readonly port.NewEvent[],
): port.LogEvent[] {
	return events.map((event) => {
		const { body } = candidates.find(({ id }) => id === event.id)!;
		return { ...event, publishedAt, body };
	});
}
