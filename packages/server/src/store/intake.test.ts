import { expect, test } from "vitest";
import { onEachEngine } from "./engines.fixture.ts";
import type { Store } from "./index.ts";
import type { TestStore } from "./store.fixture.ts";

const ORDER = { customer_email: "ada@example.com", amount_cents: 100, currency: "EUR" };
const order = (order_id: string, note = "") => ({ ...ORDER, order_id, items: [{ name: `VIP${note}` }] });
const BUSY = { kind: "busy", retryAfter: 1 };

/** One report of every kind, about order `o`. */
const REPORTS: Record<string, (store: Store, project: string) => Promise<object>> = {
	order: ({ orders }, project) => orders.record(project, order("p")),
	refund: ({ refunds }, project) => refunds.record(project, "o", { refund_id: "r", amount_cents: 1 }),
	chargeback: ({ chargebacks }, project) => chargebacks.record(project, "o", { chargeback_id: "c", amount_cents: 1 }),
	deliverable: ({ deliverables }, project) =>
		deliverables.record(project, "o", "d", { kind: "file", outcome: "completed" }),
	subscription: ({ subscriptions }, project) =>
		subscriptions.record(project, { subscription_id: "s", customer_email: "a@b", plan: "vip" }),
	cancel: ({ subscriptions }, project) => subscriptions.cancel(project, "s"),
	touch: ({ baskets }, project) => baskets.touch(project, "b", { items: [{ name: "VIP" }] }),
	empty: ({ baskets }, project) => baskets.touch(project, "b", { items: [] }),
	remove: ({ baskets }, project) => baskets.remove(project, "b"),
};

onEachEngine((openStore) => {
	const withStore = (facts: number, bytes: number, run: (world: TestStore, project: string) => Promise<void>) => {
		return async () => {
			const world = await openStore({ intake: { facts, bytes } });
			try {
				await run(world, await world.project());
			} finally {
				await world.close();
			}
		};
	};
	const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind);

	test(
		"of more facts than may wait, those beyond are told to come again, and nothing of them is written",
		withStore(3, 1e6, async (world, project) => {
			const { store } = world;
			const waiting = ["o", "o2", "o3"].map((id) => store.orders.record(project, order(id)));
			const refused = Object.values(REPORTS).map((report) => report(store, project));
			const batch = store.orders.recordAll(project, [order("o4"), { ...order("o5"), currency: "eur" }, order("o6")]);
			expect(await Promise.all(refused)).toEqual(refused.map(() => BUSY));
			expect(kinds(await batch)).toEqual(["busy", "invalid", "busy"]);
			expect(kinds(await Promise.all(waiting))).toEqual(Array(3).fill("recorded"));
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
		"a call that brings more than is left is admitted whole; what comes behind it waits",
		withStore(3, 1e6, async ({ store }, project) => {
			const many = Array.from({ length: 10 }, (_, i) => order(`o${i}`));
			const [all, one] = await Promise.all([
				store.orders.recordAll(project, many),
				store.orders.record(project, order("p")),
			]);
			expect(kinds(all)).toEqual(Array(10).fill("recorded"));
			expect(one).toEqual(BUSY);
		}),
	);

	test(
		"bytes count, too",
		withStore(100, 5_000, async ({ store }, project) => {
			const large = ["a", "b", "c", "d"].map((id) => store.orders.record(project, order(id, "x".repeat(2_000))));
			expect(kinds(await Promise.all(large))).toEqual(["recorded", "recorded", "busy", "busy"]);
		}),
	);

	test(
		"what was refused or failed makes room again",
		withStore(1, 1e6, async ({ store, storage, ids }, project) => {
			for (let i = 0; i < 3; i++)
				expect(await store.orders.record(ids.next("project"), order("o"))).toEqual({ kind: "no_project" });
			await storage.close();
			for (let i = 0; i < 3; i++)
				await expect(store.orders.record(project, order("o"))).rejects.toMatchObject({ code: "closed" });
		}),
	);
});
