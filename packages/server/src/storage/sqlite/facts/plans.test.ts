import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { verbsOn } from "../../../../test/storage/sqlite/verbs-on.ts";
import type { NewEvent } from "../../port.ts";
import { Connection, openWriter } from "../connection/connection.ts";
import { migrate } from "../connection/migrate.ts";

/** The plan steps of every statement on store facts, by its text. */
const plans = new Map<string, string[]>();
beforeAll(async () => {
	const directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	const path = join(directory, "posthorn.db");
	const db = openWriter(path);
	migrate(db, path);
	const prepare = db.prepare.bind(db);
	db.prepare = (text) => {
		if (text.includes("store_")) {
			const steps = prepare(`EXPLAIN QUERY PLAN ${text}`).all();
			plans.set(
				text,
				steps.map(({ detail }) => String(detail)),
			);
		}
		return prepare(text);
	};
	const connection = new Connection(db);
	try {
		runEveryOperation(connection);
	} finally {
		connection.close();
		await rm(directory, { recursive: true });
	}
});

function runEveryOperation(c: Connection): void {
	const verbs = verbsOn(c);
	const digest = new Uint8Array(32);
	let events = 0;
	const event = (): NewEvent => {
		const id = `evt_${++events}`;
		return { id, type: "a", createdAt: 0, createdAtGiven: true, body: new Uint8Array(2) };
	};
	verbs.createProject({ id: "p", name: "Shop", apps: [], createdAt: 0 });
	verbs.touchBasket({ projectId: "p", touch: { basketId: "b", at: 0, dueAt: 5, data: "{}" } });
	verbs.touchBasket({ projectId: "p", touch: { basketId: "c", at: 0, dueAt: 5, data: "{}" } });
	const of = { orderId: "o", digest, at: 0 };
	const order = { ...of, customerKey: digest, amountCents: 2, currency: "EUR", basketId: "b" };
	verbs.recordOrders({ projectId: "p", orders: [{ ...order, customerCreated: event(), purchaseCompleted: event() }] });
	verbs.getOrder({ projectId: "p", orderId: "o" });
	verbs.recordRefund({
		projectId: "p",
		refund: { ...of, refundId: "r", amountCents: 1, partial: event(), whole: event() },
	});
	verbs.recordChargeback({ projectId: "p", chargeback: { ...of, chargebackId: "c", event: event() } });
	verbs.recordDeliverable({ projectId: "p", deliverable: { ...of, deliverableId: "d", event: event() } });
	verbs.recordSubscription({
		projectId: "p",
		subscription: { subscriptionId: "s", digest, at: 0, data: "{}", event: event() },
	});
	verbs.getSubscription({ projectId: "p", subscriptionId: "s" });
	verbs.cancelSubscription({ projectId: "p", subscriptionId: "s", at: 1, event: event() });
	verbs.nextBasketDue();
	verbs.takeDueBaskets({ now: 9, until: 10, limit: 10 });
	verbs.abandonBaskets({ projectId: "p", baskets: [{ basketId: "c", touchedAt: 0, event: event() }], at: 9 });
	verbs.removeBasket({ projectId: "p", basketId: "b" });
}

test("every fact is found by its key, no matter how many others exist", () => {
	expect(plans.size).toBeGreaterThan(20);
	for (const [text, steps] of plans) {
		expect(
			steps.filter((step) => step.includes("TEMP B-TREE")),
			text,
		).toEqual([]);
		const walks = steps.filter((step) => step.startsWith("SCAN"));
		// One step at the beginning of the index.
		const ofNext = text.includes("ORDER BY due_at LIMIT 1");
		expect(walks, text).toEqual(ofNext ? ["SCAN store_baskets USING COVERING INDEX store_baskets_by_due"] : []);
	}
});

test("due baskets are a range of their times, however many are pending", () => {
	const [, steps] = [...plans].find(([text]) => text.includes("b.due_at <= ?"))!;
	expect(steps).toEqual([
		"SEARCH b USING INDEX store_baskets_by_due (due_at<?)",
		"SEARCH p USING INTEGER PRIMARY KEY (rowid=?)",
	]);
});
