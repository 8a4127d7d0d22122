import { describe, expect, test } from "vitest";
import type { Storage } from "../src/storage/port.ts";
import { LEASE_TERM_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

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

		// Where no other node shares the database, nothing polled for the expired lease for up to a minute.
		test("a project whose lease can't be released is taken again when the lease has expired", async () => {
			const storage = new BackwardStorage();
			const faulty = new FaultyStorage();
			await using rig = await start((one) => faulty.wrap(storage.wrap(one)));
			const { url } = await rig.webhook("a");
			const before = await rig.publishAll(20);
			await rig.settledCount(20);
			faulty.fail("releaseLease");
			storage.back = 15;
			const after = await rig.publishAll(10);
			await faulty.pass(rig.clock, LEASE_TERM_MS + 1_000);
			expect(rig.sender.to(url)).toEqual([...before, ...after]);
		});
	});
}
