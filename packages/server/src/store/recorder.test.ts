import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { Budget } from "../base/budget.ts";
import { IdSource } from "../base/ids.ts";
import type { FactStorage } from "../storage/port.ts";
import { FactRecorder } from "./recorder.ts";

function setUp(maxEventBytes = 10) {
	const clock = new VirtualClock();
	const queue = new Budget({ name: "queue", limit: 1_000_000 });
	const rechecked: string[] = [];
	const engine = { queue, appended: () => undefined, recheck: (projectId: string) => rechecked.push(projectId) };
	const storage = {} as FactStorage;
	return {
		queue,
		rechecked,
		recorder: new FactRecorder({ storage, engine, clock, ids: new IdSource(clock), maxEventBytes }),
	};
}

test("each fact of a call takes room in the queue in addition to its text, and releases it even if it fails", async () => {
	const { queue, rechecked, recorder } = setUp();
	const held = (facts?: number) => recorder.admit("p", 100, async () => queue.heldBy("p"), facts);
	const [one, many] = [await held(), await held(50)];
	expect([one, many]).toEqual([100 + 1_024, 100 + 50 * 1_024]);
	await expect(recorder.admit("p", 100, () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
	expect(queue.used).toBe(0);
	// Its events may have been appended.
	expect(rechecked).toEqual(["p"]);
});

test("data is measured in bytes, not characters", () => {
	const { recorder } = setUp(20);
	const dataOf = (order_id: string) => recorder.dataOf("delivery.success", { order_id });
	expect(dataOf("xxxx")).toBe('{"order_id":"xxxx"}');
	expect(dataOf("€€€€")).toEqual({ kind: "too_large", bytes: 27, limit: 20 });
});
