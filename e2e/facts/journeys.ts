import { expect } from "vitest";
import type { FactClient } from "./client.ts";

const KINDS = ["game_command", "chat_role", "file"] as const;

export interface Acknowledged {
	readonly id: string;
	readonly seq: number;
}

export interface Basket {
	readonly id: string;
	readonly end: "left" | "bought" | "emptied" | "removed";
	/** Just before the first touch was sent, on the wall clock, milliseconds. */
	readonly begun: number;
	/** Just before the last touch was sent, … */
	lastSent: number;
	/** … and when it was acknowledged. */
	lastTouched: number;
	/** When its end was acknowledged. */
	ended: number;
}

export interface Order {
	readonly amount: number;
	readonly customer: string;
}

/** What a store's customers do, one after the other, and the events that must follow. */
export class Journeys {
	/** The acknowledged events by their subject, such as `delivery.success o1/d0`. */
	readonly expected = new Map<string, Acknowledged>();
	/** Normalized addresses, as customers are compared. */
	readonly customers = new Set<string>();
	readonly orders = new Map<string, Order>();
	readonly baskets: Basket[] = [];
	readonly #client: FactClient;
	readonly #random: () => number;
	#count = 0;

	constructor(client: FactClient, random: () => number) {
		this.#client = client;
		this.#random = random;
	}

	/** The types of the events that must follow. */
	get types(): Set<string> {
		const left = this.baskets.some(({ end }) => end === "left") ? ["basket.abandoned"] : [];
		return new Set([...this.expected.keys()].map((what) => what.split(" ")[0]!).concat(left));
	}

	async one(): Promise<void> {
		const n = this.#count++;
		const basket = this.#chance(0.7) ? await this.#basket(n) : null;
		if (basket?.end === "bought" || this.#chance(0.7)) await this.#order(n, basket);
		if (this.#chance(0.3)) await this.#subscription(n);
	}

	async #basket(n: number): Promise<Basket> {
		const end = this.#pick(["left", "left", "bought", "bought", "emptied", "removed"] as const);
		const now = Date.now();
		const basket = { id: `b${n}`, end, begun: now, lastSent: now, lastTouched: now, ended: now };
		this.baskets.push(basket);
		const path = `/baskets/${basket.id}`;
		for (let touches = this.#pick([1, 2]); touches > 0; touches--) {
			basket.lastSent = Date.now();
			const { status, body } = await this.#client.report("PUT", path, { items: [{ name: "VIP", quantity: touches }] });
			expect(status, JSON.stringify(body)).toBe(200);
			basket.lastTouched = Date.now();
		}
		if (end === "emptied") expect((await this.#client.report("PUT", path, { items: [] })).status).toBe(200);
		if (end === "removed") expect((await this.#client.report("DELETE", path)).status).toBe(204);
		basket.ended = Date.now();
		return basket;
	}

	async #order(n: number, basket: Basket | null): Promise<void> {
		const order_id = `o${n}`;
		const customer = `customer${Math.floor((this.#random() * n) / 2)}@example.com`;
		const customer_email = this.#pick([customer, customer.toUpperCase(), ` ${customer}`]);
		const amount_cents = 100 + Math.floor(this.#random() * 900);
		const basket_id = basket?.end === "bought" ? basket.id : undefined;
		const items = [{ name: "VIP", quantity: 1 }];
		const order = { order_id, customer_email, amount_cents, currency: "EUR", items, basket_id };
		const events = await this.#client.record("/orders", order);
		if (basket) basket.ended = Date.now();
		this.orders.set(order_id, { amount: amount_cents, customer });
		this.customers.add(customer);
		this.#expect(`purchase.completed ${order_id}`, events.at(-1)!);
		if (events.length === 2) this.#expect(`customer.created ${customer}`, events[0]!);
		const [again] = (await this.#client.report("POST", "/orders/batch", { orders: [order] })).body.results;
		expect(again).toMatchObject({ outcome: "repeated", events });
		await Promise.all([...this.#deliverables(n), ...this.#refunds(n, amount_cents), ...this.#chargebacks(n)]);
	}

	#deliverables(n: number): Promise<void>[] {
		return KINDS.filter(() => this.#chance(0.6)).map((kind, i) => {
			const completed = this.#chance(0.7);
			const outcome = completed ? "completed" : "dead_lettered";
			const type = completed ? "delivery.success" : "delivery.failed";
			return this.#record(`${type} o${n}/d${i}`, `/orders/o${n}/deliverables/d${i}`, { kind, outcome });
		});
	}

	/** Concurrently, and together for all of the amount, or less. */
	#refunds(n: number, amount: number): Promise<void>[] {
		const parts = this.#pick([[], [], [amount], [20, amount - 20], [30, 40], [20, 30, amount - 50]]);
		return parts.map((amount_cents, i) => {
			const refund_id = `r${n}.${i}`;
			return this.#record(`purchase.refunded ${refund_id}`, `/orders/o${n}/refunds`, { refund_id, amount_cents });
		});
	}

	#chargebacks(n: number): Promise<void>[] {
		if (this.#chance(0.8)) return [];
		const report = { chargeback_id: `c${n}`, amount_cents: 50, reason: "fraudulent" };
		return [this.#record(`chargeback.created c${n}`, `/orders/o${n}/chargebacks`, report)];
	}

	async #subscription(n: number): Promise<void> {
		const report = { subscription_id: `s${n}`, customer_email: "ada@example.com", plan: "vip" };
		await this.#record(`subscription.created s${n}`, "/subscriptions", report);
		if (this.#chance(0.5)) await this.#record(`subscription.canceled s${n}`, `/subscriptions/s${n}/cancel`);
	}

	async #record(what: string, path: string, report?: object): Promise<void> {
		const [event] = await this.#client.record(path, report);
		this.#expect(what, event!);
	}

	#expect(what: string, { id, seq, type }: Acknowledged & { readonly type: string }): void {
		expect(what.startsWith(`${type} `), `${what} got ${type}`).toBe(true);
		expect(this.expected.has(what), `${what} was created before`).toBe(false);
		this.expected.set(what, { id, seq });
	}

	#chance(part: number): boolean {
		return this.#random() < part;
	}

	#pick<T>(of: readonly T[]): T {
		return of[Math.floor(this.#random() * of.length)]!;
	}
}
