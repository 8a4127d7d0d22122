import { describe, expect, test } from "vitest";
import type { StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const MINUTE_MS = 60_000;
/** More of them than stopping takes. */
const EVENT_LOOP_TURNS = 100;

/** Projects that a node gives back. */
export function describeHandover(start: StartRig): void {
	describe("handover", () => {
		test("a node that stops waits for a project that is on its way back already", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			using release = storage.holdCall("releaseLease");
			// Idle for so long, the project is given back.
			await storage.pass(rig.clock, 3 * MINUTE_MS);
			await release.reached;
			let stopped = false;
			const stopping = rig.engine.stop().then(() => {
				stopped = true;
			});
			for (let turns = 0; turns < EVENT_LOOP_TURNS; turns++) await storage.quiet();
			expect(stopped).toBe(false);
			release.release();
			await stopping;
			expect(await rig.storage.acquireLeases("another node", 1, [rig.projectId])).toHaveLength(1);
		});
	});
}
