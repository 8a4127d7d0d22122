import { describe, expect, test } from "vitest";
import type { Storage } from "../src/storage/port.ts";
import type { StartRig } from "./engine-rig.ts";

/** Returns append results with sequence numbers lower than the log's by `back`. */
class BackwardStorage {
	back = 0;

	readonly wrap = (storage: Storage): Storage => {
		const appendEvents: Storage["appendEvents"] = async (p) => {
			const results = await storage.appendEvents(p);
			return results.map((one) =>
				one.kind === "appended"
					? { ...one, events: one.events.map((event) => ({ ...event, seq: event.seq - this.back })) }
					: one,
			);
		};
		return new Proxy(storage, {
			get(_, key) {
				if (key === "appendEvents") return appendEvents;
				const value: unknown = Reflect.get(storage, key, storage);
				return typeof value === "function" ? value.bind(storage) : value;
			},
		});
	};
}

/** A log that ends before the last event that the engine has seen in it. */
export function describeRewound(start: StartRig): void {
	describe("a log that went back", () => {
		// They were once ignored, and the position was committed past them.
		test("events with numbers that were used before are sent", async () => {
			const storage = new BackwardStorage();
			await using rig = await start(storage.wrap);
			const { url } = await rig.webhook("a");
			const before = await rig.publishAll(20);
			await rig.settledCount(20);
			storage.back = 15;
			const after = await rig.publishAll(10);
			await rig.settledCount(30);
			expect(rig.sender.to(url)).toEqual([...before, ...after]);
		});
	});
}
