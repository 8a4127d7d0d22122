import type { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { describe, expect, test } from "vitest";
import type { StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/**
 * Makes the clock behave like Node's around `time`: timers fire a millisecond early, and the millisecond only ticks
 * after this many reads.
 */
function tickBetweenLooks(clock: VirtualClock, time: number, looks: number): void {
	const now = clock.now.bind(clock);
	const setTimeout = clock.setTimeout.bind(clock);
	let left = looks;
	clock.now = () => {
		if (now() !== time - 1) return now();
		return left-- > 0 ? time - 1 : time;
	};
	clock.setTimeout = (fire, ms) => setTimeout(fire, ms - 1);
}

/** Retries becoming due. */
export function describeAlarms(start: StartRig): void {
	describe("alarms", () => {
		test("a retry is made when it is due, no matter between which two clock reads the millisecond ticks", async () => {
			// A retry that one read found not yet due and the next found due was once forgotten.
			for (let looks = 0; looks < 6; looks++) {
				const storage = new FaultyStorage();
				await using rig = await start(storage.wrap);
				await rig.webhook("a");
				rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : 200);
				await storage.pass(rig.clock, 0);
				const due = rig.clock.now() + 30_000;
				tickBetweenLooks(rig.clock, due, looks);
				await rig.publish(1);
				await rig.settledCount(1);
				expect(rig.settled[0]!.nextRetryAt).toBe(due);
				await storage.pass(rig.clock, 90_000);
				const retry = { attempt: 2, startedAt: due, status: "delivered" };
				expect(rig.settled.slice(1), `after ${looks} reads`).toEqual([expect.objectContaining(retry)]);
			}
		});

		test("a retry due before the one its lane is waiting for is made on time", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			rig.sender.script = (_shipment, nth) => (nth <= 3 ? 500 : 200);
			const begun = rig.clock.now();
			const [first] = await rig.publish(1);
			await rig.settledCount(1);
			await storage.pass(rig.clock, 30_000);
			const [second] = await rig.publish(1);
			await rig.settledCount(3);
			await storage.pass(rig.clock, 90_000);
			expect(rig.settled.slice(3).map(({ eventId, startedAt }) => [eventId, startedAt - begun])).toEqual([
				[second, 60_000],
				[first, 90_000],
			]);
		});

		test("a project with several webhooks is released with the alarm of the one due first", async () => {
			const alarms: (number | null)[] = [];
			const calls = new FaultyStorage();
			await using rig = await start((storage) => {
				const release = storage.releaseLease.bind(storage);
				storage.releaseLease = (p) => {
					alarms.push(p.wakeAt);
					return release(p);
				};
				return calls.wrap(storage);
			});
			await rig.webhook("first", { events: ["delivery.success"] });
			await rig.webhook("second", { events: ["delivery.failed"] });
			rig.sender.script = () => 500;
			await rig.publish(1, "delivery.success");
			await rig.settledCount(1);
			rig.clock.advance(1_000);
			await rig.publish(1, "delivery.failed");
			await rig.settledCount(2);
			const dues = rig.settled.map(({ nextRetryAt }) => nextRetryAt!);
			// The queues may not have been read yet: then anything in them might be due.
			await calls.quiet();
			await rig.engine.stop();
			expect(alarms).toEqual([Math.min(...dues)]);
			expect(dues[1]! - dues[0]!).toBe(1_000);
		});
	});
}
