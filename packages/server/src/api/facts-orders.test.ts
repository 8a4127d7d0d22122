import { expect, test } from "vitest";
import { REQUESTS } from "../base/budgets.ts";
import { Turns } from "../base/turns.ts";
import type { OrderInput, PreparedOrder, Store } from "../store/index.ts";
import { parseBody } from "./http/json-body.ts";
import { orderRoutes } from "./routes/publishing/orders.ts";

const ORDERS = 1_000;
const CONFIG = { maxEventBytes: 262_144, maxBatchBytes: REQUESTS.batchBytes } as Parameters<
	typeof orderRoutes
>[0]["config"];

// All orders of a batch were once checked and encoded in one turn of the event loop.
test("orders of a batch are prepared in slices", async () => {
	const loop: (() => void)[] = [];
	const turns = new Turns(REQUESTS.turnMs, { elapsed: () => 0, setImmediate: (run) => loop.push(run) });
	const inSlice: number[] = [0];
	const orders = {
		prepare(): PreparedOrder {
			inSlice[inSlice.length - 1]! += 1;
			return { kind: "conflict" };
		},
		recordAll: async (_project: string, prepared: readonly PreparedOrder[]) => prepared,
	};
	const [, batch] = orderRoutes({ store: { orders } as unknown as Store, config: CONFIG });
	const order: OrderInput = {
		order_id: "o",
		customer_email: "ada@example.com",
		amount_cents: 1,
		currency: "EUR",
		items: [{}],
	};
	const bytes = Buffer.from(JSON.stringify({ orders: Array(ORDERS).fill(order) }));
	const { value: body } = parseBody(bytes, batch!.list);
	const pause = turns.slices("p", REQUESTS.sliceBytes, REQUESTS.pieceBytes);
	const call = batch!.handler({ params: { projectId: "p" }, body, pause } as never) as Promise<{ results: object[] }>;
	while (loop.length > 0) {
		inSlice.push(0);
		loop.shift()!();
		await new Promise(setImmediate);
	}
	expect((await call).results).toHaveLength(ORDERS);
	expect(inSlice.reduce((sum, count) => sum + count)).toBe(ORDERS);
	expect(Math.max(...inSlice)).toBeLessThanOrEqual(REQUESTS.sliceBytes / REQUESTS.pieceBytes);
});
