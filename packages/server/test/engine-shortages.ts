import { describe, expect, test } from "vitest";
import type { Shipment } from "../src/engine/send/outcome.ts";
import { LEASE_TERM_MS, type ScriptedResponse, SPEC_DELAYS_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const SHORT: ScriptedResponse = { shortage: "descriptors" };
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * A machine that runs out of something that sends need, and a node that loses its lease: neither counts as an attempt.
 */
export function describeShortages(start: StartRig): void {
	describe("shortages", () => {
		test.each([1, 3])(
			"first attempts wait in order, and one is tried each second, with %i in flight",
			async (maxInFlight) => {
				const storage = new FaultyStorage();
				await using rig = await start(storage.wrap);
				const { url } = await rig.webhook("a", { maxInFlight });
				rig.sender.script = () => SHORT;
				const ids = await rig.publishAll(5);
				await storage.quiet();
				for (let tries = 1; tries <= 4; tries++) {
					expect(rig.sender.to(url)).toHaveLength(tries * maxInFlight);
					await storage.pass(rig.clock, SECOND_MS);
				}
				expect(rig.settled).toEqual([]);
				rig.sender.script = () => 200;
				rig.sender.sent.length = 0;
				await storage.pass(rig.clock, 2 * SECOND_MS);
				expect(rig.sender.to(url)).toEqual(ids);
				await rig.settledCount(5);
				expect(rig.settled.map(({ attempt, status }) => [attempt, status])).toEqual(Array(5).fill([1, "delivered"]));
			},
		);

		test("a retry keeps its attempt number during a shortage", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : SHORT);
			const [eventId] = await rig.publish(1);
			await rig.settledCount(1);
			await storage.pass(rig.clock, SPEC_DELAYS_MS[0]! + HOUR_MS / 60);
			expect(rig.settled).toHaveLength(1);
			expect(rig.sender.sent.length).toBeGreaterThan(2);
			rig.sender.script = () => 200;
			await storage.pass(rig.clock, 2 * SECOND_MS);
			expect(rig.settled).toHaveLength(2);
			expect(rig.settled[1]).toMatchObject({ eventId, attempt: 2, status: "delivered" });
		});

		test("webhooks that aren't affected by the shortage continue", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const short = await rig.webhook("short");
			const fine = await rig.webhook("fine");
			rig.sender.script = ({ target }) => (target.url === short.url ? SHORT : 200);
			const ids = await rig.publishAll(5);
			await rig.settledCount(5);
			expect(rig.sender.to(fine.url)).toEqual(ids);
			expect(rig.sender.to(short.url)).toHaveLength(1);
		});

		test("the engine stops during a shortage", async () => {
			await using rig = await start();
			await rig.webhook("a");
			rig.sender.script = () => SHORT;
			await rig.publish(1);
			await rig.sentCount(1);
			await rig.engine.stop();
			expect(rig.settled).toEqual([]);
		});

		// It was once signed with a secret that another node had replaced, and sent.
		test("a started request may not leave once the lease isn't trusted, and is made once it is again", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			const connected = Promise.withResolvers<void>();
			const { promise: started, resolve: onStarted } = Promise.withResolvers<Shipment>();
			rig.sender.script = async (shipment, nth) => {
				if (nth > 1) return 200;
				onStarted(shipment);
				await connected.promise;
				return shipment.mayLeave() ? 200 : "cancelled";
			};
			await rig.publish(1);
			const shipment = await started;
			expect(shipment.mayLeave()).toBe(true);
			storage.fail("renewLeases", Number.POSITIVE_INFINITY);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(shipment.mayLeave()).toBe(false);
			connected.resolve();
			await storage.quiet();
			expect(rig.settled).toEqual([]);
			storage.fail("renewLeases", 0);
			await storage.pass(rig.clock, 2 * LEASE_TERM_MS);
			expect(rig.settled).toMatchObject([{ attempt: 1, status: "delivered" }]);
			expect(rig.sender.sent).toHaveLength(2);
		});
	});
}
