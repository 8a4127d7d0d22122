import { createRandom, type Random } from "./random.ts";

/** What the store tells the service: the body of a publish. */
export interface StoreEvent {
	readonly type: string;
	readonly data: Readonly<Record<string, unknown>>;
	/** The same in a few words, for people. */
	readonly summary: string;
}

export interface Store {
	/** What happens next in the store. Never ends. */
	next(): StoreEvent;
	/** How long the store is quiet before that, milliseconds. */
	pause(): number;
}

interface Order {
	readonly id: string;
	readonly email: string;
	readonly amountCents: number;
	readonly currency: string;
	refundedCents: number;
}

interface Line {
	readonly product_id: string;
	readonly name: string;
	readonly quantity: number;
	readonly unit_amount_cents: number;
}

const PAUSE_MS = { shortest: 300, longest: 1500 };
/** Orders that refunds and chargebacks may still be about. */
const REMEMBERED_ORDERS = 200;

const PRODUCTS = [
	{ id: "prod_vip_30d", name: "VIP rank, 30 days", cents: 1999 },
	{ id: "prod_crate_key", name: "Crate key", cents: 499 },
	{ id: "prod_starter", name: "Starter kit", cents: 899 },
	{ id: "prod_pet_fox", name: "Pet fox", cents: 1249 },
	{ id: "prod_coins_5k", name: "5,000 coins", cents: 2499 },
	{ id: "prod_soundtrack", name: "Soundtrack (file)", cents: 699 },
] as const;

/** Rough prices against the euro. */
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
const DELIVERABLES = [
	{ kind: "game_command", done: "Rank granted on survival-1", failed: "The game server did not answer" },
	{ kind: "chat_role", done: "Role given", failed: "The buyer is not a member of the chat server" },
	{ kind: "file", done: "Downloaded", failed: "The file is no longer there" },
] as const;

/** A made-up game store in which the same seed always makes the same things happen. */
export function openStore(seed: number, speed: number): Store {
	const random = createRandom(seed);
	const customers = new Set<string>();
	const orders: Order[] = [];
	const happening: StoreEvent[] = [];
	let lastNumber = 10_000;
	const number = (): number => ++lastNumber;

	return {
		next() {
			if (happening.length === 0) happening.push(...somethingHappens());
			const event = happening.shift();
			if (event === undefined) throw new Error("The store's next event is missing: something happened without one.");
			return event;
		},
		pause: () => random.between(PAUSE_MS.shortest, PAUSE_MS.longest) / speed,
	};

	function somethingHappens(): StoreEvent[] {
		const roll = random.next();
		if (roll < 0.16) return [basketLeft()];
		const order = roll < 0.3 ? orders[random.whole(0, orders.length - 1)] : undefined;
		if (order === undefined) return purchase();
		const refundable = order.refundedCents < order.amountCents;
		return [roll < 0.26 && refundable ? refund(order) : chargeback(order)];
	}

	function purchase(): StoreEvent[] {
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

		const events: StoreEvent[] = [];
		if (!customers.has(order.email)) {
			customers.add(order.email);
			const data = { customer_email: order.email, order_id: order.id };
			events.push({ type: "customer.created", data, summary: `${order.email} bought for the first time` });
		}
		events.push({
			type: "purchase.completed",
			data: {
				order_id: order.id,
				customer_email: order.email,
				amount_cents: order.amountCents,
				currency: code,
				items,
			},
			summary: `${money(order.amountCents, code)}  ${order.email}  ${inWords(items)}`,
		});
		if (random.next() < 0.5) events.push(deliverable(order));
		return events;
	}

	/** Most people who buy have bought before. */
	function buyer(): string {
		const known = random.next() < 0.65 ? orders[random.whole(0, orders.length - 1)] : undefined;
		return known?.email ?? email(random);
	}

	function deliverable(order: Order): StoreEvent {
		const { kind, done, failed } = random.pick(DELIVERABLES);
		const success = random.next() < 0.85;
		const detail = success ? done : failed;
		return {
			type: success ? "delivery.success" : "delivery.failed",
			data: { order_id: order.id, deliverable_id: `dlv_${number()}`, kind, detail },
			summary: `${order.id}  ${detail}`,
		};
	}

	function refund(order: Order): StoreEvent {
		const left = order.amountCents - order.refundedCents;
		const amount = random.next() < 0.5 ? left : Math.max(1, Math.floor(left / 2));
		order.refundedCents += amount;
		const partial = order.refundedCents < order.amountCents;
		return {
			type: "purchase.refunded",
			data: {
				order_id: order.id,
				refund_id: `ref_${number()}`,
				amount_cents: amount,
				currency: order.currency,
				partial,
			},
			summary: `${money(amount, order.currency)}  ${order.id}  ${partial ? "in part" : "in full"}`,
		};
	}

	function chargeback(order: Order): StoreEvent {
		const reason = random.pick(REASONS);
		return {
			type: "chargeback.created",
			data: {
				chargeback_id: `cbk_${number()}`,
				order_id: order.id,
				amount_cents: order.amountCents,
				currency: order.currency,
				reason,
			},
			summary: `${money(order.amountCents, order.currency)}  ${order.id}  ${reason}`,
		};
	}

	function basketLeft(): StoreEvent {
		const items = basket(random, 1);
		const customer = email(random);
		return {
			type: "basket.abandoned",
			data: { basket_id: `bsk_${number()}`, customer_email: customer, items },
			summary: `${customer} left ${inWords(items)}`,
		};
	}
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

/** All the store's currencies have hundredths. */
function money(cents: number, currency: string): string {
	return `${(cents / 100).toFixed(2)} ${currency}`;
}

function inWords(items: readonly Line[]): string {
	return items.map(({ quantity, name }) => (quantity === 1 ? name : `${quantity} × ${name}`)).join(", ");
}
