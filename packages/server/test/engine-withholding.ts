import { describe, expect, test } from "vitest";
import { answered } from "../src/engine/send/receiver.fixture.ts";
import { SPEC_DELAYS_MS, type StartRig } from "./engine-rig.ts";
import { SlowRig } from "./slow-rig.ts";

/** Shorter than an attempt's timeout. */
const A_WHILE_MS = 5_000;

/** A webhook that is paused or deleted while the connection for an attempt is being established. */
export function describeWithholding(start: StartRig): void {
	describe("withholding", () => {
		test("nothing leaves once a pause returns, and the attempt is made on resuming", async () => {
			await using slow = await SlowRig.start(start);
			const { rig, way } = slow;
			const [eventId] = await rig.publish(1);
			await way.waiting();
			await slow.change({ status: "paused" });
			rig.clock.advance(A_WHILE_MS);
			way.open();
			await slow.ended();
			expect(slow.received).toEqual([]);
			const resumedAt = rig.clock.now();
			await slow.change({ status: "active" });
			await rig.settledCount(1);
			expect(rig.settled).toMatchObject([{ eventId, attempt: 1, status: "delivered" }]);
			expect(rig.settled[0]!.startedAt).toBeGreaterThanOrEqual(resumedAt);
			expect(slow.received).toEqual([eventId]);
		});

		test("an event that was about to be sent isn't sent once its unsubscription returns", async () => {
			await using slow = await SlowRig.start(start);
			const { rig, way } = slow;
			await rig.publish(1, "delivery.success");
			await way.waiting();
			await slow.change({ events: ["delivery.failed"] });
			way.open();
			const [eventId] = await rig.publish(1, "delivery.failed");
			await rig.settledCount(1);
			expect(slow.received).toEqual([eventId]);
			expect(rig.settled).toMatchObject([{ eventId, attempt: 1, status: "delivered" }]);
		});

		test("several attempts that a pause cancelled are each made once", async () => {
			await using slow = await SlowRig.start(start, { maxInFlight: 3 });
			const { rig, way } = slow;
			const ids = await rig.publishAll(5);
			await way.waiting(3);
			await slow.change({ status: "paused" });
			rig.clock.advance(A_WHILE_MS);
			way.open();
			await slow.ended(3);
			expect(slow.received).toEqual([]);
			await slow.change({ status: "active" });
			await rig.settledCount(5);
			expect(slow.received.toSorted()).toEqual(ids.toSorted());
			expect(rig.settled.map(({ attempt, status }) => [attempt, status])).toEqual(Array(5).fill([1, "delivered"]));
		});

		test("a retry waits again with the same number", async () => {
			const answers = [answered(500, "", "connection: close\r\n"), answered(200)];
			await using slow = await SlowRig.start(start, { answer: (...args) => answers.shift()!(...args) });
			const { rig, way } = slow;
			way.open();
			const [eventId] = await rig.publish(1);
			await rig.settledCount(1);
			way.shut();
			rig.clock.advance(SPEC_DELAYS_MS[0]!);
			await way.waiting();
			await slow.change({ status: "paused" });
			rig.clock.advance(A_WHILE_MS);
			way.open();
			await slow.ended(2);
			expect(slow.received).toEqual([eventId]);
			const resumedAt = rig.clock.now();
			await slow.change({ status: "active" });
			await rig.settledCount(2);
			expect(rig.settled[1]).toMatchObject({ eventId, attempt: 2, status: "delivered" });
			expect(rig.settled[1]!.startedAt).toBeGreaterThanOrEqual(resumedAt);
			expect(slow.received).toEqual([eventId, eventId]);
		});

		test("nothing leaves once a deletion returns, and nothing is logged", async () => {
			await using slow = await SlowRig.start(start);
			const { rig, way } = slow;
			await rig.publish(1);
			await way.waiting();
			await slow.delete();
			rig.clock.advance(A_WHILE_MS);
			way.open();
			await slow.ended();
			await rig.engine.stop();
			expect(slow.received).toEqual([]);
			expect(rig.settled).toEqual([]);
		});
	});
}
