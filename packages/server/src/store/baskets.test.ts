import { afterEach, beforeEach, expect, test } from "vitest";
import { onEachEngine } from "./engines.fixture.ts";
import { IDLE_MS, type TestStore } from "./store.fixture.ts";

const ITEMS = [{ name: "Crate key", quantity: 2 }];
const MINUTES = 300_000;

onEachEngine((openStore) => {
	let world: TestStore;
	let project: string;
	let begin: number;
	beforeEach(async () => {
		world = await openStore();
		project = await world.project();
		begin = world.clock.now();
	});
	afterEach(() => world.close());

	const touch = (id = "b", items = ITEMS) => world.store.baskets.touch(project, id, { items, customer_email: "a@b" });
	const order = (basket_id: string) =>
		world.store.orders.record(project, {
			...{ order_id: `of ${basket_id}`, customer_email: "a@b", amount_cents: 1, currency: "EUR" },
			...{ items: ITEMS, basket_id },
		});

	test("an untouched basket is abandoned once, exactly when due, and its event is sent", async () => {
		expect(await touch()).toEqual({ kind: "touched", at: begin, dueAt: begin + IDLE_MS });
		await world.advanceTo(begin + IDLE_MS - 1);
		expect(await world.log(project)).toEqual([]);
		await world.advanceTo(begin + IDLE_MS);
		const data = { basket_id: "b", customer_email: "a@b", items: ITEMS };
		expect(await world.log(project)).toEqual([{ type: "basket.abandoned", createdAt: begin + IDLE_MS, data }]);
		expect(world.sent.get(project)?.map(({ type, seq }) => [type, seq])).toEqual([["basket.abandoned", 1]]);
		await world.advanceTo(begin + 3 * IDLE_MS);
		expect(await world.types(project)).toEqual(["basket.abandoned"]);
	});

	test("a touch restarts the timer, even after the basket was abandoned", async () => {
		await touch();
		await world.advanceTo(begin + IDLE_MS - 1);
		await touch();
		await world.advanceTo(begin + 2 * IDLE_MS - 2);
		expect(await world.types(project)).toEqual([]);
		await world.advanceTo(begin + 2 * IDLE_MS - 1);
		await touch();
		await world.advanceTo(begin + 4 * IDLE_MS);
		const times = (await world.log(project)).map(({ createdAt }) => createdAt - begin);
		expect(times).toEqual([2 * IDLE_MS - 1, 3 * IDLE_MS - 1]);
	});

	test("an emptied, removed or bought basket is never abandoned", async () => {
		for (const id of ["emptied", "removed", "bought"]) await touch(id);
		await world.advanceTo(begin + IDLE_MS - 1);
		expect(await touch("emptied", [])).toMatchObject({ kind: "touched", dueAt: null });
		expect(await world.store.baskets.remove(project, "removed")).toEqual({ kind: "removed" });
		await order("bought");
		expect(await touch("bought")).toEqual({ kind: "bought" });
		await world.advanceTo(begin + 3 * IDLE_MS);
		expect(await world.types(project)).toEqual(["customer.created", "purchase.completed"]);
	});

	test("baskets due while the service was down are abandoned when it is back", async () => {
		await touch("down");
		await world.stop();
		world.clock.advanceTo(begin + 2 * IDLE_MS);
		expect(await world.types(project)).toEqual([]);
		await world.restart();
		expect(await world.types(project)).toEqual(["basket.abandoned"]);
	});

	test("baskets claimed by a node that died are abandoned a few seconds later", async () => {
		await touch();
		await world.stop();
		const due = begin + IDLE_MS;
		world.clock.advanceTo(due);
		expect(await world.storage.takeDueBaskets({ now: due, until: due + 5_000, limit: 10 })).toHaveLength(1);
		await world.restart();
		expect(await world.types(project)).toEqual([]);
		await world.advanceTo(due + 5_000);
		expect(await world.types(project)).toEqual(["basket.abandoned"]);
		expect(await world.storage.nextBasketDue()).toBeNull();
	});

	test("baskets that can't be abandoned don't block others, and are abandoned once possible", async () => {
		const other = await world.project();
		// More than are claimed at a time, and due before the others; a good one is among them.
		const poison = Array.from({ length: 70 }, (_, i) => `poison${i}`);
		const good = Array.from({ length: 70 }, (_, i) => `good${i}`);
		for (const id of [...poison.slice(0, 35), "first", ...poison.slice(35)]) await touch(id);
		await world.store.baskets.touch(other, "elsewhere", { items: ITEMS });
		await world.advanceTo(begin + 1);
		for (const id of good) await touch(id);
		await world.database.refuse("poison");
		await world.advanceTo(begin + IDLE_MS);
		expect(await world.types(other)).toEqual(["basket.abandoned"]);
		// A few are tried one by one each time, so it takes a while to find it among the others.
		await world.advanceTo(begin + IDLE_MS + MINUTES);
		const abandoned = async () => (await world.log(project)).map(({ data }) => data.basket_id as string).sort();
		expect(await abandoned()).toEqual(["first", ...good].sort());
		await world.database.refuseNothing();
		await world.advanceTo(begin + IDLE_MS + 2 * MINUTES);
		expect(await abandoned()).toEqual(["first", ...good, ...poison].sort());
		expect(await world.types(other)).toEqual(["basket.abandoned"]);
		expect(await world.storage.nextBasketDue()).toBeNull();
	});

	// Each pass tries a few hundred: with a hundred thousand, the others waited for half an hour.
	test("a project whose baskets are all refused delays those of others by no pass", async () => {
		const other = await world.project();
		const poison = Array.from({ length: 600 }, (_, i) => `poison${i}`);
		await Promise.all(poison.map((id) => touch(id)));
		await world.database.refuse("poison");
		await world.advanceTo(begin + 1);
		await world.store.baskets.touch(other, "elsewhere", { items: ITEMS });
		await world.advanceTo(begin + 1 + IDLE_MS);
		// The refused ones are due, too, all of them before this one.
		await world.advanceTo(begin + IDLE_MS + 5_000);
		expect(await world.types(other)).toEqual(["basket.abandoned"]);
		await world.database.refuseNothing();
		await world.advanceTo(begin + IDLE_MS + MINUTES);
		expect(await world.types(project)).toHaveLength(poison.length);
	});

	test("several nodes abandon each basket once, however many are due together", async () => {
		await world.stop();
		const ids = Array.from({ length: 300 }, (_, i) => `b${i}`);
		await Promise.all(ids.map((id) => touch(id)));
		world.clock.advanceTo(begin + IDLE_MS);
		const nodes = await world.startNodes(3);
		await Promise.all(nodes.map((node) => node.stop()));
		const abandoned = (await world.log(project)).map(({ data }) => data.basket_id);
		expect(abandoned.sort()).toEqual(ids.sort());
		expect(world.sent.get(project)).toHaveLength(ids.length);
	});

	test("a touch, removal or order that races the timer takes effect either before or after it", async () => {
		for (let round = 0; round < 20; round++) {
			const [a, b, c] = [`a${round}`, `b${round}`, `c${round}`];
			const before = world.clock.now();
			for (const id of [a, b, c]) await touch(id);
			world.clock.advanceTo(before + IDLE_MS - 1);
			const asleep = world.clock.nextSleep();
			world.clock.advanceTo(before + IDLE_MS);
			await Promise.all([touch(a), world.store.baskets.remove(project, b), order(c), asleep]);
		}
		await world.advanceTo(world.clock.now() + 2 * IDLE_MS);
		const counts = new Map<unknown, number>();
		for (const { type, data } of await world.log(project))
			if (type === "basket.abandoned") counts.set(data.basket_id, (counts.get(data.basket_id) ?? 0) + 1);
		for (let round = 0; round < 20; round++) {
			expect([1, 2]).toContain(counts.get(`a${round}`));
			for (const id of [`b${round}`, `c${round}`]) expect(counts.get(id) ?? 0).toBeLessThanOrEqual(1);
		}
		expect(await world.storage.nextBasketDue()).toBeNull();
	});
});
