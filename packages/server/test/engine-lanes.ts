import { describe, expect, test } from "vitest";
import { WINDOWS } from "../src/base/budgets.ts";
import { DAY_MS, type EngineRig, LEASE_TERM_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/** What a lane starts, in which order, and what holds it back. */
export function describeLanes(start: StartRig): void {
	describe("lanes", () => {
		test("first attempts go out one at a time in log order, and failures don't block them", async () => {
			await using rig = await start();
			const { url } = await rig.webhook("a");
			rig.sender.script = (_shipment, nth) => (nth % 3 === 0 ? 500 : 200);
			const ids = [...(await rig.publish(40)), ...(await rig.publishAll(300)), ...(await rig.publish(40))];
			await rig.settledCount(ids.length);
			expect(rig.sender.to(url)).toEqual(ids);
			expect(rig.sender.mostInFlight.get(url)).toBe(1);
		});

		test("an event of a project without an owner is sent immediately", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { url } = await rig.webhook("a");
			await rig.close();
			await rig.open();
			// It has found no work in storage.
			await storage.quiet();
			const ids = await rig.publish(1);
			await rig.settledCount(1);
			expect(rig.sender.to(url)).toEqual(ids);
		});

		test("a webhook only gets subscribed types, from the first event after its creation", async () => {
			await using rig = await start();
			await rig.publish(3);
			const some = await rig.webhook("some", { events: ["chargeback.created"] });
			const all = await rig.webhook("all");
			const others = await rig.publish(5);
			const [chargeback] = await rig.publish(1, "chargeback.created");
			await rig.settledCount(7);
			expect(rig.sender.to(some.url)).toEqual([chargeback]);
			expect(rig.sender.to(all.url)).toEqual([...others, chargeback]);
		});

		test("a hanging receiver only delays its own lane", async () => {
			await using rig = await start();
			const hanging = await rig.webhook("hanging");
			const sound = await rig.webhook("sound");
			let letGo = (): void => {};
			const hang = new Promise<number>((resolve) => {
				letGo = () => resolve(200);
			});
			rig.sender.script = (shipment) => (shipment.target.url === hanging.url ? hang : 200);
			const ids = await rig.publish(50);
			await rig.until("50 requests to the healthy receiver", () => rig.sender.to(sound.url).length === 50);
			expect(rig.sender.to(hanging.url)).toEqual([ids[0]]);
			letGo();
			await rig.settledCount(100);
			expect(rig.sender.to(hanging.url)).toEqual(ids);
		});

		test("max_in_flight first attempts run concurrently, and a restart doesn't repeat settled ones", async () => {
			await using rig = await start();
			const { url } = await rig.webhook("wide", { maxInFlight: 5 });
			let letGo = (): void => {};
			const first = new Promise<number>((resolve) => {
				letGo = () => resolve(200);
			});
			rig.sender.script = (_shipment, nth) => (nth === 1 ? first : 200);
			const ids = await rig.publishAll(50);
			await rig.settledCount(49);
			expect(rig.sender.mostInFlight.get(url)).toBe(5);
			// The first hangs; 49 after it are settled. The node stops: attempts in flight end and are settled.
			const stopping = rig.close();
			letGo();
			await stopping;
			await rig.open();
			const [last] = await rig.publish(1);
			await rig.until("the last event to be sent", () => rig.sender.to(url).at(-1) === last);
			expect(rig.sender.to(url)).toEqual([...ids, last]);
		});

		// The lane kept what was settled beyond the hanging attempt, 256 events at most, and then stopped.
		test("one of 2,000 deliveries hangs, and all the others are delivered before it ends", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("wide", { maxInFlight: 10 });
			const hang = Promise.withResolvers<number>();
			rig.sender.script = (_shipment, nth) => (nth === 1 ? hang.promise : 200);
			const ids: string[] = [];
			for (let batches = 0; batches < 4; batches++) ids.push(...(await rig.publishAll(500)));
			await rig.settledCount(1_999);
			expect(rig.settled.map((attempt) => attempt.eventId).sort()).toEqual(ids.slice(1).sort());
			expect(rig.sender.to(url)).toEqual(ids);
			expect((await rig.storage.readBacklogs({ projectId: rig.projectId, webhookIds: [id] })).get(id)?.events).toBe(1);
			hang.resolve(200);
			await rig.settledCount(2_000);
			expect(rig.sender.to(url)).toEqual(ids);
		});

		test("after a crash the open events go out first, in order and within the current width, without settled ones", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("wide", { maxInFlight: 4 });
			const hang = Promise.withResolvers<number>();
			// The first four in flight: of these, the second and the fourth hang. So do the last two.
			rig.sender.script = (_shipment, nth) => ([2, 4, 19, 20].includes(nth) ? hang.promise : 200);
			const ids = await rig.publishAll(20);
			await rig.settledCount(16);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { maxInFlight: 1 } }),
			);
			await rig.crash();
			rig.sender.script = () => 200;
			rig.sender.forget();
			await rig.open();
			const [last] = await rig.publish(1);
			await rig.settledCount(21);
			expect(rig.sender.to(url)).toEqual([ids[1], ids[3], ids[18], ids[19], last]);
			expect(rig.sender.mostInFlight.get(url)).toBe(1);
			hang.resolve(200);
		});

		test("a test event goes only to its webhook, immediately, past a stuck lane, and isn't in the log", async () => {
			await using rig = await start();
			const stuck = await rig.webhook("stuck", { events: ["delivery.success", "chargeback.created"] });
			const other = await rig.webhook("other");
			let letGo = (): void => {};
			const hang = new Promise<number>((resolve) => {
				letGo = () => resolve(200);
			});
			rig.sender.script = ({ target, eventType }) =>
				target.url === stuck.url && eventType === "delivery.success" ? hang : 200;
			await rig.publish(1);
			await rig.settledCount(1);
			const result = await rig.engine.sendTest(rig.projectId, stuck.id, "chargeback.created");
			await rig.settledCount(2);
			expect(rig.settled[1]).toMatchObject({ webhookId: stuck.id, attempt: 1, replay: 0, status: "delivered" });
			expect(result).toEqual({ kind: "queued", eventId: rig.settled[1]!.eventId });
			expect(rig.sender.to(other.url)).toHaveLength(1);
			const log = await rig.storage.readLog({
				projectId: rig.projectId,
				after: 0,
				window: { maxEvents: 10, maxBytes: 1e6 },
			});
			expect(log.map((event) => event.seq)).toEqual([1]);
			letGo();
		});

		test("retention counts from publishing, however old created_at is", async () => {
			await using rig = await start();
			await rig.webhook("a");
			const draft = { type: "delivery.success", data: "{}", createdAt: rig.clock.now() - 60 * DAY_MS };
			await rig.engine.publish(rig.projectId, [draft]);
			await rig.settledCount(1);
			expect(rig.settled[0]).toMatchObject({ status: "delivered", errorCode: null });
		});

		test("events that a webhook doesn't want cost it nothing, and its next one isn't read from storage", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { url } = await rig.webhook("rare", { events: ["delivery.failed"] });
			const first = await rig.publish(1, "delivery.failed");
			await rig.settledCount(1);
			await storage.quiet();
			const calls = (): (number | undefined)[] => ["settle", "readLog"].map((method) => storage.calls.get(method));
			const before = calls();
			for (let published = 0; published < 3_000; published += 100) await rig.publishAll(100);
			await storage.quiet();
			expect(calls()).toEqual(before);
			const second = await rig.publish(1, "delivery.failed");
			await rig.settledCount(2);
			expect(rig.sender.to(url)).toEqual([...first, ...second]);
			expect(calls()[1]).toBe(before[1]);
			const { lanes } = await rig.storage.loadLanes({ projectId: rig.projectId });
			expect(lanes[0]?.position).toBe(3_002);
		});

		test("a lane that has skipped many events stores its position once it is visited", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("rare", { events: ["delivery.failed"] });
			// A lane that is loaded later reads what it skips, and is visited then.
			await rig.publish(1, "delivery.failed");
			await rig.settledCount(1);
			await storage.quiet();
			for (let published = 0; published < 2_000; published += 100) await rig.publishAll(100);
			await storage.quiet();
			const before = storage.calls.get("settle") ?? 0;
			// After an append whose result is unknown, every lane is visited.
			const visit = async (): Promise<void> => {
				storage.loseAnswer("appendEvents");
				await expect(rig.publish(1)).rejects.toThrow("went away");
				await storage.quiet();
			};
			await visit();
			const { lanes } = await rig.storage.loadLanes({ projectId: rig.projectId });
			expect(lanes[0]?.position).toBeGreaterThanOrEqual(2_000);
			await visit();
			expect(storage.calls.get("settle")).toBe(before + 1);
		});

		test("an event passed while another node was adding its type doesn't wait forever", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("a", { events: ["delivery.success"] });
			const { projectId } = rig;
			const [first] = await rig.publish(1);
			await rig.settledCount(1);
			// This node learns of the change after the next event.
			const events = ["delivery.success", "delivery.failed"];
			await rig.storage.updateWebhook({ projectId, webhookId: id, patch: { events } });
			await rig.publish(1, "delivery.failed");
			await rig.change(() => rig.storage.updateWebhook({ projectId, webhookId: id, patch: { description: "later" } }));
			await storage.quiet();
			const backlogs = await rig.storage.readBacklogs({ projectId, webhookIds: [id] });
			expect(backlogs.get(id)?.events).toBe(0);
			await rig.crash();
			await rig.open();
			const [third] = await rig.publish(1);
			await rig.settledCount(2);
			expect(rig.sender.to(url)).toEqual([first, third]);
		});

		test("events that another node appended in between aren't skipped", async () => {
			await using rig = await start();
			const { url } = await rig.webhook("a");
			const first = await rig.publish(1);
			await rig.settledCount(1);
			const event = {
				...{ id: rig.ids.next("event"), type: "delivery.failed", createdAt: rig.clock.now() },
				...{ createdAtGiven: false, body: Buffer.from("{}") },
			};
			// This node isn't notified.
			const request = { projectId: rig.projectId, publishedAt: rig.clock.now(), events: [event] };
			await rig.storage.appendEvents({ requests: [request], waits: false });
			const third = await rig.publish(1);
			await rig.settledCount(3);
			expect(rig.sender.to(url)).toEqual([...first, event.id, ...third]);
		});

		test("a lane whose stored position is far behind skips what it doesn't want after a restart", async () => {
			await using rig = await start();
			const { url } = await rig.webhook("rare", { events: ["delivery.failed"] });
			for (let published = 0; published < 3_000; published += 100) await rig.publishAll(100);
			await rig.close();
			await rig.open();
			const wanted = await rig.publish(1, "delivery.failed");
			await rig.settledCount(1);
			expect(rig.sender.to(url)).toEqual(wanted);
		});

		test("test events are due even if the clock was set back, and more of them than one read returns", async () => {
			await using rig = await start();
			const { id } = await rig.webhook("a");
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			const createdAt = rig.clock.now();
			for (let n = 0; n < WINDOWS.retriesPerQueue; n++) {
				const event = { id: rig.ids.next("event"), type: "delivery.success", createdAt, body: Buffer.from("{}") };
				await rig.storage.appendTestEvent({ projectId: rig.projectId, webhookId: id, event });
			}
			rig.clock.set(-DAY_MS);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "active" } }),
			);
			await rig.settledCount(WINDOWS.retriesPerQueue);
		});

		test("a test event that is paused for longer than the log is kept expires", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("forgotten");
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			const event = { id: rig.ids.next("event"), type: "delivery.success", createdAt: 0, body: Buffer.from("{}") };
			await rig.storage.appendTestEvent({ projectId: rig.projectId, webhookId: id, event });
			rig.wake();
			await leap(rig, storage, 30 * DAY_MS + 1);
			await rig.sweep();
			await rig.settledCount(1);
			expect(rig.settled[0]).toMatchObject({ eventId: event.id, status: "failed", errorCode: "expired", sent: null });
			expect(rig.sender.to(url)).toEqual([]);
		});

		test("a cancelled test event isn't sent again, even if its webhook is paused; a replay of it is", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("cancelled");
			rig.sender.script = () => 500;
			const event = { id: rig.ids.next("event"), type: "delivery.success", createdAt: 0, body: Buffer.from("{}") };
			const of = { projectId: rig.projectId, webhookId: id };
			await rig.storage.appendTestEvent({ ...of, event });
			rig.wake();
			await rig.settledCount(1);
			expect(await rig.storage.cancelTest({ ...of, eventId: event.id })).toBe("cancelled");
			rig.wake();
			await rig.settledCount(2);
			const closed = { eventId: event.id, attempt: 2, status: "failed", errorCode: "test_cancelled", sent: null };
			expect(rig.settled[1]).toMatchObject(closed);
			expect(rig.sender.to(url)).toEqual([event.id]);

			expect(await rig.storage.replayDelivery({ ...of, eventId: event.id, at: rig.clock.now() })).toMatchObject({
				replay: 1,
			});
			rig.wake();
			await rig.settledCount(3);
			expect(rig.settled[2]).toMatchObject({ attempt: 1, replay: 1, status: "retrying" });
			await rig.change(() => rig.storage.updateWebhook({ ...of, patch: { status: "paused" } }));
			expect(await rig.storage.cancelTest({ ...of, eventId: event.id })).toBe("cancelled");
			rig.wake();
			await rig.settledCount(4);
			expect(rig.settled[3]).toMatchObject({ ...closed, replay: 1 });
			expect(rig.sender.to(url)).toEqual([event.id, event.id]);
		});

		// PostgreSQL once refused its response time, so the project paused, and the receiver got the event again.
		test("an attempt during which the machine slept for a month is logged, with the longest response time", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { url } = await rig.webhook("slept");
			const slept = Promise.withResolvers<number>();
			rig.sender.script = () => slept.promise;
			const ids = await rig.publish(1);
			await rig.sentCount(1);
			await leap(rig, storage, 29 * DAY_MS);
			slept.resolve(200);
			await rig.settledCount(1);
			expect(rig.settled).toMatchObject([{ eventId: ids[0], status: "delivered", responseMs: 2 ** 31 - 1 }]);
			expect(rig.sender.to(url)).toEqual(ids);
		});

		test("events that age out while a webhook is paused are dead-lettered as expired, and logged", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("forgotten");
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			const old = await rig.publish(3);
			await leap(rig, storage, 20 * DAY_MS);
			const young = await rig.publish(2);
			await leap(rig, storage, 11 * DAY_MS);
			await rig.sweep();
			await rig.settledCount(3);
			expect(rig.settled.map((a) => [a.eventId, a.status, a.errorCode, a.attempt])).toEqual(
				old.map((eventId) => [eventId, "failed", "expired", 1]),
			);
			expect(rig.sender.to(url)).toEqual([]);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "active" } }),
			);
			await rig.settledCount(5);
			expect(rig.sender.to(url)).toEqual(young);
		});

		test("an open event whose type was taken off while paused is dropped, and stored as such", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("wide", { maxInFlight: 2 });
			rig.sender.script = (_shipment, nth) => (nth === 1 ? new Promise(() => {}) : 200);
			const ids = await rig.publishAll(2);
			await rig.settledCount(1);
			const change = (patch: { status: "paused" } | { events: string[] }) =>
				rig.change(() => rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch }));
			await change({ status: "paused" });
			await rig.crash();
			await rig.open();
			await change({ events: ["delivery.failed"] });
			await storage.quiet();
			await leap(rig, storage, DAY_MS);
			expect((await rig.storage.loadLanes({ projectId: rig.projectId })).lanes[0]).toMatchObject({ open: [] });
			await leap(rig, storage, 31 * DAY_MS);
			await rig.sweep();
			await storage.quiet();
			expect(await rig.storage.readEvents({ projectId: rig.projectId, seqs: [1] })).toEqual([]);
			expect(rig.sender.to(url)).toEqual(ids);
		});

		test("an open event that is paused for longer than the log is kept expires, and isn't sent again", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("wide", { maxInFlight: 2 });
			rig.sender.script = (_shipment, nth) => (nth === 1 ? new Promise(() => {}) : 200);
			const [open, settled] = await rig.publishAll(2);
			await rig.settledCount(1);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			const [lane] = (await rig.storage.loadLanes({ projectId: rig.projectId })).lanes;
			expect(lane).toMatchObject({ position: 2, open: [1] });
			await rig.crash();
			await rig.open();
			await leap(rig, storage, 31 * DAY_MS);
			await rig.sweep();
			await rig.settledCount(2);
			expect(rig.settled.map((a) => [a.eventId, a.status, a.errorCode, a.attempt, a.replay])).toEqual([
				[settled, "delivered", null, 1, 0],
				[open, "failed", "expired", 1, 0],
			]);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "active" } }),
			);
			const [next] = await rig.publish(1);
			await rig.settledCount(3);
			expect(rig.sender.to(url)).toEqual([open, settled, next]);
			expect((await rig.storage.loadLanes({ projectId: rig.projectId })).lanes[0]).toMatchObject({
				position: 3,
				open: [],
			});
		});

		// They once waited forever: gone from the log, and sent months later when the webhook was resumed.
		test("retries and replays that are paused for longer than the log is kept expire", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("forgotten");
			rig.sender.script = () => 500;
			const [early, late] = await rig.publish(2);
			await rig.settledCount(2);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			await leap(rig, storage, 30 * DAY_MS);
			await rig.sweep();
			await leap(rig, storage, 60_000);
			await rig.sweep();
			await rig.settledCount(4);
			expect(rig.settled.slice(2).map((a) => [a.eventId, a.status, a.errorCode, a.attempt, a.sent])).toEqual(
				[early, late].map((eventId) => [eventId, "failed", "expired", 2, null]),
			);
			expect(rig.sender.to(url)).toEqual([early, late]);
			const replayed = await rig.storage.replayDelivery({
				projectId: rig.projectId,
				webhookId: id,
				eventId: early!,
				at: rig.clock.now(),
			});
			expect(replayed).toMatchObject({ kind: "queued", replay: 1 });
			rig.wake();
			await leap(rig, storage, 30 * DAY_MS + 1);
			await rig.sweep();
			await rig.settledCount(5);
			expect(rig.settled[4]).toMatchObject({ eventId: early, replay: 1, attempt: 1, errorCode: "expired" });
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "active" } }),
			);
			const [next] = await rig.publish(1);
			await rig.settledCount(6);
			expect(rig.sender.to(url)).toEqual([early, late, next]);
		});
	});
}

/**
 * Advances the clock by this much in one step, and then until leases are renewed, since the leap ended them. A lease
 * that is being acquired during the leap would arrive expired, and nothing would advance the clock to its renewal.
 */
async function leap(rig: EngineRig, storage: FaultyStorage, ms: number): Promise<void> {
	await storage.quiet();
	rig.clock.advance(ms);
	await storage.pass(rig.clock, LEASE_TERM_MS / 2);
}
