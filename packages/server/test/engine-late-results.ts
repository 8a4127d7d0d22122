import { patience } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { QUEUE_NAMES } from "../src/engine/lanes/lane.ts";
import { type EngineRig, SPEC_DELAYS_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Each settled attempt, as `replay.attempt`. */
const series = (rig: EngineRig): string[] => rig.settled.map(({ replay, attempt }) => `${replay}.${attempt}`);

/** Stores a replay of the event as another node would; it succeeds. */
async function replay(rig: EngineRig, webhookId: string, eventId: string): Promise<void> {
	expect(
		await rig.storage.replayDelivery({ projectId: rig.projectId, webhookId, eventId, at: rig.clock.now() }),
	).toMatchObject({
		kind: "queued",
	});
	rig.wake();
}

/** Storage has applied a call before the engine learns of it, and another read may return the result first. */
export function describeLateResults(start: StartRig): void {
	describe("late results", () => {
		test("a retry that is read before its commit returns is made once", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : 200);
			using commit = storage.holdResult("settle");
			await rig.publish(1);
			await commit.reached;
			rig.wake();
			await storage.quiet();
			commit.release();
			await rig.settledCount(1);
			await storage.pass(rig.clock, 5 * MINUTE_MS);
			expect(series(rig)).toEqual(["0.1", "0.2"]);
			expect(rig.sender.sent).toHaveLength(2);
		});

		test("a retry that is made before the commit that caused it returns is made once", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			const answer = Promise.withResolvers<number>();
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : answer.promise);
			using commit = storage.holdResult("settle");
			await rig.publish(1);
			await commit.reached;
			rig.wake();
			const stillInTime = patience("the retry to be made");
			for (let ms = SPEC_DELAYS_MS[0]!; rig.sender.sent.length < 2; ms = SECOND_MS) {
				stillInTime();
				await storage.pass(rig.clock, ms);
			}
			commit.release();
			await rig.settledCount(1);
			await storage.pass(rig.clock, MINUTE_MS);
			answer.resolve(200);
			await rig.settledCount(2);
			await storage.pass(rig.clock, 5 * MINUTE_MS);
			expect(series(rig)).toEqual(["0.1", "0.2"]);
			expect(rig.sender.sent).toHaveLength(2);
		});

		test("a replay that is read before the previous series' settle returns is made", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id } = await rig.webhook("a");
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : 200);
			const [eventId] = await rig.publish(1);
			await rig.settledCount(1);
			using commit = storage.holdResult("settle");
			await storage.pass(rig.clock, SPEC_DELAYS_MS[0]!);
			await commit.reached;
			await replay(rig, id, eventId!);
			await storage.quiet();
			commit.release();
			await rig.settledCount(2);
			await storage.pass(rig.clock, SECOND_MS);
			expect(series(rig)).toEqual(["0.1", "0.2", "1.1"]);
			expect(
				await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: eventId! }),
			).toMatchObject({
				state: "delivered",
				replay: 1,
			});
		});

		test("a replay that is being read while the previous replay's settle returns is made", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id } = await rig.webhook("a");
			const [eventId] = await rig.publish(1);
			await rig.settledCount(1);
			using commit = storage.holdResult("settle");
			await replay(rig, id, eventId!);
			await commit.reached;
			// The lane's retries are read, then its replays.
			using retries = storage.holdResult("readRetries");
			using replays = storage.holdResult("readRetries");
			await replay(rig, id, eventId!);
			await retries.reached;
			await replays.reached;
			commit.release();
			await rig.settledCount(2);
			retries.release();
			replays.release();
			await storage.pass(rig.clock, SECOND_MS);
			expect(series(rig)).toEqual(["0.1", "1.1", "2.1"]);
			expect(
				await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: eventId! }),
			).toMatchObject({
				state: "delivered",
				replay: 2,
			});
		});

		test("a retry that is settled while its queue is being read isn't made again", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			const answer = Promise.withResolvers<number>();
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : answer.promise);
			await rig.publish(1);
			await rig.settledCount(1);
			await storage.pass(rig.clock, SPEC_DELAYS_MS[0]!);
			expect(rig.sender.sent).toHaveLength(2);
			using held = new DisposableStack();
			const reads = QUEUE_NAMES.map(() => held.use(storage.holdResult("readRetries")));
			rig.wake();
			await Promise.all(reads.map(({ reached }) => reached));
			answer.resolve(200);
			await rig.settledCount(2);
			// One of them returns the retry as stored before.
			for (const read of reads) read.release();
			await storage.pass(rig.clock, MINUTE_MS);
			expect(series(rig)).toEqual(["0.1", "0.2"]);
			expect(rig.sender.sent).toHaveLength(2);
		});
	});
}
