import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keepsFacts, type NewOrder, type NewRefund, type StorageWithFacts } from "../port.ts";
import type { StorageHarness } from "./harness.ts";
import { plain, START, World } from "./world.ts";

const digest = (text: string) => createHash("sha256").update(text).digest();

export function describeFacts(harness: StorageHarness): void {
	describe("store facts", () => {
		let world: World;
		let storage: StorageWithFacts;
		let project: string;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());
		beforeEach(async ({ skip }) => {
			if (!keepsFacts(world.storage)) return skip(`${harness.name} does not keep store facts yet`);
			storage = world.storage;
			project = await world.project();
		});

		const event = (type: string) => world.event(project, type);
		const types = async (of = project) => (await world.log(of)).map(({ type }) => type);
		const order = (orderId: string, about: Partial<NewOrder> = {}): NewOrder => ({
			orderId,
			digest: digest(orderId),
			at: START,
			customerKey: digest("ada"),
			amountCents: 100,
			currency: "EUR",
			basketId: null,
			customerCreated: event("customer.created"),
			purchaseCompleted: event("purchase.completed"),
			...about,
		});
		const refund = (refundId: string, amountCents: number, about: Partial<NewRefund> = {}): NewRefund => ({
			orderId: "o",
			refundId,
			digest: digest(`${refundId} ${amountCents}`),
			at: START,
			amountCents,
			partial: event("partial"),
			whole: event("whole"),
			...about,
		});
		const ofOrder = (orderId = "o", content = "x") => ({
			orderId,
			digest: digest(content),
			at: START,
			event: event("of.order"),
		});
		const touch = (basketId: string, dueAt: number, at = START) => ({ basketId, at, dueAt, data: `{"at":${dueAt}}` });

		test("the first order of a customer makes two events, the next one; both are in the log as they were answered", async () => {
			const first = order("a");
			const [result] = await storage.recordOrders(project, [first]);
			const told = [first.customerCreated, first.purchaseCompleted].map(({ id, type, createdAt }, i) => ({
				...{ id, type, createdAt },
				seq: i + 1,
			}));
			expect(result).toMatchObject({ kind: "recorded", at: START, events: told });
			const { appended } = result as Extract<typeof result, { kind: "recorded" }>;
			expect(plain(appended)).toEqual(plain(await world.log(project)));
			await storage.recordOrders(project, [order("b"), order("c", { customerKey: digest("ben") })]);
			expect(await types()).toEqual([
				...["customer.created", "purchase.completed", "purchase.completed"],
				...["customer.created", "purchase.completed"],
			]);
			expect(await storage.getOrder(project, "a")).toEqual({ amountCents: 100, refundedCents: 0, currency: "EUR" });
			expect(await storage.getOrder(project, "z")).toBeNull();
		});

		test("of orders that race, one is the customer's first; an order that races itself is recorded once", async () => {
			const results = await Promise.all(
				["a", "b", "a", "c", "a"].map((id) => storage.recordOrders(project, [order(id)])),
			);
			const kinds = results.map(([result]) => result!.kind).sort();
			expect(kinds).toEqual(["recorded", "recorded", "recorded", "repeated", "repeated"]);
			expect((await types()).sort()).toEqual(["customer.created", ...Array(3).fill("purchase.completed")]);
			expect((await types())[0]).toBe("customer.created");
			const answers = [0, 2, 4].map((i) => JSON.stringify((results[i]![0] as { events: unknown }).events));
			expect(new Set(answers).size).toBe(1);
		});

		test("a batch is answered in its order, each order by itself", async () => {
			const [a, b] = [order("a"), order("b")];
			const conflict = order("a", { digest: digest("other") });
			const results = await storage.recordOrders(project, [a, b, order("a"), conflict]);
			expect(results.map(({ kind }) => kind)).toEqual(["recorded", "recorded", "repeated", "conflict"]);
			const missing = await storage.recordOrders(world.id("project"), [order("a"), order("b")]);
			expect(missing).toEqual([{ kind: "no_project" }, { kind: "no_project" }]);
			expect(await storage.recordOrders(project, [])).toEqual([]);
		});

		test("projects know nothing of each other's facts", async () => {
			await storage.recordOrders(project, [order("a")]);
			await storage.touchBasket(project, touch("b", START + 1));
			const other = await world.project();
			expect(await storage.getOrder(other, "a")).toBeNull();
			expect(await storage.removeBasket(other, "b")).toBe("absent");
			await storage.recordOrders(other, [order("a", { digest: digest("other") })]);
			expect(await types(other)).toEqual(["customer.created", "purchase.completed"]);
			await storage.removeBasket(project, "b");
		});

		test("refunds are partial until they reach the amount, and never exceed it, also when they race", async () => {
			expect(await storage.recordRefund(project, refund("r", 1))).toEqual({ kind: "no_order" });
			await storage.recordOrders(project, [order("o")]);
			expect((await storage.recordRefund(project, refund("r1", 40))).kind).toBe("recorded");
			expect(await storage.recordRefund(project, refund("r2", 61))).toEqual({ kind: "too_much", leftCents: 60 });
			const racing = ["r3", "r4", "r5"].map((id) => storage.recordRefund(project, refund(id, 30)));
			expect((await Promise.all(racing)).map(({ kind }) => kind).sort()).toEqual(["recorded", "recorded", "too_much"]);
			expect(await types()).toEqual(["customer.created", "purchase.completed", "partial", "partial", "whole"]);
			expect((await storage.recordRefund(project, refund("r1", 40))).kind).toBe("repeated");
			expect((await storage.recordRefund(project, refund("r1", 41))).kind).toBe("conflict");
			expect(await storage.getOrder(project, "o")).toMatchObject({ refundedCents: 100 });
		});

		test("chargebacks and deliverables need their order, and are recorded once each", async () => {
			const chargeback = (content?: string) =>
				storage.recordChargeback(project, { chargebackId: "c", ...ofOrder("o", content) });
			const deliverable = (orderId: string, content?: string) =>
				storage.recordDeliverable(project, { deliverableId: "d", ...ofOrder(orderId, content) });
			expect(await chargeback()).toEqual({ kind: "no_order" });
			expect(await deliverable("o")).toEqual({ kind: "no_order" });
			await storage.recordOrders(project, [order("o"), order("p")]);
			const kinds = async (...calls: Promise<{ kind: string }>[]) => (await Promise.all(calls)).map(({ kind }) => kind);
			expect(await kinds(chargeback(), chargeback(), chargeback("y"))).toEqual(["recorded", "repeated", "conflict"]);
			const outcomes = await kinds(deliverable("o"), deliverable("o"), deliverable("o", "y"), deliverable("p"));
			expect(outcomes).toEqual(["recorded", "repeated", "conflict", "recorded"]);
			expect((await types()).filter((type) => type === "of.order")).toHaveLength(3);
		});

		test("a subscription begins once and ends once", async () => {
			const data = '{"plan":"vip"}';
			const begin = (content = "x") =>
				storage.recordSubscription(project, {
					...{ subscriptionId: "s", digest: digest(content), at: START, data },
					event: event("begin"),
				});
			const end = (at: number) => storage.cancelSubscription(project, "s", at, event("end"));
			expect(await end(START)).toEqual({ kind: "no_subscription" });
			expect(await storage.getSubscription(project, "s")).toBeNull();
			expect([(await begin()).kind, (await begin()).kind, (await begin("y")).kind]).toEqual([
				...["recorded", "repeated", "conflict"],
			]);
			expect(await storage.getSubscription(project, "s")).toBe(data);
			const [first, second] = [await end(START + 1), await end(START + 2)];
			expect(first).toMatchObject({ kind: "recorded", at: START + 1 });
			expect(second).toMatchObject({
				kind: "repeated",
				at: START + 1,
				events: (first as unknown as { events: object[] }).events,
			});
			expect(await types()).toEqual(["begin", "end"]);
		});

		test("baskets are due in the order of their times, at which each is abandoned once, whoever races", async () => {
			expect(await storage.nextBasketDue()).toBeNull();
			for (const [id, due] of Object.entries({ late: 30, early: 10, middle: 20 }))
				expect(await storage.touchBasket(project, touch(id, START + due))).toBe("touched");
			expect(await storage.nextBasketDue()).toBe(START + 10);
			expect(await storage.dueBaskets(START + 9, 10)).toEqual([]);
			const due = await storage.dueBaskets(START + 20, 10);
			expect(due.map(({ projectId, basketId, data }) => [projectId, basketId, data])).toEqual([
				[project, "early", `{"at":${START + 10}}`],
				[project, "middle", `{"at":${START + 20}}`],
			]);
			expect(await storage.dueBaskets(START + 20, 1)).toHaveLength(1);
			const racing = [0, 1, 2].map(() => storage.abandonBasket(due[0]!, START + 20, event("abandoned")));
			expect((await Promise.all(racing)).map(({ kind }) => kind).sort()).toEqual(["abandoned", "gone", "gone"]);
			expect(await types()).toEqual(["abandoned"]);
			expect(await storage.nextBasketDue()).toBe(START + 20);
			for (const id of ["middle", "late"]) expect(await storage.removeBasket(project, id)).toBe("removed");
			expect(await storage.nextBasketDue()).toBeNull();
		});

		test("a basket that was touched, removed or bought since it was read is not abandoned", async () => {
			for (const id of ["touched", "removed", "bought"]) await storage.touchBasket(project, touch(id, START + 1));
			const due = await storage.dueBaskets(START + 1, 10);
			expect(due).toHaveLength(3);
			// In the same millisecond, and with the clock set back.
			for (const at of [START, START - 5]) await storage.touchBasket(project, touch("touched", START + 1, at));
			await storage.removeBasket(project, "removed");
			await storage.recordOrders(project, [order("o", { basketId: "bought" })]);
			for (const basket of due)
				expect(await storage.abandonBasket(basket, START + 1, event("abandoned"))).toEqual({ kind: "gone" });
			const [again] = await storage.dueBaskets(START + 1, 10);
			expect(again!.basketId).toBe("touched");
			const ended = await storage.abandonBasket(again!, START + 1, event("abandoned"));
			expect(plain(ended)).toEqual(plain({ kind: "abandoned", appended: (await world.log(project)).slice(-1) }));
			expect(await storage.touchBasket(project, touch("touched", START + 2))).toBe("touched");
			expect(await storage.touchBasket(project, touch("removed", START + 2))).toBe("touched");
			expect(await storage.touchBasket(project, touch("bought", START + 2))).toBe("bought");
			expect(await storage.touchBasket(world.id("project"), touch("b", START))).toBe("no_project");
			expect(await storage.removeBasket(world.id("project"), "b")).toBe("no_project");
		});

		test("what was recorded is known after a restart, with the same answer, and rings the project's alarm", async () => {
			const [first] = await storage.recordOrders(project, [order("o")]);
			expect(await storage.nextAlarm()).not.toBeNull();
			await world.reopen();
			const [again] = await (world.storage as StorageWithFacts).recordOrders(project, [order("o")]);
			const { kind: _, appended: __, ...told } = first as Extract<typeof first, { kind: "recorded" }>;
			expect(again).toEqual({ kind: "repeated", ...told });
		});
	});
}
