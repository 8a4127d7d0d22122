import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { DueBasket, NewOrder, NewRefund, Storage } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { plain, START, World } from "./world.ts";

const digest = (text: string) => createHash("sha256").update(text).digest();

export function describeFacts(harness: StorageHarness): void {
	describe("store facts", () => {
		let world: World;
		let storage: Storage;
		let project: string;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());
		beforeEach(async () => {
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
		const PUT_OFF = START + 1_000;
		const take = async (now: number, limit = 10) => {
			const taken = await storage.takeDueBaskets({ now, until: PUT_OFF, limit });
			return new Map(taken.map((basket) => [basket.basketId, basket]));
		};
		const abandon = (...baskets: DueBasket[]) => {
			const ended = baskets.map((basket) => ({ ...basket, event: event(`end of ${basket.basketId}`) }));
			return storage.abandonBaskets({ projectId: project, baskets: ended, at: START + 20 });
		};
		const touch = (basketId: string, dueAt: number, at = START) => ({ basketId, at, dueAt, data: `{"at":${dueAt}}` });

		test("a customer's first order creates two events, the next one; they are in the log as returned", async () => {
			const first = order("a");
			const [result] = await storage.recordOrders({ projectId: project, orders: [first] });
			const told = [first.customerCreated, first.purchaseCompleted].map(({ id, type, createdAt }, i) => ({
				...{ id, type, createdAt },
				seq: i + 1,
			}));
			expect(result).toMatchObject({ kind: "recorded", at: START, events: told });
			const { appended } = result as Extract<typeof result, { kind: "recorded" }>;
			expect(plain(appended)).toEqual(plain(await world.log(project)));
			await storage.recordOrders({
				projectId: project,
				orders: [order("b"), order("c", { customerKey: digest("ben") })],
			});
			expect(await types()).toEqual([
				...["customer.created", "purchase.completed", "purchase.completed"],
				...["customer.created", "purchase.completed"],
			]);
			expect(await storage.getOrder({ projectId: project, orderId: "a" })).toEqual({
				amountCents: 100,
				refundedCents: 0,
				currency: "EUR",
			});
			expect(await storage.getOrder({ projectId: project, orderId: "z" })).toBeNull();
		});

		test("one of several concurrent orders is the customer's first; a repeated one is recorded once", async () => {
			const results = await Promise.all(
				["a", "b", "a", "c", "a"].map((id) => storage.recordOrders({ projectId: project, orders: [order(id)] })),
			);
			const kinds = results.map(([result]) => result!.kind).sort();
			expect(kinds).toEqual(["recorded", "recorded", "recorded", "repeated", "repeated"]);
			expect((await types()).sort()).toEqual(["customer.created", ...Array(3).fill("purchase.completed")]);
			expect((await types())[0]).toBe("customer.created");
			const answers = [0, 2, 4].map((i) => JSON.stringify((results[i]![0] as { events: unknown }).events));
			expect(new Set(answers).size).toBe(1);
		});

		test("a batch returns a result for each order, in order", async () => {
			const [a, b] = [order("a"), order("b")];
			const conflict = order("a", { digest: digest("other") });
			const results = await storage.recordOrders({ projectId: project, orders: [a, b, order("a"), conflict] });
			expect(results.map(({ kind }) => kind)).toEqual(["recorded", "recorded", "repeated", "conflict"]);
			const missing = await storage.recordOrders({ projectId: world.id("project"), orders: [order("a"), order("b")] });
			expect(missing).toEqual([{ kind: "no_project" }, { kind: "no_project" }]);
			expect(await storage.recordOrders({ projectId: project, orders: [] })).toEqual([]);
		});

		test("projects don't share facts", async () => {
			await storage.recordOrders({ projectId: project, orders: [order("a")] });
			await storage.touchBasket({ projectId: project, touch: touch("b", START + 1) });
			const other = await world.project();
			expect(await storage.getOrder({ projectId: other, orderId: "a" })).toBeNull();
			expect(await storage.removeBasket({ projectId: other, basketId: "b" })).toBe("absent");
			await storage.recordOrders({ projectId: other, orders: [order("a", { digest: digest("other") })] });
			expect(await types(other)).toEqual(["customer.created", "purchase.completed"]);
			await storage.removeBasket({ projectId: project, basketId: "b" });
		});

		test("refunds are partial until they reach the amount, and never exceed it, even concurrently", async () => {
			expect(await storage.recordRefund({ projectId: project, refund: refund("r", 1) })).toEqual({ kind: "no_order" });
			await storage.recordOrders({ projectId: project, orders: [order("o")] });
			expect((await storage.recordRefund({ projectId: project, refund: refund("r1", 40) })).kind).toBe("recorded");
			expect(await storage.recordRefund({ projectId: project, refund: refund("r2", 61) })).toEqual({
				kind: "too_much",
				leftCents: 60,
			});
			const racing = ["r3", "r4", "r5"].map((id) =>
				storage.recordRefund({ projectId: project, refund: refund(id, 30) }),
			);
			expect((await Promise.all(racing)).map(({ kind }) => kind).sort()).toEqual(["recorded", "recorded", "too_much"]);
			expect(await types()).toEqual(["customer.created", "purchase.completed", "partial", "partial", "whole"]);
			expect((await storage.recordRefund({ projectId: project, refund: refund("r1", 40) })).kind).toBe("repeated");
			expect((await storage.recordRefund({ projectId: project, refund: refund("r1", 41) })).kind).toBe("conflict");
			expect(await storage.getOrder({ projectId: project, orderId: "o" })).toMatchObject({ refundedCents: 100 });
		});

		test("chargebacks and deliverables need their order, and are each recorded once", async () => {
			const chargeback = (content?: string) =>
				storage.recordChargeback({ projectId: project, chargeback: { chargebackId: "c", ...ofOrder("o", content) } });
			const deliverable = (orderId: string, content?: string) =>
				storage.recordDeliverable({
					projectId: project,
					deliverable: { deliverableId: "d", ...ofOrder(orderId, content) },
				});
			expect(await chargeback()).toEqual({ kind: "no_order" });
			expect(await deliverable("o")).toEqual({ kind: "no_order" });
			await storage.recordOrders({ projectId: project, orders: [order("o"), order("p")] });
			const kinds = async (...calls: Promise<{ kind: string }>[]) =>
				(await Promise.all(calls)).map(({ kind }) => kind).sort();
			expect(await kinds(chargeback(), chargeback(), chargeback())).toEqual(["recorded", "repeated", "repeated"]);
			expect(await kinds(chargeback("y"))).toEqual(["conflict"]);
			const outcomes = await kinds(deliverable("o"), deliverable("o"), deliverable("p"));
			expect(outcomes).toEqual(["recorded", "recorded", "repeated"]);
			expect(await kinds(deliverable("o", "y"))).toEqual(["conflict"]);
			expect((await types()).filter((type) => type === "of.order")).toHaveLength(3);
		});

		test("a subscription starts once and ends once", async () => {
			const data = '{"plan":"vip"}';
			const begin = (content = "x") =>
				storage.recordSubscription({
					projectId: project,
					subscription: {
						...{ subscriptionId: "s", digest: digest(content), at: START, data },
						event: event("begin"),
					},
				});
			const end = (at: number) =>
				storage.cancelSubscription({ projectId: project, subscriptionId: "s", at, event: event("end") });
			expect(await end(START)).toEqual({ kind: "no_subscription" });
			expect(await storage.getSubscription({ projectId: project, subscriptionId: "s" })).toBeNull();
			expect([(await begin()).kind, (await begin()).kind, (await begin("y")).kind]).toEqual([
				...["recorded", "repeated", "conflict"],
			]);
			expect(await storage.getSubscription({ projectId: project, subscriptionId: "s" })).toBe(data);
			const [first, second] = [await end(START + 1), await end(START + 2)];
			expect(first).toMatchObject({ kind: "recorded", at: START + 1 });
			expect(second).toMatchObject({
				kind: "repeated",
				at: START + 1,
				events: (first as unknown as { events: object[] }).events,
			});
			expect(await types()).toEqual(["begin", "end"]);
		});

		test("due baskets are claimed once, longest due first, until their claims expire", async () => {
			expect(await storage.nextBasketDue()).toBeNull();
			for (const [id, due] of Object.entries({ late: 30, early: 10, middle: 20 }))
				expect(await storage.touchBasket({ projectId: project, touch: touch(id, START + due) })).toBe("touched");
			expect(await storage.nextBasketDue()).toBe(START + 10);
			expect(await take(START + 9)).toEqual(new Map());
			const [[id, { touchedAt, ...early }] = ["", { touchedAt: 0 }]] = await take(START + 20, 1);
			expect([id, touchedAt]).toEqual(["early", START]);
			expect(early).toEqual({ projectId: project, basketId: "early", data: `{"at":${START + 10}}` });
			expect(await storage.nextBasketDue()).toBe(START + 20);
			expect([...(await take(START + 20)).keys()]).toEqual(["middle"]);
			expect(await take(START + 20)).toEqual(new Map());
			expect(await storage.nextBasketDue()).toBe(START + 30);
			expect([...(await take(PUT_OFF)).keys()].sort()).toEqual(["early", "late", "middle"]);
			for (const id of ["early", "middle", "late"])
				expect(await storage.removeBasket({ projectId: project, basketId: id })).toBe("removed");
			expect(await storage.nextBasketDue()).toBeNull();
		});

		test("baskets of some projects can be left out", async () => {
			const other = await world.project();
			const all = [project, other, project, other];
			for (const [i, projectId] of all.entries())
				await storage.touchBasket({ projectId, touch: touch(`b${i}`, START + i) });
			const taken = async (...except: string[]) => {
				const due = { now: START + 3, until: START + 3, limit: 10, except };
				return (await storage.takeDueBaskets(due)).map(({ basketId }) => basketId).sort();
			};
			expect(await taken(project)).toEqual(["b1", "b3"]);
			expect(await taken(other, world.id("project"))).toEqual(["b0", "b2"]);
			expect(await taken(project, other)).toEqual([]);
			expect(await taken()).toEqual(["b0", "b1", "b2", "b3"]);
			for (const [i, projectId] of all.entries()) await storage.removeBasket({ projectId, basketId: `b${i}` });
		});

		test("claimed baskets are abandoned once each, with their events in order, even concurrently", async () => {
			for (const id of ["a", "b", "c"]) await storage.touchBasket({ projectId: project, touch: touch(id, START + 1) });
			const taken = await take(START + 1);
			const [a, b, c] = ["a", "b", "c"].map((id) => taken.get(id)!);
			const racing = await Promise.all([abandon(c!, a!), abandon(a!, b!), abandon(b!, c!)]);
			const log = await world.log(project);
			expect(log.map(({ type }) => type).sort()).toEqual(["end of a", "end of b", "end of c"]);
			expect(plain(racing.flat().sort((one, other) => one.seq - other.seq))).toEqual(plain(log));
			// As passed in, not as stored.
			for (const id of ["a", "b", "c"]) await storage.touchBasket({ projectId: project, touch: touch(id, START + 1) });
			const again = await take(START + 1);
			const ended = await abandon(again.get("c")!, again.get("a")!, again.get("b")!);
			expect(ended.map(({ type, seq }) => [type, seq])).toEqual([
				["end of c", 4],
				["end of a", 5],
				["end of b", 6],
			]);
			expect(await abandon(a!, b!, c!)).toEqual([]);
			expect(await abandon()).toEqual([]);
			expect(await storage.abandonBaskets({ projectId: world.id("project"), baskets: [], at: START })).toEqual([]);
			expect(await storage.nextBasketDue()).toBeNull();
		});

		test("baskets stay unchanged if one of their events is refused", async () => {
			for (const id of ["a", "b"]) await storage.touchBasket({ projectId: project, touch: touch(id, START + 1) });
			const [a, b] = [...(await take(START + 1)).values()].map((basket) => ({ ...basket, event: event("end") }));
			await storage.appendEvents({
				requests: [{ projectId: project, publishedAt: START, events: [{ ...event("taken"), id: b!.event.id }] }],
			});
			await expect(storage.abandonBaskets({ projectId: project, baskets: [a!, b!], at: START })).rejects.toThrow(
				"could not be appended",
			);
			expect(await types()).toEqual(["taken"]);
			expect((await take(PUT_OFF)).size).toBe(2);
			expect(
				(await storage.abandonBaskets({ projectId: project, baskets: [a!], at: START })).map(({ id }) => id),
			).toEqual([a!.event.id]);
			await storage.removeBasket({ projectId: project, basketId: b!.basketId });
		});

		test("a basket that was touched, removed or bought after its claim isn't abandoned", async () => {
			for (const id of ["touched", "removed", "bought"])
				await storage.touchBasket({ projectId: project, touch: touch(id, START + 1) });
			const due = await take(START + 1);
			expect(due.size).toBe(3);
			// In the same millisecond, and after the clock was set back.
			for (const at of [START, START - 5])
				await storage.touchBasket({ projectId: project, touch: touch("touched", START + 1, at) });
			await storage.removeBasket({ projectId: project, basketId: "removed" });
			await storage.recordOrders({ projectId: project, orders: [order("o", { basketId: "bought" })] });
			expect(await abandon(...due.values())).toEqual([]);
			const [again] = (await take(START + 1)).values();
			expect(again!.basketId).toBe("touched");
			const ended = await abandon(due.get("removed")!, due.get("bought")!, again!);
			expect(ended).toHaveLength(1);
			expect(plain(ended)).toEqual(plain((await world.log(project)).slice(-1)));
			expect(await storage.touchBasket({ projectId: project, touch: touch("touched", START + 2) })).toBe("touched");
			expect(await storage.touchBasket({ projectId: project, touch: touch("removed", START + 2) })).toBe("touched");
			expect(await storage.touchBasket({ projectId: project, touch: touch("bought", START + 2) })).toBe("bought");
			expect(await storage.touchBasket({ projectId: world.id("project"), touch: touch("b", START) })).toBe(
				"no_project",
			);
			expect(await storage.removeBasket({ projectId: world.id("project"), basketId: "b" })).toBe("no_project");
		});

		test("a basket that was touched in the millisecond of its claim isn't abandoned", async () => {
			await storage.touchBasket({ projectId: project, touch: touch("basket", START + 1) });
			const due = await take(START + 1);
			await storage.touchBasket({ projectId: project, touch: touch("basket", START + 2) });
			expect(await abandon(...due.values())).toEqual([]);
			expect((await take(START + 2)).get("basket")?.data).toBe(touch("basket", START + 2).data);
		});

		test("recorded facts survive a restart with the same response, and wake the project", async () => {
			const [first] = await storage.recordOrders({ projectId: project, orders: [order("o")] });
			expect(await storage.nextAlarm()).not.toBeNull();
			await world.reopen();
			const [again] = await world.storage.recordOrders({ projectId: project, orders: [order("o")] });
			const { kind: _, appended: __, ...told } = first as Extract<typeof first, { kind: "recorded" }>;
			expect(again).toEqual({ kind: "repeated", ...told });
		});
	});
}
