import { patience } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { DAY_MS, type EngineRig, SPEC_DELAYS_MS, type StartRig } from "./engine-rig.ts";

/**
 * Waits until everything that doesn't wait for the clock is done: `count` attempts settled; then moves on to the next
 * timer.
 */
async function series(rig: EngineRig, count: number): Promise<void> {
	for (let n = rig.settled.length + 1; n <= count; n++) {
		let settled = false;
		const wait = rig.settledCount(n).then(() => {
			settled = true;
		});
		const stillInTime = patience(`attempt ${n} to be settled`);
		while (!settled) {
			stillInTime();
			await new Promise((resolve) => setImmediate(resolve));
			const due = rig.settled.at(-1)?.nextRetryAt;
			if (due && !settled) rig.clock.advanceTo(due);
		}
		await wait;
	}
}

/** A delivery's attempts, series by series. */
export function describeSeries(start: StartRig): void {
	describe("attempts and replays", () => {
		test("eight failures follow the spec's delays to the millisecond, and end as a dead letter", async () => {
			await using rig = await start();
			const { id } = await rig.webhook("broken");
			rig.sender.script = () => 500;
			const begun = rig.clock.now();
			const [eventId] = await rig.publish(1);
			await series(rig, 8);

			let at = begun;
			for (const [i, attempt] of rig.settled.entries()) {
				expect(attempt.attempt).toBe(i + 1);
				expect(attempt.startedAt).toBe(at);
				at += SPEC_DELAYS_MS[i] ?? 0;
				expect(attempt.nextRetryAt).toBe(i < 7 ? at : null);
				expect(attempt.status).toBe(i < 7 ? "retrying" : "failed");
			}
			expect(rig.clock.now() - begun).toBe((1 * 60 + 48) * 60_000 + 30_000);
			const delivery = await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: eventId! });
			expect(delivery).toMatchObject({ state: "dead_lettered", attempt: 8, replay: 0, nextRetryAt: null });
			expect(delivery!.attempts).toHaveLength(8);
			rig.clock.advance(2 * DAY_MS);
			// The next request sent is the next event published.
			rig.sender.script = () => 200;
			const [next] = await rig.publish(1);
			await rig.until("the next event to be settled", () => rig.settled.some((a) => a.eventId === next));
			expect(rig.sender.sent.slice(8).map((request) => request.eventId)).toEqual([next]);
		});

		test("eight timeouts of 15 s span 1 h 50 min 30 s: each delay counts from the end of the previous attempt", async () => {
			// An attempt takes no time except on the clock, and no lease could be renewed during it, so none ends here.
			await using rig = await start(undefined, DAY_MS);
			await rig.webhook("silent");
			rig.sender.script = () => {
				rig.clock.advance(15_000);
				return "timeout";
			};
			const begun = rig.clock.now();
			await rig.publish(1);
			await series(rig, 8);
			expect(rig.settled.at(-1)!.startedAt + rig.settled.at(-1)!.responseMs - begun).toBe(
				(1 * 60 + 50) * 60_000 + 30_000,
			);
			expect(rig.settled.map((a) => a.errorCode)).toEqual(Array(8).fill("timeout"));
		});

		test("a success at any attempt ends the series", async () => {
			await using rig = await start();
			const { id } = await rig.webhook("recovers");
			rig.sender.script = (_shipment, nth) => (nth < 4 ? 503 : 204);
			const [eventId] = await rig.publish(1);
			await series(rig, 4);
			expect(rig.settled.map((a) => a.status)).toEqual(["retrying", "retrying", "retrying", "delivered"]);
			expect(
				await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: eventId! }),
			).toMatchObject({
				state: "delivered",
				attempt: 4,
			});
			expect(rig.clock.now() - rig.settled[0]!.startedAt).toBe(30_000 + 60_000 + 120_000);
		});

		test("a replay is a new series with the same event id; a delivery that is still attempting can't be replayed", async () => {
			await using rig = await start();
			const { id } = await rig.webhook("replayed");
			rig.sender.script = () => 500;
			const [eventId] = await rig.publish(1);
			await rig.settledCount(1);
			expect(
				await rig.storage.replayDelivery({
					projectId: rig.projectId,
					webhookId: id,
					eventId: eventId!,
					at: rig.clock.now(),
				}),
			).toEqual({
				kind: "attempting",
			});
			await series(rig, 8);
			expect(
				await rig.storage.replayDelivery({
					projectId: rig.projectId,
					webhookId: id,
					eventId: eventId!,
					at: rig.clock.now(),
				}),
			).toEqual({
				kind: "queued",
				replay: 1,
			});
			rig.wake();
			await rig.settledCount(9);
			expect(rig.settled[8]).toMatchObject({ eventId, attempt: 1, replay: 1, status: "retrying" });
			rig.sender.script = () => 200;
			await series(rig, 10);
			expect(rig.settled[9]).toMatchObject({ attempt: 2, replay: 1, status: "delivered" });
			expect(
				await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: eventId! }),
			).toMatchObject({
				state: "delivered",
				attempt: 2,
				replay: 1,
			});
			expect(
				await rig.storage.replayDelivery({
					projectId: rig.projectId,
					webhookId: id,
					eventId: eventId!,
					at: rig.clock.now(),
				}),
			).toEqual({
				kind: "queued",
				replay: 2,
			});
			rig.wake();
			await rig.settledCount(11);
			expect(rig.settled[10]).toMatchObject({ attempt: 1, replay: 2, status: "delivered" });
		});

		test("a retry made early is sent immediately, and the series ends after as many attempts as otherwise", async () => {
			await using rig = await start();
			const { id } = await rig.webhook("early");
			rig.sender.script = () => "connection_refused";
			const [eventId] = await rig.publish(1);
			await series(rig, 1);
			const deliveries = [{ webhookId: id, eventId: eventId! }];
			const early = () => rig.storage.retryDeliveries({ projectId: rig.projectId, deliveries, at: rig.clock.now() });
			for (let attempt = 2; attempt <= 8; attempt++) {
				expect(await early()).toEqual([{ kind: "queued", attempt, replay: 0 }]);
				rig.wake();
				await rig.settledCount(attempt);
			}
			expect(rig.settled.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
			expect(rig.settled[7]).toMatchObject({ status: "failed" });
			expect(await early()).toEqual([{ kind: "nothing_waits" }]);
		});

		test("retrying everything early sends all that waits, soonest first", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("all");
			rig.sender.script = () => "connection_refused";
			const ids = await rig.publishAll(30);
			await rig.settledCount(30);
			rig.sender.script = () => 200;
			const page = { projectId: rig.projectId, webhookId: id, at: rig.clock.now(), limit: 100 };
			const { seqs, next } = await rig.storage.retryWaiting(page);
			expect([seqs.length, next]).toEqual([30, null]);
			rig.wake();
			await rig.settledCount(60);
			expect(rig.sender.to(url).slice(30).toSorted()).toEqual(ids.toSorted());
			expect(rig.settled.slice(30).every(({ attempt, status }) => attempt === 2 && status === "delivered")).toBe(true);
		});

		test("replaying all failures sends the oldest first, alongside the lane", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("bulk");
			rig.sender.script = () => "connection_refused";
			const ids = await rig.publishAll(30);
			await rig.settledCount(30);
			for (let attempt = 2; attempt <= 8; attempt++) {
				rig.clock.advance(SPEC_DELAYS_MS[attempt - 2]!);
				await rig.settledCount(30 * attempt);
			}
			rig.sender.script = () => 200;
			rig.clock.advance(1);
			const failed = { webhookIds: [id], statuses: ["failed" as const] };
			const matching = { projectId: rig.projectId, selection: failed, at: rig.clock.now(), limit: 1000 };
			const { count } = await rig.storage.replayMatching(matching);
			expect(count).toBe(30);
			rig.wake();
			await rig.settledCount(270);
			expect(rig.sender.to(url).slice(240)).toEqual(ids);
			expect((await rig.storage.replayMatching(matching)).count).toBe(0);
		});
	});
}
