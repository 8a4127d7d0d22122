import { expect } from "vitest";
import type { Basket, Journeys } from "./journeys.ts";

/** An envelope of the log. */
export interface LoggedEvent {
	readonly id: string;
	readonly type: string;
	readonly project_id: string;
	readonly created_at: string;
	// biome-ignore lint/suspicious/noExplicitAny: as the API gives it
	readonly data: any;
}

/** An event's subject, as {@link Journeys.expected} names it. */
function nameOf({ type, data }: LoggedEvent): string {
	switch (type) {
		case "customer.created":
			return `${type} ${data.customer_email.trim().toLowerCase()}`;
		case "purchase.completed":
			return `${type} ${data.order_id}`;
		case "purchase.refunded":
			return `${type} ${data.refund_id}`;
		case "chargeback.created":
			return `${type} ${data.chargeback_id}`;
		case "delivery.success":
		case "delivery.failed":
			return `${type} ${data.order_id}/${data.deliverable_id}`;
		default:
			return `${type} ${data.subscription_id}`;
	}
}

/** Checks that every fact's events are in the log once, at their acknowledged positions, in a valid order. */
export function checkFacts(log: readonly LoggedEvent[], journeys: Journeys): void {
	const places = new Map<string, number>();
	for (const [place, event] of log.entries()) {
		if (event.type === "basket.abandoned") continue;
		const name = nameOf(event);
		expect(places.has(name), `${name} twice`).toBe(false);
		places.set(name, place);
	}
	expect([...places.keys()].sort()).toEqual([...journeys.expected.keys()].sort());
	for (const [name, { id, seq }] of journeys.expected)
		expect([log[seq - 1]!.id, places.get(name)], name).toEqual([id, seq - 1]);

	const refunded = new Map<string, number>();
	const customers = new Set<string>();
	for (const [place, { type, data }] of log.entries()) {
		const order = journeys.orders.get(data.order_id);
		if (type === "customer.created") {
			customers.add(data.customer_email.trim().toLowerCase());
			expect(order!.customer).toBe(data.customer_email.trim().toLowerCase());
		} else if (type === "purchase.completed") expect(customers.has(order!.customer), data.order_id).toBe(true);
		else if (order) expect(places.get(`purchase.completed ${data.order_id}`)).toBeLessThan(place);
		if (type !== "purchase.refunded") continue;
		const sum = (refunded.get(data.order_id) ?? 0) + data.amount_cents;
		refunded.set(data.order_id, sum);
		expect(sum).toBeLessThanOrEqual(order!.amount);
		expect(data.partial, data.refund_id).toBe(sum < order!.amount);
	}
	expect(customers).toEqual(journeys.customers);
}

/**
 * Checks that abandoned baskets fire once each, on time, and bought or emptied ones never. If so much time passed
 * between two reports of a basket, because the service was down, that it was due in between, it may have fired then as
 * well.
 *
 * @returns how many left no such room
 */
export function checkBaskets(log: readonly LoggedEvent[], baskets: readonly Basket[], idleMs: number): number {
	const abandoned = Map.groupBy(
		log.filter(({ type }) => type === "basket.abandoned"),
		({ data }) => data.basket_id as string,
	);
	let exact = 0;
	for (const { id, end, begun, lastSent, lastTouched, ended } of baskets) {
		const times = (abandoned.get(id) ?? []).map(({ created_at }) => Date.parse(created_at));
		abandoned.delete(id);
		const due = end === "left" ? 1 : 0;
		const isExact = (due === 1 ? lastTouched : ended) - begun < idleMs;
		if (isExact) expect(times, `${id} was ${end}`).toHaveLength(due);
		else expect(times.length, `${id} was ${end}`).toBeGreaterThanOrEqual(due);
		if (isExact) exact++;
		if (due === 1) expect(times.at(-1)).toBeGreaterThanOrEqual(lastSent + idleMs);
		else for (const time of times) expect(time).toBeLessThanOrEqual(ended);
	}
	expect([...abandoned.keys()]).toEqual([]);
	return exact;
}
