import { describe, expect, test } from "vitest";
import type { Storage } from "../src/storage/port.ts";
import { LEASE_TERM_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const MINUTE_MS = 60_000;

/** Refuses every settlement of one project, for a reason that retrying doesn't fix. */
class RefusingStorage {
	readonly faulty = new FaultyStorage();
	refused: string | null = null;

	readonly wrap = (storage: Storage): Storage => {
		const settle: Storage["settle"] = async (p) => {
			if (p.settlements.some(({ projectId }) => projectId === this.refused)) throw new Error("A row does not fit.");
			return storage.settle(p);
		};
		const refusing = new Proxy(storage, {
			get(_, key) {
				if (key === "settle") return settle;
				const value: unknown = Reflect.get(storage, key, storage);
				return typeof value === "function" ? value.bind(storage) : value;
			},
		});
		return this.faulty.wrap(refusing);
	};
}

/** A project whose outcomes storage refuses. */
export function describeRefused(start: StartRig): void {
	describe("refused outcomes", () => {
		// Its receiver was once sent the same event every ten seconds.
		test("the receiver gets them again at growing intervals, until storage accepts them", async () => {
			const storage = new RefusingStorage();
			await using rig = await start(storage.wrap);
			const { url } = await rig.webhook("a");
			const otherId = await rig.project();
			const other = await rig.webhook("other", { projectId: otherId });
			storage.refused = rig.projectId;
			const [eventId] = await rig.publish(1);
			await rig.sentCount(1);
			await storage.faulty.pass(rig.clock, LEASE_TERM_MS / 2);
			expect(rig.engine.node.refused).toBe(1);
			await storage.faulty.pass(rig.clock, 6 * MINUTE_MS);
			const times = rig.sender.sent.filter((sent) => sent.url === url).map(({ at }) => at);
			const gaps = times.slice(1).map((at, i) => at - times[i]!);
			// After ten seconds, twenty, and so on.
			expect(gaps.filter((gap, i) => gap < LEASE_TERM_MS * 2 ** i)).toEqual([]);
			expect(times.length).toBeGreaterThanOrEqual(5);
			expect(rig.engine.node.refused).toBe(1);

			// Others aren't affected.
			const [otherEvent] = await rig.publishAll(1, "delivery.success", otherId);
			await storage.faulty.pass(rig.clock, 1_000);
			expect(rig.sender.to(other.url)).toEqual([otherEvent]);

			storage.refused = null;
			await storage.faulty.pass(rig.clock, 6 * MINUTE_MS);
			expect(rig.settled.map((one) => [one.eventId, one.attempt, one.status])).toEqual([
				[otherEvent, 1, "delivered"],
				[eventId, 1, "delivered"],
			]);
			expect(rig.engine.node.refused).toBe(0);
		});
	});
}
