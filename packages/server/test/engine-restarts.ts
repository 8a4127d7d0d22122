import { describe, expect, test } from "vitest";
import { DAY_MS, LEASE_TERM_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/** Restarts of the only process that uses the database. */
export function describeRestarts(start: StartRig): void {
	describe("restarts", () => {
		// A project that nothing was published to waited for a year.
		test("retries that were scheduled while the clock was ahead are made after a restart", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			rig.clock.set(365 * DAY_MS);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			rig.sender.script = () => 500;
			await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(rig.settled.map(({ status }) => status)).toEqual(["retrying"]);
			await rig.close();
			rig.clock.set(-365 * DAY_MS);
			rig.sender.script = () => 200;
			await rig.open();
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(rig.settled.map(({ status }) => status)).toEqual(["retrying", "delivered"]);
		});
	});
}
