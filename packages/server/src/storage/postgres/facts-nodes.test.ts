import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { START } from "../../../test/storage/conformance/world.ts";
import { IdSource } from "../../base/ids.ts";
import type { DueBasket, NewEvent, NewOrder, NewRefund, Recorded, Storage } from "../port.ts";
import { openPostgresStorage } from "./index.ts";

const ROUNDS = 30;
const LATER = START + 100;
const clock = { now: () => START };
const digest = (text: string) => createHash("sha256").update(text).digest();

describe("store facts that two nodes record concurrently", () => {
	let server: PostgresServer;
	let nodes: readonly [Storage, Storage];
	const ids = new IdSource(clock);
	let project: string;

	beforeAll(async () => {
		server = await PostgresServer.start();
		const url = await server.createDatabase();
		const open = () => openPostgresStorage({ url, clock, leaseTermMs: 60_000, leasesByClock: true });
		nodes = [await open(), await open()];
	});
	afterAll(async () => {
		await Promise.all(nodes.map((node) => node.close()));
		await server.stop();
	});
	beforeEach(async () => {
		project = await newProject();
	});

	async function newProject(): Promise<string> {
		const id = ids.next("project");
		await nodes[0].createProject({ id, name: "Shop", apps: [], createdAt: START });
		return id;
	}

	function event(type: string): NewEvent {
		return { id: ids.next("event"), type, createdAt: START, createdAtGiven: true, body: Buffer.from(`{"${type}":1}`) };
	}

	const order = (orderId: string, about: Partial<NewOrder> = {}): NewOrder => ({
		...{ orderId, digest: digest(orderId), at: START, customerKey: digest("ada") },
		...{ amountCents: 100, currency: "EUR", basketId: null },
		...{ customerCreated: event("customer.created"), purchaseCompleted: event("purchase.completed") },
		...about,
	});
	const refund = (refundId: string, amountCents: number): NewRefund => ({
		...{ orderId: "o", refundId, digest: digest(`${refundId} ${amountCents}`), at: START, amountCents },
		...{ partial: event("partial"), whole: event("whole") },
	});

	const log = (of = project) =>
		nodes[1].readLog({ projectId: of, after: 0, window: { maxEvents: 10_000, maxBytes: 1e9 } });
	const types = async (of = project) => (await log(of)).map(({ type }) => type);
	/** Runs the same on both nodes, starting with alternating ones. */
	const onBoth = <T>(round: number, call: (node: Storage, i: number) => Promise<T>): Promise<T[]> => {
		const order = round % 2 === 0 ? [0, 1] : [1, 0];
		return Promise.all(order.map((i) => call(nodes[i]!, i)));
	};
	const kindsOf = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind).sort();

	test("two concurrent first purchases create their customer once, before either purchase", async () => {
		for (let round = 0; round < ROUNDS; round++) {
			const of = await newProject();
			const results = await onBoth(
				round,
				async (node, i) => (await node.recordOrders({ projectId: of, orders: [order(`o${i}`)] }))[0]!,
			);
			expect(kindsOf(results)).toEqual(["recorded", "recorded"]);
			expect(await types(of)).toEqual(["customer.created", "purchase.completed", "purchase.completed"]);
		}
	});

	test("an order is recorded once, and both nodes return the same", async () => {
		for (let round = 0; round < ROUNDS; round++) {
			const id = `o${round}`;
			const results = await onBoth(
				round,
				async (node) => (await node.recordOrders({ projectId: project, orders: [order(id)] }))[0]!,
			);
			expect(kindsOf(results)).toEqual(["recorded", "repeated"]);
			const events = results.map((result) => (result as Extract<Recorded, { kind: "repeated" }>).events);
			expect(events[0]).toEqual(events[1]);
		}
		expect(await types()).toEqual(["customer.created", ...Array(ROUNDS).fill("purchase.completed")]);
	});

	test("overlapping batches end as if run one after the other", async () => {
		const all = Array.from({ length: 300 }, (_, i) => `o${i}`);
		const batches = [all.slice(0, 200), all.slice(100).reverse()];
		const results = await onBoth(0, (node, i) =>
			node.recordOrders({
				projectId: project,
				orders: batches[i]!.map((id) => order(id, { customerKey: digest(`customer of ${id.at(-1)}`) })),
			}),
		);
		const kinds = results.flatMap((result) => result.map(({ kind }) => kind));
		expect(kinds.filter((kind) => kind === "recorded")).toHaveLength(300);
		expect(kinds.filter((kind) => kind === "repeated")).toHaveLength(100);
		const events = await log();
		expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 310 }, (_, i) => i + 1));
		const told = results.flat().flatMap((result) => ("appended" in result ? result.appended : []));
		expect(told.sort((a, b) => a.seq - b.seq).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
	});

	test("if refunds together exceed the amount, one is refused, and the order shows the refunded sum", async () => {
		for (let round = 0; round < ROUNDS; round++) {
			const of = await newProject();
			await nodes[0].recordOrders({ projectId: of, orders: [order("o")] });
			const results = await onBoth(round, (node, i) =>
				node.recordRefund({ projectId: of, refund: refund(`r${i}`, 60) }),
			);
			expect(kindsOf(results)).toEqual(["recorded", "too_much"]);
			expect(results.find(({ kind }) => kind === "too_much")).toEqual({ kind: "too_much", leftCents: 40 });
			expect((await nodes[1].recordRefund({ projectId: of, refund: refund("rest", 40) })).kind).toBe("recorded");
			expect(await types(of)).toEqual(["customer.created", "purchase.completed", "partial", "whole"]);
			expect(await nodes[0].getOrder({ projectId: of, orderId: "o" })).toMatchObject({ refundedCents: 100 });
		}
	});

	test("a subscription that both nodes cancel ends once", async () => {
		const of = { subscriptionId: "s", digest: digest("s"), at: START, data: "{}" };
		const begun = await onBoth(0, (node) =>
			node.recordSubscription({ projectId: project, subscription: { ...of, event: event("begin") } }),
		);
		expect(kindsOf(begun)).toEqual(["recorded", "repeated"]);
		const ended = await onBoth(1, (node, i) =>
			node.cancelSubscription({ projectId: project, subscriptionId: "s", at: START + i, event: event("end") }),
		);
		expect(kindsOf(ended)).toEqual(["recorded", "repeated"]);
		expect(ended[0]).toMatchObject({ at: (ended[1] as { at: number }).at });
		expect(await types()).toEqual(["begin", "end"]);
	});

	describe("baskets", () => {
		const touch = (node: Storage, basketId: string, at = START) =>
			node.touchBasket({ projectId: project, touch: { basketId, at, dueAt: at + 10, data: "{}" } });
		const take = async (node = nodes[0], limit = 1000) => node.takeDueBaskets({ now: LATER, until: LATER, limit });
		const abandon = (node: Storage, basket: DueBasket, type = "abandoned") =>
			node.abandonBaskets({ projectId: basket.projectId, baskets: [{ ...basket, event: event(type) }], at: LATER });

		test("a due basket is abandoned by one of them", async () => {
			for (let round = 0; round < ROUNDS; round++) {
				await touch(nodes[0], "b");
				const [basket] = await take();
				const results = await onBoth(round, (node) => abandon(node, basket!));
				expect(results.map(({ length }) => length).sort()).toEqual([0, 1]);
			}
			expect(await types()).toEqual(Array(ROUNDS).fill("abandoned"));
			expect(await nodes[1].nextBasketDue()).toBeNull();
		});

		test("concurrent nodes claim different baskets, and together all", async () => {
			const ids = Array.from({ length: 200 }, (_, i) => `b${i}`);
			await Promise.all(ids.map((id, i) => touch(nodes[i % 2]!, id)));
			const taken = await Promise.all(
				ids.map((_, i) => nodes[i % 2]!.takeDueBaskets({ now: LATER, until: LATER + 1, limit: 1 + (i % 3) })),
			);
			expect(new Set(taken.map(({ length }) => length)).has(3)).toBe(true);
			expect(
				taken
					.flat()
					.map(({ basketId }) => basketId)
					.sort(),
			).toEqual(ids.sort());
			expect(await nodes[0].nextBasketDue()).toBe(LATER + 1);
			for (const id of ids) await nodes[0].removeBasket({ projectId: project, basketId: id });
		});

		test("overlapping batches abandon each basket once, even during touches, in any order", async () => {
			for (let round = 0; round < ROUNDS; round++) {
				const of = await newProject();
				const put = (node: Storage, id: string, at: number) =>
					node.touchBasket({ projectId: of, touch: { basketId: id, at, dueAt: at + 10, data: "{}" } });
				const ids = Array.from({ length: 8 }, (_, i) => `b${i}`);
				await Promise.all(ids.map((id) => put(nodes[0], id, START)));
				const baskets = await take();
				const [touched] = await Promise.all([
					Promise.all(ids.slice(0, 4).map((id) => put(nodes[1], id, START + 1))),
					onBoth(round, (node, i) => {
						const some = i === 0 ? baskets : baskets.toReversed();
						const ended = some.map((basket) => ({ ...basket, event: event(basket.basketId) }));
						return node.abandonBaskets({ projectId: of, baskets: ended, at: LATER });
					}),
				]);
				expect(touched).toEqual(Array(4).fill("touched"));
				const abandoned = await types(of);
				expect(new Set(abandoned).size).toBe(abandoned.length);
				for (const id of ids.slice(4)) expect(abandoned).toContain(id);
				for (const id of ids.slice(0, 4))
					expect(await nodes[0].removeBasket({ projectId: of, basketId: id })).toBe("removed");
				for (const id of ids.slice(4))
					expect(await nodes[0].removeBasket({ projectId: of, basketId: id })).toBe("absent");
			}
		});

		test("a basket touched meanwhile is abandoned first or keeps waiting; it exists afterwards", async () => {
			let abandoned = 0;
			for (let round = 0; round < ROUNDS; round++) {
				const id = `b${round}`;
				await touch(nodes[0], id);
				const [basket] = await take();
				const touching = () => touch(nodes[round % 2]!, id, START + 1);
				const ending = () => abandon(nodes[1 - (round % 2)]!, basket!);
				const first = round % 3 === 0 ? ending() : null;
				const [touched, ended] = await Promise.all([touching(), first ?? ending()]);
				expect(touched).toBe("touched");
				abandoned += ended.length;
				expect((await take()).map(({ touchedAt }) => touchedAt)).toEqual([START + 1]);
				// A node that had read it before must not end the later touch.
				for (const node of nodes) expect(await abandon(node, basket!, "late")).toEqual([]);
				expect(await nodes[0].removeBasket({ projectId: project, basketId: id })).toBe("removed");
			}
			expect(await types()).toEqual(Array(abandoned).fill("abandoned"));
		});

		test("a basket bought meanwhile is abandoned first or never, and is gone", async () => {
			for (let round = 0; round < ROUNDS; round++) {
				const id = `b${round}`;
				await touch(nodes[0], id);
				const [basket] = await take();
				await Promise.all([
					nodes[round % 2]!.recordOrders({ projectId: project, orders: [order(`of ${id}`, { basketId: id })] }),
					abandon(nodes[1 - (round % 2)]!, basket!),
					touch(nodes[round % 2]!, id),
				]);
				expect(await touch(nodes[1], id)).toBe("bought");
				expect(await take()).toEqual([]);
				expect((await types()).at(-1)).toBe("purchase.completed");
			}
			expect(await nodes[0].nextBasketDue()).toBeNull();
		});
	});
});
