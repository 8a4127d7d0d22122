import fc from "fast-check";
import { expect, test } from "vitest";
import type { NewEvent } from "../../../src/storage/port.ts";
import { ALL, NODE, plain, START, WIDE } from "../conformance/world.ts";
import type { MemoryDatabase } from "./index.ts";
import { MemoryWorld } from "./world.ts";

const HOUR = 3_600_000;
const QUERY = { since: START, until: START + HOUR, stepMs: 60_000 };

/** A project, and every kind of change to it. */
class Shop {
	readonly memory: MemoryWorld;
	readonly project: string;
	readonly webhook: string;
	#count = 0;

	private constructor(memory: MemoryWorld, project: string, webhook: string) {
		this.memory = memory;
		this.project = project;
		this.webhook = webhook;
	}

	static async open(): Promise<Shop> {
		const memory = await MemoryWorld.open();
		const project = await memory.world.project();
		return new Shop(memory, project, await memory.world.webhook(project, ["a", "b"]));
	}

	readonly changes = {
		publish: () => this.world.publish(this.project, "a", "b", "a"),
		publishElsewhere: async () => this.world.publish(await this.world.project(), "a"),
		settle: () => this.#settle("delivered"),
		fail: () => this.#settle("failed"),
		retry: () => this.#settle("retrying"),
		replay: () =>
			this.storage.replayMatching({
				projectId: this.project,
				selection: { webhookIds: [this.webhook], statuses: ["failed"] },
				at: this.memory.clock.now() + 1,
				limit: 1 + (this.#count++ % 3),
			}),
		test: () => {
			const { createdAtGiven: _, ...sample } = this.world.event(this.project, "a");
			return this.storage.appendTestEvent({ projectId: this.project, webhookId: this.webhook, event: sample });
		},
		skip: () =>
			this.storage.updateWebhook({
				projectId: this.project,
				webhookId: this.webhook,
				patch: { events: ["a"], from: "now" },
			}),
		createAndDelete: async () =>
			this.storage.deleteWebhook({ projectId: this.project, webhookId: await this.world.webhook(this.project, ["b"]) }),
		release: async () => {
			const lease = await this.#lease();
			const inFlight = [{ webhookId: this.webhook, seq: ++this.#count, replay: 0, queue: null, until: START }];
			await this.storage.releaseLease({
				lease,
				wakeAt: this.memory.clock.now() + 10,
				seen: { lastSeq: 0, revision: 0 },
				inFlight,
			});
		},
		touch: () => {
			const at = this.memory.clock.now();
			return this.storage.touchBasket({
				projectId: this.project,
				touch: { basketId: "b", at, dueAt: at + 9, data: "{}" },
			});
		},
		order: () => this.#order(),
		audit: () => {
			const actor = { kind: "operator_key", id: null, name: "Operator" } as const;
			const id = this.world.id("audit");
			const entry = { id, projectId: this.project, at: START, actor, action: "x", target: null, detail: {} };
			return this.storage.appendAudit(entry);
		},
		sweep: async () => {
			await this.storage.sweepAttempts({ cutoff: this.memory.clock.now() - 3, limit: 100, from: 0 });
			await this.storage.sweepEvents({ cutoff: this.memory.clock.now() - 3, limit: 100, from: 0 });
		},
		pass: async () => {
			this.memory.clock.time += 2;
		},
	};

	get world() {
		return this.memory.world;
	}

	get storage() {
		return this.memory.storage;
	}

	async #lease() {
		this.memory.clock.time += 20_000;
		return this.world.lease(this.project);
	}

	async #settle(status: "delivered" | "failed" | "retrying"): Promise<void> {
		const lease = await this.#lease();
		const { position } = await this.world.lane(this.project, this.webhook);
		const [event] = await this.storage.readLog({ projectId: this.project, after: position, window: WIDE });
		if (event === undefined) return;
		const { seq } = event;
		const dueAt = this.memory.clock.now() + 5;
		const retry = { webhookId: this.webhook, seq, queue: "retry", replay: 0, attempt: 2, dueAt } as const;
		await this.world.settle(lease, {
			attempts: [this.world.attempt(this.webhook, event, { status })],
			schedule: status === "retrying" ? [retry] : [],
			lanes: [{ webhookId: this.webhook, position: seq, open: [] }],
		});
	}

	#order() {
		const event = (): NewEvent => this.world.event(this.project, "a");
		const [orderId, digest] = [`order ${this.#count++}`, Buffer.from("digest")];
		const order = { orderId, digest, at: START, customerKey: Buffer.from("c"), amountCents: 9, currency: "EUR" };
		const events = { customerCreated: event(), purchaseCompleted: event() };
		return this.storage.recordOrders({ projectId: this.project, orders: [{ ...order, basketId: "b", ...events }] });
	}

	/** All that a newly started node reads. */
	async look(): Promise<unknown> {
		const storage = await this.memory.node();
		const { project, webhook } = this;
		const seen = [
			await storage.listProjects({ limit: 100 }),
			await storage.listWebhooks({ projectId: project, limit: 100 }),
			await storage.readLog({ projectId: project, after: 0, window: WIDE }),
			await storage.readLog({ projectId: project, after: 0, window: WIDE, types: ["b"] }),
			await storage.loadLanes({ projectId: project }),
			await storage.readRetries({ projectId: project, webhookId: webhook, queue: "retry", limit: 100 }),
			await storage.readRetries({ projectId: project, webhookId: webhook, queue: "replay", limit: 100 }),
			await storage.listAttempts({ projectId: project, filter: {}, page: ALL }),
			await storage.listAttempts({
				projectId: project,
				filter: { webhookIds: [webhook], statuses: ["failed"] },
				page: ALL,
			}),
			await storage.readStats({ projectId: project, query: QUERY }),
			await storage.readHealth({ projectId: project, since: START }),
			await storage.gauges(),
			await storage.listAudit({ projectId: project, limit: 100 }),
			await storage.nextBasketDue(),
			await storage.getOrder({ projectId: project, orderId: "order 0" }),
		];
		await storage.close();
		return plain(seen);
	}
}

/** Every row of every table. */
const rowsOf = ({ tables }: MemoryDatabase): unknown =>
	Object.entries(tables).map(([name, table]) => [name, [...table.values()].map(textOf).sort()]);

const textOf = (row: unknown): string =>
	JSON.stringify(row, (_, value) => (value instanceof Map ? [...(value as Map<string, number>)] : value));

test("restoring a snapshot restores every row and index", async () => {
	const names = Object.keys((await Shop.open()).changes) as (keyof Shop["changes"])[];
	const series = fc.array(fc.constantFrom(...names), { maxLength: 25, size: "max" });
	await fc.assert(
		fc.asyncProperty(series, series, series, async (before, between, after) => {
			const shop = await Shop.open();
			const { database } = shop.memory;
			for (const name of before) await shop.changes[name]();
			const early = database.snapshot();
			const [rows, seen] = [rowsOf(database), await shop.look()];
			for (const name of ["publish", ...between] as const) await shop.changes[name]();
			const late = database.snapshot();
			for (const name of after) await shop.changes[name]();
			database.restore(early);
			expect(rowsOf(database)).toEqual(rows);
			expect(await shop.look()).toEqual(seen);
			// A lost state can't be restored; the earlier one still can.
			expect(() => database.restore(late)).toThrow("belongs to lost history");
			await expect(shop.storage.ping()).rejects.toMatchObject({ code: "lost" });
			for (const name of after) await shop.changes[name]();
			database.restore(early);
			expect(rowsOf(database)).toEqual(rows);
		}),
		{ numRuns: 60 },
	);
});

test("a released snapshot can't be restored, and doesn't affect others", async () => {
	const shop = await Shop.open();
	const { database } = shop.memory;
	const first = database.snapshot();
	await shop.changes.publish();
	const [second, rows] = [database.snapshot(), rowsOf(database)];
	await shop.changes.order();
	first.release();
	expect(() => database.restore(first)).toThrow("was released");
	await shop.changes.settle();
	database.restore(second);
	expect(rowsOf(database)).toEqual(rows);
});

test("a call that throws halfway changes nothing", async () => {
	const shop = await Shop.open();
	const { database } = shop.memory;
	const rows = rowsOf(database);
	const event = shop.world.event(shop.project, "a");
	const order = {
		...{ digest: Buffer.from("d"), at: START, amountCents: 9, currency: "EUR", basketId: null },
		customerCreated: event,
	};
	// Both create an event with the same id.
	const orders = ["one", "two"].map((orderId) => {
		return {
			...order,
			orderId,
			customerKey: Buffer.from(orderId),
			purchaseCompleted: shop.world.event(shop.project, "b"),
		};
	});
	await expect(shop.storage.recordOrders({ projectId: shop.project, orders })).rejects.toThrow("is taken");
	expect(rowsOf(database)).toEqual(rows);
});

test("readers get their own copies, including bytes", async () => {
	const shop = await Shop.open();
	await shop.changes.publish();
	await shop.changes.fail();
	const before = await shop.look();
	const { storage, project, webhook } = shop;
	const spoil = (value: unknown): void => {
		if (value instanceof Uint8Array) value.fill(0);
		else if (value instanceof Map) value.clear();
		else if (typeof value === "object" && value !== null) {
			for (const each of Object.values(value)) spoil(each);
			for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
		}
	};
	spoil(await storage.readLog({ projectId: project, after: 0, window: WIDE }));
	spoil(await storage.loadLanes({ projectId: project }));
	spoil(await storage.listAttempts({ projectId: project, filter: {}, page: ALL }));
	spoil(await storage.readHealth({ projectId: project, since: START }));
	spoil(await storage.listWebhooks({ projectId: project, limit: 10 }));
	expect(await storage.acquireLeases({ holder: NODE, limit: 1, projectIds: [webhook] })).toEqual([]);
	expect(await shop.look()).toEqual(before);
});
