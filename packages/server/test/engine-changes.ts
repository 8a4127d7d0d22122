import { randomBytes } from "node:crypto";
import { patience } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { Seal } from "../src/base/seal.ts";
import { DAY_MS, type EngineRig, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const MINUTE_MS = 60_000;

/** Lets minutes pass until `count` attempts are settled: a lease that is released meanwhile sets its alarm a minute ahead. */
async function settledInTime(rig: EngineRig, storage: FaultyStorage, count: number): Promise<void> {
	const stillInTime = patience(`${count} attempts to be settled`);
	while (rig.settled.length < count) {
		stillInTime();
		await storage.pass(rig.clock, MINUTE_MS);
	}
}

/** Webhooks that change while events and attempts are in flight. */
export function describeChanges(start: StartRig): void {
	describe("changes of webhooks", () => {
		test("a paused webhook sends nothing and keeps its events; resumed, it sends them in order", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("paused");
			const before = await rig.publish(2);
			await rig.settledCount(2);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			const waiting = await rig.publish(5);
			expect((await rig.storage.readBacklogs({ projectId: rig.projectId, webhookIds: [id] })).get(id)).toMatchObject({
				events: 5,
			});
			expect(rig.sender.to(url)).toEqual(before);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "active" } }),
			);
			await rig.settledCount(7);
			expect(rig.sender.to(url)).toEqual([...before, ...waiting]);
		});

		test("resuming from now skips the backlog, and closes and logs pending retries as skipped", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("resumed");
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : 200);
			const [failed] = await rig.publish(1);
			await rig.settledCount(1);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			await rig.publish(5);
			await rig.change(() =>
				rig.storage.updateWebhook({
					projectId: rig.projectId,
					webhookId: id,
					patch: { status: "active", from: "now" },
				}),
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
			expect(
				await rig.storage.getDelivery({ projectId: rig.projectId, webhookId: id, eventId: failed! }),
			).toMatchObject({ state: "dead_lettered" });
		});

		test("an added type starts with the next event, and a removed one stops immediately", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("edited", { events: ["delivery.success"] });
			await rig.publish(1, "delivery.failed");
			const [first] = await rig.publish(1, "delivery.success");
			await rig.settledCount(1);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { events: ["delivery.failed"] } }),
			);
			await rig.publish(1, "delivery.success");
			const [second] = await rig.publish(1, "delivery.failed");
			await rig.settledCount(2);
			expect(rig.sender.to(url)).toEqual([first, second]);
		});

		test("an event published while a type is being added isn't skipped", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("racing", { events: ["delivery.success"] });
			const [warm] = await rig.publish(1, "delivery.success");
			await rig.settledCount(1);
			const published = await rig.change(async () => {
				await rig.storage.updateWebhook({
					projectId: rig.projectId,
					webhookId: id,
					patch: { events: ["delivery.success", "delivery.failed"] },
				});
				// Committed after the change, and announced before the lanes have read the change.
				return rig.publish(20, "delivery.failed");
			});
			await rig.settledCount(21);
			expect(rig.sender.to(url)).toEqual([warm, ...published]);
		});

		// It stopped the whole project, until a restart or up to an hour after the secret was rotated.
		test("a webhook whose secret no key opens waits until it is rotated, and others of the project deliver", async () => {
			await using rig = await start();
			const { projectId } = rig;
			const { id, url } = await rig.webhook("unreadable");
			const other = await rig.webhook("other");
			const rotate = (seal: Seal) => {
				const sealedDigest = seal.seal(randomBytes(32), id);
				return rig.change(() => rig.storage.rotateSecret({ projectId, webhookId: id, sealedDigest }), {
					webhookId: id,
				});
			};
			rig.sender.script = ({ target }, nth) => (target.url === url && nth <= 2 ? 500 : 200);
			const failed = await rig.publish(1);
			await rig.settledCount(2);
			await rotate(new Seal([randomBytes(32)]));
			const waiting = await rig.publish(2);
			await rig.settledCount(4);
			await rig.close();
			await rig.open();
			waiting.push(...(await rig.publish(1)));
			await rig.settledCount(5);
			rig.clock.advance(DAY_MS);
			waiting.push(...(await rig.publish(1)));
			await rig.settledCount(6);
			expect(rig.sender.to(url)).toEqual(failed);
			expect(rig.sender.to(other.url)).toEqual([...failed, ...waiting]);
			const backlog = (await rig.storage.readBacklogs({ projectId, webhookIds: [id] })).get(id);
			expect(backlog).toMatchObject({ events: 4 });
			// Once per start.
			expect(rig.logged).toEqual(
				Array(2).fill(expect.stringContaining("no seal key opens this webhook's signing secret")),
			);
			await rotate(rig.seal);
			await rig.settledCount(11);
			expect(rig.sender.to(url).slice(1).toSorted()).toEqual([...failed, ...waiting].toSorted());
			expect(rig.sender.to(url).filter((eventId) => waiting.includes(eventId))).toEqual(waiting);
		});

		test("a webhook delivers soon after a node that has its seal key has sealed its secret again", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { projectId } = rig;
			const { id, url } = await rig.webhook("resealed");
			const from = new Seal([randomBytes(32)]).seal(randomBytes(32), id);
			await rig.change(() => rig.storage.rotateSecret({ projectId, webhookId: id, sealedDigest: from }));
			const waiting = await rig.publish(2);
			const sealedDigest = rig.seal.seal(randomBytes(32), id);
			await rig.storage.resealSecret({ projectId, webhookId: id, from, sealedDigest, sealedStandardDigest: null });
			await settledInTime(rig, storage, 2);
			expect(rig.sender.to(url)).toEqual(waiting);
		});

		// Nothing woke the project until the next event or change.
		test("a webhook delivers its backlog once the service starts with the key that sealed its secret", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { projectId } = rig;
			const { id, url } = await rig.webhook("restored");
			const missing = new Seal([randomBytes(32)]);
			const sealedDigest = missing.seal(randomBytes(32), id);
			await rig.change(() => rig.storage.rotateSecret({ projectId, webhookId: id, sealedDigest }));
			const waiting = await rig.publish(2);
			await rig.close();
			rig.seal = missing;
			await rig.open();
			await settledInTime(rig, storage, 2);
			expect(rig.sender.to(url)).toEqual(waiting);
		});

		test("pending deliveries of a deleted webhook are closed and logged immediately, due or not", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("deleted");
			const witness = await rig.webhook("witness", { events: ["chargeback.created"] });
			rig.sender.script = () => 500;
			// More than one window of the queue.
			const ids = await rig.publishAll(300);
			await rig.settledCount(300);
			await rig.change(() =>
				rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
			);
			await rig.publish(3);
			await rig.change(() => rig.storage.deleteWebhook({ projectId: rig.projectId, webhookId: id }));
			await rig.settledCount(600);
			const closed = rig.settled.slice(300);
			expect(closed.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted());
			for (const attempt of closed)
				expect(attempt).toMatchObject({
					...{ webhookId: id, attempt: 2, status: "failed", errorCode: "deleted" },
					...{ nextRetryAt: null, sent: null, url },
				});
			expect(rig.sender.to(url)).toHaveLength(300);
			rig.clock.advance(DAY_MS);
			rig.sender.script = () => 200;
			await rig.publish(1, "chargeback.created");
			await rig.settledCount(601);
			expect(rig.sender.to(witness.url)).toHaveLength(1);
			expect(rig.sender.to(url)).toHaveLength(300);
			await rig.engine.stop();
			expect(
				(await rig.storage.loadLanes({ projectId: rig.projectId })).lanes.map(({ webhookId }) => webhookId),
			).toEqual([witness.id]);
		});

		test("closing a deleted webhook's pending deliveries continues after a restart", async () => {
			await using rig = await start();
			const { id } = await rig.webhook("deleted");
			rig.sender.script = () => 500;
			const ids = await rig.publishAll(3);
			await rig.settledCount(3);
			await rig.engine.stop();
			await rig.storage.deleteWebhook({ projectId: rig.projectId, webhookId: id });
			await rig.storage.close();
			await rig.open();
			await rig.settledCount(6);
			expect(rig.settled.slice(3)).toMatchObject(ids.map((eventId) => ({ eventId, errorCode: "deleted" })));
		});

		// The attempt was settled as "retrying" just before the webhook was deleted, and stored right after it. The log said
		// for good that it was being retried.
		test.each(["loaded", "not loaded"])(
			"an attempt that is stored after its webhook was deleted is followed by a closing, with the change %s",
			async (when) => {
				const { promise: deleted, resolve: continues } = Promise.withResolvers<void>();
				const settling = Promise.withResolvers<void>();
				const calls = new FaultyStorage();
				await using rig = await start((storage) => {
					const settle = storage.settle.bind(storage);
					storage.settle = async (p) => {
						if (p.settlements.some(({ schedule }) => schedule.length > 0)) {
							settling.resolve();
							await deleted;
						}
						return settle(p);
					};
					return calls.wrap(storage);
				});
				const { id } = await rig.webhook("deleted");
				rig.sender.script = () => 500;
				await rig.publish(1);
				await settling.promise;
				const remove = () => rig.storage.deleteWebhook({ projectId: rig.projectId, webhookId: id });
				if (when === "loaded") await rig.change(remove);
				else await remove();
				continues();
				await rig.settledCount(1);
				expect(rig.settled[0]).toMatchObject({ attempt: 1, status: "retrying" });
				if (when === "not loaded") await rig.change(async () => undefined);
				await rig.settledCount(2);
				expect(rig.settled[1]).toMatchObject({ attempt: 2, status: "failed", errorCode: "deleted", nextRetryAt: null });
				// Stopped earlier, it leaves the end of the deletion to the next owner.
				await calls.quiet();
				await rig.engine.stop();
				expect((await rig.storage.loadLanes({ projectId: rig.projectId })).lanes).toEqual([]);
			},
		);

		test("a deleted webhook gets nothing more, and its attempt in flight isn't retried", async () => {
			await using rig = await start();
			const { id, url } = await rig.webhook("deleted");
			let answer = (_status: number): void => {};
			rig.sender.script = () => new Promise<number>((resolve) => (answer = resolve));
			await rig.publish(3);
			await rig.sentCount(1);
			await rig.change(() => rig.storage.deleteWebhook({ projectId: rig.projectId, webhookId: id }));
			answer(500);
			await rig.settledCount(1);
			expect(rig.settled[0]).toMatchObject({ status: "failed", nextRetryAt: null });
			rig.clock.advance(DAY_MS);
			rig.sender.script = () => 200;
			const other = await rig.webhook("other");
			await rig.publish(1);
			await rig.sentWhen("a request to the other webhook", (sent) => sent.some((request) => request.url === other.url));
			expect(rig.sender.to(url)).toHaveLength(1);
		});
	});
}
