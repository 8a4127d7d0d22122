import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { StorageError } from "../src/storage/port.ts";
import { DAY_MS, EngineRig, SPEC_DELAYS_MS } from "./engine-rig.ts";

/** Lets whatever is not waiting for the clock come to rest: `count` attempts settled, then on to the next timer. */
async function series(rig: EngineRig, count: number): Promise<void> {
	for (let n = rig.settled.length + 1; n <= count; n++) {
		let settled = false;
		const wait = rig.settledCount(n).then(() => {
			settled = true;
		});
		while (!settled) {
			await new Promise((resolve) => setImmediate(resolve));
			const due = rig.settled.at(-1)?.nextRetryAt;
			if (due && !settled) rig.clock.advanceTo(due);
		}
		await wait;
	}
}

test("eight failures come exactly after the spec's delays, to the millisecond, and end in the dead letters", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
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
	const delivery = await rig.storage.getDelivery(rig.projectId, id, eventId!);
	expect(delivery).toMatchObject({ state: "dead_lettered", attempt: 8, replay: 0, nextRetryAt: null });
	expect(delivery!.attempts).toHaveLength(8);
	rig.clock.advance(2 * DAY_MS);
	expect(rig.sender.sent).toHaveLength(8);
});

test("eight timeouts of 15 s span 1 h 50 min 30 s: each delay counts from the end of the attempt before", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	await rig.webhook("silent");
	rig.sender.script = () => {
		rig.clock.advance(15_000);
		return "timeout";
	};
	const begun = rig.clock.now();
	await rig.publish(1);
	await series(rig, 8);
	expect(rig.settled.at(-1)!.startedAt + rig.settled.at(-1)!.responseMs - begun).toBe((1 * 60 + 50) * 60_000 + 30_000);
	expect(rig.settled.map((a) => a.errorCode)).toEqual(Array(8).fill("timeout"));
});

test("a success at any attempt ends the series", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id } = await rig.webhook("recovers");
	rig.sender.script = (_shipment, nth) => (nth < 4 ? 503 : 204);
	const [eventId] = await rig.publish(1);
	await series(rig, 4);
	expect(rig.settled.map((a) => a.status)).toEqual(["retrying", "retrying", "retrying", "delivered"]);
	expect(await rig.storage.getDelivery(rig.projectId, id, eventId!)).toMatchObject({ state: "delivered", attempt: 4 });
	expect(rig.clock.now() - rig.settled[0]!.startedAt).toBe(30_000 + 60_000 + 120_000);
});

test("first attempts go out one at a time in log order, and failures among them hold nothing up", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { url } = await rig.webhook("a");
	rig.sender.script = (_shipment, nth) => (nth % 3 === 0 ? 500 : 200);
	const ids = [...(await rig.publish(40)), ...(await rig.publishAll(300)), ...(await rig.publish(40))];
	await rig.settledCount(ids.length);
	expect(rig.sender.to(url)).toEqual(ids);
	expect(rig.sender.mostInFlight.get(url)).toBe(1);
});

test("a webhook gets only the types that it subscribed to, from the first event after it was made", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	await rig.publish(3);
	const some = await rig.webhook("some", { events: ["chargeback.created"] });
	const all = await rig.webhook("all");
	const others = await rig.publish(5);
	const [chargeback] = await rig.publish(1, "chargeback.created");
	await rig.settledCount(7);
	expect(rig.sender.to(some.url)).toEqual([chargeback]);
	expect(rig.sender.to(all.url)).toEqual([...others, chargeback]);
});

test("a receiver that hangs holds up its own lane alone", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const hanging = await rig.webhook("hanging");
	const sound = await rig.webhook("sound");
	let letGo = (): void => {};
	const hang = new Promise<number>((resolve) => {
		letGo = () => resolve(200);
	});
	rig.sender.script = (shipment) => (shipment.target.url === hanging.url ? hang : 200);
	const ids = await rig.publish(50);
	await rig.until(() => rig.sender.to(sound.url).length === 50);
	expect(rig.sender.to(hanging.url)).toEqual([ids[0]]);
	letGo();
	await rig.settledCount(100);
	expect(rig.sender.to(hanging.url)).toEqual(ids);
});

test("max_in_flight lets as many first attempts run at once, and a restart sends none of the settled ones again", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { url } = await rig.webhook("wide", { maxInFlight: 5 });
	let letGo = (): void => {};
	const first = new Promise<number>((resolve) => {
		letGo = () => resolve(200);
	});
	rig.sender.script = (_shipment, nth) => (nth === 1 ? first : 200);
	const ids = await rig.publishAll(50);
	await rig.settledCount(49);
	expect(rig.sender.mostInFlight.get(url)).toBe(5);
	// The first hangs, 49 beyond it are settled. The node stops: what is under way is finished and settled.
	const stopping = rig.close();
	letGo();
	await stopping;
	await rig.open();
	const [last] = await rig.publish(1);
	await rig.until(() => rig.sender.to(url).at(-1) === last);
	expect(rig.sender.to(url)).toEqual([...ids, last]);
});

test("paused, nothing is sent and events wait; resumed, they go out in order", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("paused");
	const before = await rig.publish(2);
	await rig.settledCount(2);
	await rig.engine.change(rig.projectId, () => rig.storage.updateWebhook(rig.projectId, id, { status: "paused" }));
	const waiting = await rig.publish(5);
	expect((await rig.storage.readBacklogs(rig.projectId, [id])).get(id)).toMatchObject({ events: 5 });
	expect(rig.sender.to(url)).toEqual(before);
	await rig.engine.change(rig.projectId, () => rig.storage.updateWebhook(rig.projectId, id, { status: "active" }));
	await rig.settledCount(7);
	expect(rig.sender.to(url)).toEqual([...before, ...waiting]);
});

test("resumed from now, what waited is left out, and a waiting retry is closed as skipped and logged", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("resumed");
	rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : 200);
	const [failed] = await rig.publish(1);
	await rig.settledCount(1);
	await rig.engine.change(rig.projectId, () => rig.storage.updateWebhook(rig.projectId, id, { status: "paused" }));
	await rig.publish(5);
	await rig.engine.change(rig.projectId, () =>
		rig.storage.updateWebhook(rig.projectId, id, { status: "active", from: "now" }),
	);
	const [next] = await rig.publish(1);
	await rig.settledCount(2);
	expect(rig.sender.to(url)).toEqual([failed, next]);
	rig.clock.advanceTo(rig.settled[0]!.nextRetryAt!);
	await rig.settledCount(3);
	expect(rig.settled[2]).toMatchObject({
		eventId: failed,
		attempt: 2,
		status: "failed",
		errorCode: "skipped",
		sent: null,
	});
	expect(rig.sender.to(url)).toEqual([failed, next]);
	expect(await rig.storage.getDelivery(rig.projectId, id, failed!)).toMatchObject({ state: "dead_lettered" });
});

test("a type that is added begins with the next event, and one that is taken off ends at once", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("edited", { events: ["delivery.success"] });
	await rig.publish(1, "delivery.failed");
	const [first] = await rig.publish(1, "delivery.success");
	await rig.settledCount(1);
	await rig.engine.change(rig.projectId, () =>
		rig.storage.updateWebhook(rig.projectId, id, { events: ["delivery.failed"] }),
	);
	await rig.publish(1, "delivery.success");
	const [second] = await rig.publish(1, "delivery.failed");
	await rig.settledCount(2);
	expect(rig.sender.to(url)).toEqual([first, second]);
});

test("an event published while a type is being added is not passed over", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("racing", { events: ["delivery.success"] });
	const [warm] = await rig.publish(1, "delivery.success");
	await rig.settledCount(1);
	const [, published] = await Promise.all([
		rig.engine.change(rig.projectId, async () => {
			await rig.storage.updateWebhook(rig.projectId, id, { events: ["delivery.success", "delivery.failed"] });
			// Committed after the change, and heard of before the lanes have read it.
			return rig.publish(20, "delivery.failed");
		}),
		Promise.resolve([]),
	]);
	expect(published).toEqual([]);
	await rig.settledCount(21);
	expect(rig.sender.to(url)).toHaveLength(21);
	expect(rig.sender.to(url)[0]).toBe(warm);
});

test("a deleted webhook gets nothing more, and its failed attempt under way is not retried", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("deleted");
	let answer = (_status: number): void => {};
	rig.sender.script = () => new Promise<number>((resolve) => (answer = resolve));
	await rig.publish(3);
	await rig.sentCount(1);
	await rig.engine.change(rig.projectId, () => rig.storage.deleteWebhook(rig.projectId, id));
	answer(500);
	await rig.settledCount(1);
	expect(rig.settled[0]).toMatchObject({ status: "failed", nextRetryAt: null });
	rig.clock.advance(DAY_MS);
	expect(rig.sender.to(url)).toHaveLength(1);
});

test("a replay is a new series with the same event id; what is still attempting cannot be replayed", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id } = await rig.webhook("replayed");
	rig.sender.script = () => 500;
	const [eventId] = await rig.publish(1);
	await rig.settledCount(1);
	expect(await rig.storage.replayDelivery(rig.projectId, id, eventId!, rig.clock.now())).toEqual({
		kind: "attempting",
	});
	await series(rig, 8);
	expect(await rig.storage.replayDelivery(rig.projectId, id, eventId!, rig.clock.now())).toEqual({
		kind: "queued",
		replay: 1,
	});
	rig.engine.wake(rig.projectId);
	await rig.settledCount(9);
	expect(rig.settled[8]).toMatchObject({ eventId, attempt: 1, replay: 1, status: "retrying" });
	rig.sender.script = () => 200;
	await series(rig, 10);
	expect(rig.settled[9]).toMatchObject({ attempt: 2, replay: 1, status: "delivered" });
	expect(await rig.storage.getDelivery(rig.projectId, id, eventId!)).toMatchObject({
		state: "delivered",
		attempt: 2,
		replay: 1,
	});
	expect(await rig.storage.replayDelivery(rig.projectId, id, eventId!, rig.clock.now())).toEqual({
		kind: "queued",
		replay: 2,
	});
	rig.engine.wake(rig.projectId);
	await rig.settledCount(11);
	expect(rig.settled[10]).toMatchObject({ attempt: 1, replay: 2, status: "delivered" });
});

test("replaying all that failed sends the oldest first, beside the lane", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("bulk");
	rig.sender.script = () => "connection_refused";
	const ids = await rig.publishAll(30);
	await rig.settledCount(30);
	for (let attempt = 2; attempt <= 8; attempt++) {
		rig.clock.advance(SPEC_DELAYS_MS[attempt - 2]!);
		await rig.settledCount(30 * attempt);
	}
	rig.sender.script = () => 200;
	const { count } = await rig.storage.replayFailed(rig.projectId, id, {}, rig.clock.now(), 1000);
	expect(count).toBe(30);
	rig.engine.wake(rig.projectId);
	await rig.settledCount(270);
	expect(rig.sender.to(url).slice(240)).toEqual(ids);
	expect((await rig.storage.replayFailed(rig.projectId, id, {}, rig.clock.now(), 1000)).count).toBe(0);
});

test("a test event goes to its webhook alone, at once, past a lane that is stuck, and is not in the log", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const stuck = await rig.webhook("stuck", { events: ["delivery.success"] });
	const other = await rig.webhook("other");
	let letGo = (): void => {};
	const hang = new Promise<number>((resolve) => {
		letGo = () => resolve(200);
	});
	rig.sender.script = (shipment, nth) => (shipment.target.url === stuck.url && nth <= 2 ? hang : 200);
	await rig.publish(1);
	await rig.settledCount(1);
	const result = await rig.engine.sendTest(rig.projectId, stuck.id, "chargeback.created");
	await rig.settledCount(2);
	expect(rig.settled[1]).toMatchObject({ webhookId: stuck.id, attempt: 1, replay: 0, status: "delivered" });
	expect(result).toEqual({ kind: "queued", eventId: rig.settled[1]!.eventId });
	expect(rig.sender.to(other.url)).toHaveLength(1);
	const log = await rig.storage.readLog(rig.projectId, 0, { maxEvents: 10, maxBytes: 1e6 });
	expect(log.map((event) => event.seq)).toEqual([1]);
	letGo();
});

test("events that age out while a webhook is paused are dead-lettered as expired, and logged", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("forgotten");
	await rig.engine.change(rig.projectId, () => rig.storage.updateWebhook(rig.projectId, id, { status: "paused" }));
	const old = await rig.publish(3);
	rig.clock.advance(20 * DAY_MS);
	const young = await rig.publish(2);
	rig.clock.advance(11 * DAY_MS);
	await rig.engine.sweep();
	await rig.settledCount(3);
	expect(rig.settled.map((a) => [a.eventId, a.status, a.errorCode, a.attempt])).toEqual(
		old.map((eventId) => [eventId, "failed", "expired", 1]),
	);
	expect(rig.sender.to(url)).toEqual([]);
	await rig.engine.change(rig.projectId, () => rig.storage.updateWebhook(rig.projectId, id, { status: "active" }));
	await rig.settledCount(5);
	expect(rig.sender.to(url)).toEqual(young);
});

test("while storage refuses commits outcomes wait, and nothing is lost or sent twice", async () => {
	let failures = 0;
	let recovered = false;
	await using rig = await EngineRig.start(new VirtualClock(), (storage) => {
		const settle = storage.settle.bind(storage);
		storage.settle = (settlements) => {
			recovered = failures === 0;
			if (failures-- > 0) return Promise.reject(new StorageError("full", "The disk is full."));
			return settle(settlements);
		};
		return storage;
	});
	const { url } = await rig.webhook("patient");
	failures = 5;
	recovered = false;
	const ids = await rig.publish(20);
	while (!recovered) {
		await new Promise((resolve) => setImmediate(resolve));
		rig.clock.advance(100);
	}
	await rig.settledCount(20);
	expect(rig.sender.to(url)).toEqual(ids);
	expect(rig.settled.map((a) => a.eventId)).toEqual(ids);
});

test("a node that slept beyond its term settles nothing once another holds the project", async () => {
	await using rig = await EngineRig.start(new VirtualClock());
	const { id, url } = await rig.webhook("asleep");
	let answer = (_status: number): void => {};
	rig.sender.script = () => new Promise<number>((resolve) => (answer = resolve));
	const [eventId] = await rig.publish(1);
	await rig.sentCount(1);
	// The machine sleeps: time passes, and no timer of this node fires before another node has taken the project.
	const late = rig.clock.now() + 60_000;
	const now = rig.clock.now.bind(rig.clock);
	rig.clock.now = () => late;
	const taken = await rig.storage.acquireLeases("another node", 1, [rig.projectId]);
	expect(taken).toHaveLength(1);
	answer(200);
	const lost = await rig.storage.settle([
		{
			projectId: rig.projectId,
			generation: taken[0]!.generation - 1,
			attempts: [],
			schedule: [],
			unschedule: [],
			lanes: [],
		},
	]);
	expect(lost).toEqual(["stale"]);
	rig.clock.now = now;
	expect(await rig.storage.getDelivery(rig.projectId, id, eventId!)).toMatchObject({
		state: "attempting",
		attempts: [],
	});
	expect(rig.sender.to(url)).toHaveLength(1);
	expect(rig.settled).toEqual([]);
});
