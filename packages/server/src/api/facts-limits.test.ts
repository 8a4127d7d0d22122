import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { Budget } from "../base/budget.ts";
import { type FactStorage, StorageError } from "../storage/port.ts";
import { type RunningStore, startStore } from "../store/index.ts";

const LIMIT = 1e6;
/** A storage verb that a fact calls. */
const FACT_VERB = /^(record|cancel|touchBasket$|removeBasket$)/;

let store: RunningStore;
let api: TestApi;
let project: string;
let queue: Budget;
let isLocked = false;
beforeAll(async () => {
	queue = new Budget({ name: "queue", limit: LIMIT });
	api = await TestApi.start({
		parts: (parts) => {
			const engine = { ...parts.engine, queue };
			store = startStore({ ...parts, ...parts.config, engine, storage: lockable(parts.storage), basketIdleMs: 1_000 });
			return { store };
		},
	});
	project = await api.project();
	expect((await api.call("POST", `${project}/orders`, { body: { ...ORDER, order_id: "o" } })).status).toBe(201);
	const subscription = { subscription_id: "s", customer_email: "ada@example.com", plan: "vip" };
	expect((await api.call("POST", `${project}/subscriptions`, { body: subscription })).status).toBe(201);
});
afterAll(async () => {
	await store.stop();
	await api.close();
});

/** Storage in which another session may hold the project's rows. */
function lockable(storage: FactStorage): FactStorage {
	return new Proxy(storage, {
		get(target, name: keyof FactStorage) {
			if (isLocked && FACT_VERB.test(name)) return () => Promise.reject(new StorageError("locked", "A row is locked."));
			return (target[name] as (...args: unknown[]) => unknown).bind(target);
		},
	});
}

const ORDER = { order_id: "p", customer_email: "ada@example.com", amount_cents: 1, currency: "EUR", items: [{}] };
const REPORTS: readonly (readonly [string, string, unknown?])[] = [
	["POST", "/orders", ORDER],
	["POST", "/orders/batch", { orders: [{ ...ORDER, currency: "eur" }, ORDER] }],
	["POST", "/orders/o/refunds", { refund_id: "r", amount_cents: 1 }],
	["POST", "/orders/o/chargebacks", { chargeback_id: "c", amount_cents: 1 }],
	["POST", "/orders/o/deliverables/d", { kind: "file", outcome: "completed" }],
	["PUT", "/baskets/b", { items: [{}] }],
	["PUT", "/baskets/b", { items: [] }],
	["DELETE", "/baskets/b"],
	["POST", "/subscriptions", { subscription_id: "t", customer_email: "ada@example.com", plan: "vip" }],
	["POST", "/subscriptions/s/cancel"],
];

async function refusals(): Promise<unknown[]> {
	const before = api.storedRows();
	const answers = [];
	for (const [method, path, body] of REPORTS) {
		const { status, headers, json } = await api.call(method, project + path, { body });
		answers.push([status, json.type, headers["retry-after"]]);
	}
	expect(api.storedRows()).toEqual(before);
	return answers;
}

test("a project that fills its share of the queue gets 429 for every fact", async () => {
	const owner = project.split("/").at(-1)!;
	queue.hold(owner, LIMIT);
	try {
		expect(await refusals()).toEqual(REPORTS.map(() => [429, "/problems/too-many-requests", "1"]));
		const wrong = { ...ORDER, currency: "eur" };
		expect((await api.call("POST", `${project}/orders`, { body: wrong })).status).toBe(422);
	} finally {
		queue.give(owner, LIMIT);
	}
});

test("when the node's queue is full, every fact gets 503", async () => {
	queue.hold("others", LIMIT);
	try {
		expect(await refusals()).toEqual(REPORTS.map(() => [503, "/problems/unavailable", "1"]));
	} finally {
		queue.give("others", LIMIT);
	}
});

test("while another session holds the project's rows, every fact gets 503", async () => {
	isLocked = true;
	try {
		expect(await refusals()).toEqual(REPORTS.map(() => [503, "/problems/unavailable", "5"]));
	} finally {
		isLocked = false;
	}
});
