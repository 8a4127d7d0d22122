import { expect, test } from "vitest";
import { Budget } from "../base/budget.ts";
import { onEachEngine } from "./engines.fixture.ts";
import type { OrderInput, Store } from "./index.ts";
import type { TestStore } from "./store.fixture.ts";

const ORDER = { customer_email: "ada@example.com", amount_cents: 100, currency: "EUR" };
const order = (order_id: string, note = "") => ({ ...ORDER, order_id, items: [{ name: `VIP${note}` }] });
const recordAll = ({ orders }: Store, project: string, all: readonly OrderInput[]) =>
	orders.recordAll(
		project,
		all.map((each) => orders.prepare(project, each)),
	);
/** Room for three small orders and no further fact. */
const THREE_ORDERS = 4_500;

/** One report of every kind, about order `o`. */
const REPORTS: Record<string, (store: Store, project: string) => Promise<object>> = {
	order: ({ orders }, project) => orders.record(project, order("p")),
	refund: ({ orders }, project) => orders.refund(project, "o", { refund_id: "r", amount_cents: 1 }),
	chargeback: ({ orders }, project) => orders.chargeback(project, "o", { chargeback_id: "c", amount_cents: 1 }),
	deliverable: ({ orders }, project) => orders.deliverable(project, "o", "d", { kind: "file", outcome: "completed" }),
	subscription: ({ subscriptions }, project) =>
		subscriptions.record(project, { subscription_id: "s", customer_email: "a@b", plan: "vip" }),
	cancel: ({ subscriptions }, project) => subscriptions.cancel(project, "s"),
	touch: ({ baskets }, project) => baskets.touch(project, "b", { items: [{ name: "VIP" }] }),
	empty: ({ baskets }, project) => baskets.touch(project, "b", { items: [] }),
	remove: ({ baskets }, project) => baskets.remove(project, "b"),
};

onEachEngine((openStore) => {
	const withStore = (
		limit: number,
		perOwner: number,
		run: (world: TestStore, project: string, queue: Budget) => Promise<void>,
	) => {
		return async () => {
			const queue = new Budget({ name: "queue", limit, perOwner });
			const world = await openStore({ queue });
			try {
				await run(world, await world.project(), queue);
				expect(queue.used).toBe(0);
			} finally {
				await world.close();
			}
		};
	};
	const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind);

	test(
		"facts beyond a project's share are refused as such, and none of them is written",
		withStore(1e6, THREE_ORDERS, async (world, project) => {
			const { store } = world;
			const quiet = await world.project();
			const waiting = ["o", "o2", "o3"].map((id) => store.orders.record(project, order(id)));
			const refused = Object.values(REPORTS).map((report) => report(store, project));
			const batch = recordAll(store, project, [order("o4"), { ...order("o5"), currency: "eur" }, order("o6")]);
			const other = store.orders.record(quiet, order("o"));
			expect(await Promise.all(refused)).toEqual(refused.map(() => ({ kind: "busy", whose: "own" })));
			expect(kinds(await batch)).toEqual(["busy", "invalid", "busy"]);
			expect(kinds(await Promise.all([...waiting, other]))).toEqual(Array(4).fill("recorded"));
			const before = await world.types(project);
			expect(before).toEqual(["customer.created", ...Array(3).fill("purchase.completed")]);
			for (const [name, report] of Object.entries(REPORTS)) {
				const { kind } = (await report(store, project)) as { kind: string };
				expect(["recorded", "touched", "absent"], name).toContain(kind);
			}
			expect(await world.types(project)).toHaveLength(before.length + 6);
		}),
	);

	test(
		"facts beyond the node's limit are refused as such",
		withStore(THREE_ORDERS, THREE_ORDERS, async (world, project) => {
			const { store } = world;
			const full = await world.project();
			const waiting = ["o", "o2", "o3"].map((id) => store.orders.record(full, order(id)));
			const refused = Object.values(REPORTS).map((report) => report(store, project));
			expect(await Promise.all(refused)).toEqual(refused.map(() => ({ kind: "busy", whose: "node" })));
			expect(kinds(await Promise.all(waiting))).toEqual(Array(3).fill("recorded"));
			expect(await world.types(project)).toEqual([]);
		}),
	);

	test(
		"a call larger than its project's share is recorded if nothing else of the project is pending",
		withStore(1e6, THREE_ORDERS, async ({ store }, project) => {
			const many = Array.from({ length: 10 }, (_, i) => order(`o${i}`));
			const [all, one] = await Promise.all([recordAll(store, project, many), store.orders.record(project, order("p"))]);
			expect(kinds(all)).toEqual(Array(10).fill("recorded"));
			expect(one).toEqual({ kind: "busy", whose: "own" });
		}),
	);

	test(
		"bytes count too",
		withStore(1e6, 8_000, async ({ store }, project) => {
			const large = ["a", "b", "c", "d"].map((id) => store.orders.record(project, order(id, "x".repeat(2_000))));
			expect(kinds(await Promise.all(large))).toEqual(["recorded", "recorded", "busy", "busy"]);
		}),
	);

	test(
		"refused or failed facts release their room",
		withStore(1e6, 2_000, async ({ store, storage, ids }, project) => {
			for (let i = 0; i < 3; i++)
				expect(await store.orders.record(ids.next("project"), order("o"))).toEqual({ kind: "no_project" });
			await storage.close();
			for (let i = 0; i < 3; i++)
				await expect(store.orders.record(project, order("o"))).rejects.toMatchObject({ code: "closed" });
		}),
	);
});
