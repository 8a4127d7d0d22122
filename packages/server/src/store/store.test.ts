import { EVENT_TYPES } from "@posthorn/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { payloadFaults } from "../engine/publish/check.ts";
import { onEachEngine } from "./engines.fixture.ts";
import type { Store } from "./index.ts";
import { customerKey } from "./orders.ts";
import { digestOf } from "./recorder.ts";
import type { TestStore } from "./store.fixture.ts";

const order = (order_id: string, customer_email = "ada@example.com", amount_cents = 100) => ({
	...{ order_id, customer_email, amount_cents, currency: "EUR" },
	items: [{ name: "VIP", quantity: 1 }],
});

test("addresses identify a customer regardless of case, surrounding space and compatibility forms", () => {
	const key = (email: string) => customerKey(email).toString("hex");
	for (const same of ["ADA@Example.com", " ada@example.com\n", "ａｄａ@example.com"])
		expect(key(same), same).toBe(key("ada@example.com"));
	// A capital letter with its caron has no character of its own; the small one has.
	expect(key("J\u030c@example.com")).toBe(key("\u01f0@example.com"));
	for (const other of ["adam@example.com", "ada@example.org", "a.da@example.com"])
		expect(key(other), other).not.toBe(key("ada@example.com"));
});

test("a digest depends on values, not on the order of members", () => {
	expect(digestOf({ a: 1, b: [{ c: 2, d: undefined }] })).toEqual(digestOf({ b: [{ c: 2 }], a: 1 }));
	const different = [
		{ c: 1 },
		{ d: 1 },
		{},
		[],
		null,
		0,
		"",
		"0",
		{ a: null },
		{ a: {} },
		{ a: [] },
		[[]],
		[null],
		{ __proto__: null, b: 1 },
	];
	expect(new Set(different.map((value) => digestOf(value).toString("hex"))).size).toBe(different.length);
});

type Step = readonly [kind: string, order: number, id: number, value: number];

/** A model of the rules, as simple as possible. */
class Model {
	readonly log: string[] = [];
	readonly #facts = new Map<string, string>();
	readonly #customers = new Set<number>();
	readonly #orders = new Map<number, { amount: number; refunded: number }>();

	step([kind, orderNo, id, value]: Step): string {
		const order = this.#orders.get(orderNo);
		switch (kind) {
			case "order":
				return this.#once(`order ${orderNo}`, `${id} ${value}`, () => {
					if (!this.#customers.has(id)) this.log.push("customer.created");
					this.#customers.add(id);
					this.#orders.set(orderNo, { amount: 10 * value, refunded: 0 });
					this.log.push("purchase.completed");
				});
			case "refund": {
				// Whether the order exists is checked before whether the refund is known.
				if (!order) return "no_order";
				const amount = 5 * (value + 1);
				const known = this.#facts.has(`refund ${id}`);
				if (!known && order.refunded + amount > order.amount) return "too_much";
				return this.#once(`refund ${id}`, `${orderNo} ${value}`, () => {
					order.refunded += amount;
					this.log.push(`purchase.refunded ${order.refunded < order.amount}`);
				});
			}
			case "chargeback":
				if (!order) return "no_order";
				return this.#once(`chargeback ${id}`, `${orderNo} ${value}`, () => this.log.push("chargeback.created"));
			case "deliverable":
				if (!order) return "no_order";
				return this.#once(`deliverable ${orderNo} ${id}`, `${value % 2}`, () =>
					this.log.push(value % 2 === 0 ? "delivery.success" : "delivery.failed"),
				);
			case "subscribe":
				return this.#once(`subscribe ${id}`, `${value}`, () => this.log.push("subscription.created"));
			default:
				if (!this.#facts.has(`subscribe ${id}`)) return "no_subscription";
				return this.#once(`cancel ${id}`, "", () => this.log.push("subscription.canceled"));
		}
	}

	#once(fact: string, content: string, happen: () => void): string {
		const before = this.#facts.get(fact);
		if (before !== undefined) return before === content ? "repeated" : "conflict";
		this.#facts.set(fact, content);
		happen();
		return "recorded";
	}
}

async function perform(store: Store, project: string, [kind, orderNo, id, value]: Step): Promise<{ kind: string }> {
	const { orders, subscriptions } = store;
	const orderId = `o${orderNo}`;
	switch (kind) {
		case "order":
			return orders.record(project, order(orderId, `c${id}@example.com`, 10 * value));
		case "refund":
			return orders.refund(project, orderId, { refund_id: `r${id}`, amount_cents: 5 * (value + 1) });
		case "chargeback":
			return orders.chargeback(project, orderId, { chargeback_id: `b${id}`, amount_cents: value });
		case "deliverable":
			return orders.deliverable(project, orderId, `d${id}`, {
				kind: "file",
				outcome: value % 2 === 0 ? "completed" : "dead_lettered",
			});
		case "subscribe":
			return subscriptions.record(project, {
				...{ subscription_id: `s${id}`, customer_email: "a@b", plan: `plan ${value}` },
			});
		default:
			return subscriptions.cancel(project, `s${id}`);
	}
}

const KINDS = ["order", "order", "refund", "refund", "chargeback", "deliverable", "subscribe", "cancel"];
const small = fc.integer({ min: 0, max: 2 });
const step = fc.tuple(fc.constantFrom(...KINDS), small, small, fc.integer({ min: 0, max: 3 }));

onEachEngine((openStore) => {
	let world: TestStore;
	/** The rules on two nodes, if several may share the database. */
	let stores: readonly Store[];
	beforeAll(async () => {
		world = await openStore();
		stores = [world.store, ...(await world.startNodes(1))];
	});
	afterAll(() => world.close());

	test("the basket that an order bought is part of the report", async () => {
		const project = await world.project();
		const record = (basket_id?: string) =>
			world.store.orders.record(project, { ...order("o"), ...(basket_id && { basket_id }) });
		expect((await record("one")).kind).toBe("recorded");
		expect((await record("one")).kind).toBe("repeated");
		expect((await record("two")).kind).toBe("conflict");
		expect((await record()).kind).toBe("conflict");
	});

	test("a deliverable has one outcome", async () => {
		const project = await world.project();
		await world.store.orders.record(project, order("o"));
		const report = async (outcome: "dead_lettered" | "completed") =>
			(await world.store.orders.deliverable(project, "o", "d", { kind: "file", outcome })).kind;
		expect(await report("dead_lettered")).toBe("recorded");
		expect(await report("dead_lettered")).toBe("repeated");
		expect(await report("completed")).toBe("conflict");
	});

	test("concurrent purchases create one customer, before all of that customer's purchases", async () => {
		for (let round = 0; round < 10; round++) {
			const project = await world.project();
			const emails = ["ada@example.com", "ADA@example.com", " Ada@Example.Com"];
			await Promise.all(
				Array.from({ length: 12 }, (_, i) => stores[i % 2]!.orders.record(project, order(`o${i}`, emails[i % 3]))),
			);
			const types = await world.types(project);
			expect(types).toEqual(["customer.created", ...Array(12).fill("purchase.completed")]);
			// Handed to the lanes in the order in which the calls end: the same events in any order.
			expect(
				world.sent
					.get(project)
					?.map(({ seq }) => seq)
					.sort((a, b) => a - b),
			).toEqual(types.map((_, i) => i + 1));
		}
	});

	test("any series of facts creates the model's events, with data as in the catalogue", async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
				const project = await world.project();
				const model = new Model();
				for (const each of steps) {
					const wanted = model.step(each);
					expect((await perform(world.store, project, each)).kind, each.join(" ")).toBe(wanted);
				}
				const log = await world.log(project);
				const seen = log.map(({ type, data }) => (type === "purchase.refunded" ? `${type} ${data.partial}` : type));
				expect(seen).toEqual(model.log);
				for (const { type, data } of log)
					expect(payloadFaults(EVENT_TYPES.find((entry) => entry.type === type)!.type, data)).toEqual([]);
			}),
			{ numRuns: 60 },
		);
	});

	test("concurrent facts keep the rules: nothing twice, no refund beyond the amount, no outcome before its order", async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), async (steps) => {
				const project = await world.project();
				const results = await Promise.all(steps.map((each, i) => perform(stores[i % 2]!, project, each)));
				const log = await world.log(project);
				const recorded = results.filter(({ kind }) => kind === "recorded").length;
				expect(log.filter(({ type }) => type !== "customer.created")).toHaveLength(recorded);
				const bought = new Map<unknown, number>();
				const customers = new Set<unknown>();
				const facts = new Set<string>();
				for (const { type, data } of log) {
					const { partial: _, plan: __, detail: ___, ...identity } = data;
					const key = `${type.startsWith("delivery.") ? "delivery" : type} ${JSON.stringify(identity)}`;
					expect(facts.has(key), key).toBe(false);
					facts.add(key);
					if (type === "customer.created") customers.add(data.customer_email);
					else if (type === "purchase.completed") {
						expect(customers.has(data.customer_email)).toBe(true);
						bought.set(data.order_id, data.amount_cents as number);
					} else if (data.order_id !== undefined) expect(bought.has(data.order_id)).toBe(true);
					if (type !== "purchase.refunded") continue;
					const left = bought.get(data.order_id)! - (data.amount_cents as number);
					bought.set(data.order_id, left);
					expect(left).toBeGreaterThanOrEqual(0);
					expect(data.partial).toBe(left > 0);
				}
			}),
			{ numRuns: 60 },
		);
	});
});
