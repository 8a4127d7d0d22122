import type * as port from "../port.ts";
import { abandonBaskets, nextBasketDue, removeBasket, takeDueBaskets, touchBasket } from "./facts/baskets.ts";
import { recordChargeback, recordDeliverable, recordRefund } from "./facts/order-facts.ts";
import { getOrder, recordOrders } from "./facts/orders.ts";
import { cancelSubscription, getSubscription, recordSubscription } from "./facts/subscriptions.ts";
import { RegistryCalls } from "./registry-calls.ts";

/** The port's part for what the store platform reports. */
export abstract class FactCalls extends RegistryCalls implements port.FactStorage {
	recordOrders(projectId: string, orders: readonly port.NewOrder[]): Promise<port.Recorded[]> {
		const types = orders.flatMap((order) => [order.customerCreated.type, order.purchaseCompleted.type]);
		return this.writeWithTypes(projectId, types, (c) => recordOrders(c, projectId, orders));
	}

	getOrder(projectId: string, orderId: string): Promise<port.Order | null> {
		return this.read((c) => getOrder(c, projectId, orderId));
	}

	recordRefund(projectId: string, refund: port.NewRefund) {
		const types = [refund.partial.type, refund.whole.type];
		return this.writeWithTypes(projectId, types, (c) => recordRefund(c, projectId, refund));
	}

	recordChargeback(projectId: string, chargeback: port.NewChargeback) {
		return this.writeWithTypes(projectId, [chargeback.event.type], (c) => recordChargeback(c, projectId, chargeback));
	}

	recordDeliverable(projectId: string, deliverable: port.NewDeliverable) {
		return this.writeWithTypes(projectId, [deliverable.event.type], (c) =>
			recordDeliverable(c, projectId, deliverable),
		);
	}

	recordSubscription(projectId: string, subscription: port.NewSubscription): Promise<port.Recorded> {
		return this.writeWithTypes(projectId, [subscription.event.type], (c) =>
			recordSubscription(c, projectId, subscription),
		);
	}

	getSubscription(projectId: string, subscriptionId: string): Promise<string | null> {
		return this.read((c) => getSubscription(c, projectId, subscriptionId));
	}

	cancelSubscription(projectId: string, subscriptionId: string, at: number, event: port.NewEvent) {
		return this.writeWithTypes(projectId, [event.type], (c) =>
			cancelSubscription(c, projectId, subscriptionId, at, event),
		);
	}

	touchBasket(projectId: string, touch: port.BasketTouch): Promise<"touched" | "bought" | "no_project"> {
		return this.writeTo(projectId, (c) => touchBasket(c, projectId, touch));
	}

	removeBasket(projectId: string, basketId: string): Promise<"removed" | "absent" | "no_project"> {
		return this.writeTo(projectId, (c) => removeBasket(c, projectId, basketId));
	}

	takeDueBaskets(now: number, until: number, limit: number): Promise<port.DueBasket[]> {
		return this.write((c) => takeDueBaskets(c, now, until, limit));
	}

	nextBasketDue(): Promise<number | null> {
		return this.read(nextBasketDue);
	}

	abandonBaskets(projectId: string, baskets: readonly port.AbandonedBasket[], at: number): Promise<port.LogEvent[]> {
		const types = baskets.map(({ event }) => event.type);
		return this.writeWithTypes(projectId, types, (c) => abandonBaskets(c, projectId, baskets, at));
	}
}
