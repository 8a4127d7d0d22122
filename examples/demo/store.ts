import type { Report } from "./api.ts";
import { createRandom, type Random } from "./random.ts";

/** A store fact: one or two calls, and the events that the service publishes for them. */
export interface StoreFact {
	readonly reports: readonly Report[];
	/** A summary of each of its events, by event type. */
	readonly summaries: ReadonlyMap<string, string>;
	/** The id of a basket that will be abandoned; its event follows later. */
	readonly leftBasket?: string;
}

export interface Store {
	/** The next fact, with at most this many events (1 or more). Never runs out. */
	next(atMost: number): StoreFact;
	/** How long to wait before it, in milliseconds. */
	pause(): number;
}

interface Order {
	readonly id: string;
	readonly email: string;
	readonly amountCents: number;
	readonly currency: string;
	refundedCents: number;
}

interface Subscription {
	readonly id: string;
	readonly email: string;
	readonly plan: string;
}

interface Line {
	readonly product_id: string;
	readonly name: string;
	readonly quantity: number;
	readonly unit_amount_cents: number;
}

interface Happening extends StoreFact {
	/** The order of which something is delivered next. */
	readonly delivers?: Order;
}

const PAUSE_MS = { shortest: 300, longest: 1500 };
/** How many recent orders refunds and chargebacks choose from. */
const REMEMBERED_ORDERS = 200;

const PRODUCTS = [
	{ id: "prod_vip_30d", name: "VIP rank, 30 days", cents: 1999 },
	{ id: "prod_crate_key", name: "Crate key", cents: 499 },
	{ id: "prod_starter", name: "Starter kit", cents: 899 },
	{ id: "prod_pet_fox", name: "Pet fox", cents: 1249 },
	{ id: "prod_coins_5k", name: "5,000 coins", cents: 2499 },
	{ id: "prod_soundtrack", name: "Soundtrack (file)", cents: 699 },
] as const;

/** Approximate exchange rates to the euro. */
const CURRENCIES = [
	{ code: "EUR", factor: 1 },
	{ code: "EUR", factor: 1 },
	{ code: "USD", factor: 1.1 },
	{ code: "GBP", factor: 0.9 },
	{ code: "PLN", factor: 4.3 },
] as const;

const FIRST_NAMES = ["anna", "ben", "chiara", "dmitri", "elif", "femi", "grace", "hugo", "ines", "jonas", "kaya", "li"];
const DOMAINS = ["example.com", "example.org", "example.net"];
const REASONS = ["fraudulent", "product_not_received", "duplicate", "unrecognized"];
const PLANS = ["vip_monthly", "coins_weekly", "supporter_yearly"];
const DELIVERABLES = [
	{ kind: "game_command", done: "Rank granted on survival-1", failed: "The game server did not respond" },
	{ kind: "chat_role", done: "Role given", failed: "The buyer is not a member of the chat server" },
	{ kind: "file", done: "Downloaded", failed: "The file no longer exists" },
] as const;

/** A made-up game store; the same seed always produces the same facts. */
export function openStore(seed: number, speed: number): Store {
	const random = createRandom(seed);
	const customers = new Set<string>();
	const orders: Order[] = [];
	const subscriptions: Subscription[] = [];
	let happening: Happening | undefined;
	let lastNumber = 10_000;
	const number = (): number => ++lastNumber;

	return {
		next(atMost) {
			const fact = happening ?? somethingHappens(atMost);
			happening = undefined;
			if (fact.delivers !== undefined && atMost > fact.summaries.size) happening = deliverable(fact.delivers);
			return fact;
		},
		pause: () => random.between(PAUSE_MS.shortest, PAUSE_MS.longest) / speed,
	};

	function somethingHappens(atMost: number): Happening {
		const roll = random.next();
		if (roll < 0.14) return basketLeft();
		if (roll < 0.22 || atMost < 2) return subscription();
		const order = roll < 0.36 ? orders[random.whole(0, orders.length - 1)] : undefined;
		if (order === undefined) return purchase();
		const refundable = order.refundedCents < order.amountCents;
		return roll < 0.32 && refundable ? refund(order) : chargeback(order);
	}

	function purchase(): Happening {
		const { code, factor } = random.pick(CURRENCIES);
		const items = basket(random, factor);
		const order: Order = {
			id: `ord_${number()}`,
			email: buyer(),
			amountCents: total(items),
			currency: code,
			refundedCents: 0,
		};
		orders.push(order);
		if (orders.length > REMEMBERED_ORDERS) orders.shift();

		const summaries = new Map<string, string>();
		if (!customers.has(order.email)) summaries.set("customer.created", `${order.email} bought for the first time`);
		customers.add(order.email);
		summaries.set("purchase.completed", `${money(order.amountCents, code)}  ${order.email}  ${inWords(items)}`);
		const body = {
			order_id: order.id,
			customer_email: order.email,
			amount_cents: order.amountCents,
			currency: code,
			items,
		};
		// Some customers fill a basket first; once bought, it isn't abandoned.
		const basketId = random.next() < 0.4 ? `bsk_${number()}` : undefined;
		const reports: Report[] =
			basketId === undefined
				? [{ method: "POST", path: "/orders", body }]
				: [
						{ method: "PUT", path: `/baskets/${basketId}`, body: { items, customer_email: order.email } },
						{ method: "POST", path: "/orders", body: { ...body, basket_id: basketId } },
					];
		return { reports, summaries, ...(random.next() < 0.5 && { delivers: order }) };
	}

	/** Most buyers have bought before. */
	function buyer(): string {
		const known = random.next() < 0.65 ? orders[random.whole(0, orders.length - 1)] : undefined;
		return known?.email ?? email(random);
	}

	function deliverable({ id }: Order): StoreFact {
		const { kind, done, failed } = random.pick(DELIVERABLES);
		const success = random.next() < 0.85;
		const detail = success ? done : failed;
		const outcome = success ? "completed" : "dead_lettered";
		const path = `/orders/${id}/deliverables/dlv_${number()}`;
		return one(path, { kind, outcome, detail }, success ? "delivery.success" : "delivery.failed", `${id}  ${detail}`);
	}

	function refund(order: Order): StoreFact {
		const left = order.amountCents - order.refundedCents;
		const amount = random.next() < 0.5 ? left : Math.max(1, Math.floor(left / 2));
		order.refundedCents += amount;
		const part = order.refundedCents < order.amountCents ? "in part" : "in full";
		const body = { refund_id: `ref_${number()}`, amount_cents: amount };
		const summary = `${money(amount, order.currency)}  ${order.id}  ${part}`;
		return one(`/orders/${order.id}/refunds`, body, "purchase.refunded", summary);
	}

	function chargeback(order: Order): StoreFact {
		const reason = random.pick(REASONS);
		const body = { chargeback_id: `cbk_${number()}`, amount_cents: order.amountCents, reason };
		const summary = `${money(order.amountCents, order.currency)}  ${order.id}  ${reason}`;
		return one(`/orders/${order.id}/chargebacks`, body, "chargeback.created", summary);
	}

	/** Starts a subscription or cancels one. */
	function subscription(): StoreFact {
		const ending = random.next() < 0.4 ? subscriptions.shift() : undefined;
		if (ending !== undefined) {
			const path = `/subscriptions/${ending.id}/cancel`;
			return one(path, undefined, "subscription.canceled", `${ending.email} ended ${ending.plan}`);
		}
		const begun: Subscription = { id: `sub_${number()}`, email: buyer(), plan: random.pick(PLANS) };
		subscriptions.push(begun);
		const body = { subscription_id: begun.id, customer_email: begun.email, plan: begun.plan };
		return one("/subscriptions", body, "subscription.created", `${begun.email} began ${begun.plan}`);
	}

	function basketLeft(): StoreFact {
		const items = basket(random, 1);
		const customer = email(random);
		const id = `bsk_${number()}`;
		return {
			reports: [{ method: "PUT", path: `/baskets/${id}`, body: { items, customer_email: customer } }],
			summaries: new Map([["basket.abandoned", `${customer} left ${inWords(items)}`]]),
			leftBasket: id,
		};
	}
}

function one(path: string, body: Report["body"], type: string, summary: string): StoreFact {
	return { reports: [{ method: "POST", path, ...(body && { body }) }], summaries: new Map([[type, summary]]) };
}

function email(random: Random): string {
	return `${random.pick(FIRST_NAMES)}${random.whole(1, 40)}@${random.pick(DOMAINS)}`;
}

function basket(random: Random, factor: number): Line[] {
	const first = random.whole(0, PRODUCTS.length - 1);
	const kinds = random.next() < 0.7 ? 1 : 2;
	return PRODUCTS.map((_, at) => PRODUCTS[(first + at) % PRODUCTS.length])
		.filter((product) => product !== undefined)
		.slice(0, kinds)
		.map((product) => ({
			product_id: product.id,
			name: product.name,
			quantity: random.next() < 0.75 ? 1 : random.whole(2, 5),
			unit_amount_cents: Math.round((product.cents * factor) / 10) * 10 - 1,
		}));
}

function total(items: readonly Line[]): number {
	return items.reduce((sum, item) => sum + item.quantity * item.unit_amount_cents, 0);
}

/** All of the store's currencies have two decimals. */
function money(cents: number, currency: string): string {
	return `${(cents / 100).toFixed(2)} ${currency}`;
}

function inWords(items: readonly Line[]): string {
	return items.map(({ quantity, name }) => (quantity === 1 ? name : `${quantity} × ${name}`)).join(", ");
}
