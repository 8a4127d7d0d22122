import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventSweepStep, SweepStep } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, START, World } from "./world.ts";

const DAY = 86_400_000;

export function describeRetention(harness: StorageHarness): void {
	describe("retention", () => {
		let world: World;
		beforeEach(async () => {
			world = await World.open(harness);
		});
		afterEach(() => world.dispose());

		/** A whole pass in steps of two rows. */
		async function pass(step: (limit: number, from: number) => Promise<SweepStep & Partial<EventSweepStep>>) {
			const sum = { deleted: 0, unattempted: new Set<string>() };
			let from = 0;
			for (let steps = 0; ; steps++) {
				expect(steps).toBeLessThan(100);
				const { deleted, next, unattempted = [] } = await step(2, from);
				sum.deleted += deleted;
				for (const project of unattempted) sum.unattempted.add(project);
				if (next === null) return { deleted: sum.deleted, unattempted: [...sum.unattempted].sort() };
				from = next;
			}
		}
		const sweepAttempts = (cutoff: number) =>
			pass((limit, from) => world.storage.sweepAttempts({ cutoff, limit, from }));
		const sweepEvents = (cutoff: number) => pass((limit, from) => world.storage.sweepEvents({ cutoff, limit, from }));
		const seqs = async (project: string) => (await world.log(project)).map(({ seq }) => seq);

		test("log entries older than the cutoff are deleted, with their dead letters", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a", "a");
			const lease = await world.lease(project);
			for (const [i, event] of events.entries())
				await world.finish(lease, webhook, event, i % 2 === 0 ? "failed" : "delivered", { startedAt: START + i * DAY });
			expect((await world.storage.gauges()).deadLetters).toBe(3);
			expect((await sweepAttempts(START + 3 * DAY)).deleted).toBe(3);
			const { rows } = await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL });
			expect(rows.map(({ seq }) => seq)).toEqual([5, 4]);
			expect((await world.storage.gauges()).deadLetters).toBe(1);
			expect((await sweepAttempts(START + 3 * DAY)).deleted).toBe(0);
		});

		// A pass ended at the first of them, so the log grew until their time had come.
		test("events and attempts from a clock that was ahead don't keep later ones from being deleted", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["b"]);
			await world.publish(project, "a", "a");
			world.clock.time += 400 * DAY;
			await world.publish(project, "a", "a", "a");
			world.clock.time -= 399 * DAY;
			await world.publish(project, "a", "a");
			const [logged] = await world.publish(project, "b");
			const lease = await world.lease(project);
			await world.finish(lease, webhook, logged!, "delivered", { startedAt: START + DAY });
			const latest = START + 10 * DAY;
			const cutoff = START + DAY;
			await pass((limit, from) => world.storage.sweepAttempts({ cutoff, limit, from, latest }));
			await pass((limit, from) => world.storage.sweepEvents({ cutoff, limit, from, latest }));
			expect(await seqs(project)).toEqual([3, 4, 5, 6, 7, 8]);
			const later = { cutoff: START + 2 * DAY, latest };
			await pass((limit, from) => world.storage.sweepAttempts({ ...later, limit, from }));
			await pass((limit, from) => world.storage.sweepEvents({ ...later, limit, from }));
			expect(await seqs(project)).toEqual([3, 4, 5]);
		});

		test("a dead letter that is being replayed isn't subtracted twice", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			// The last one stays, so that an excess subtraction shows: counters stop at 0.
			for (const [i, event] of events.entries())
				await world.finish(lease, webhook, event, "failed", { startedAt: i < 2 ? START : START + 2 * DAY });
			await world.storage.replayDelivery({
				projectId: project,
				webhookId: webhook,
				eventId: events[0]!.id,
				at: START + DAY,
			});
			expect((await sweepAttempts(START + DAY)).deleted).toBe(2);
			expect(await world.storage.gauges()).toMatchObject({ deadLetters: 1, retriesWaiting: 1 });
			await world.finish(lease, webhook, events[0]!, "failed", { replay: 1, startedAt: START + 2 * DAY });
			expect((await world.storage.gauges()).deadLetters).toBe(2);
		});

		test("deleted dead letters are subtracted from their own webhook", async () => {
			const project = await world.project();
			const [old, young] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			await world.finish(lease, old, event!, "failed", { startedAt: START });
			await world.finish(lease, young, event!, "failed", { startedAt: START + 2 * DAY });
			expect((await sweepAttempts(START + DAY)).deleted).toBe(1);
			const health = await world.storage.readHealth({ projectId: project, since: START });
			const count = (webhook: string) => health.find(({ webhookId }) => webhookId === webhook)?.deadLetters;
			expect([count(old), count(young)]).toEqual([0, 1]);
		});

		test("an entry written after newer ones is deleted with others of its age", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a");
			const lease = await world.lease(project);
			// An attempt is logged when it ends: a slow one comes after later ones, and after one of a node whose clock is
			// ahead.
			for (const [i, startedAt] of [DAY + 1, DAY + 900_000, DAY + 2, DAY - 60_000].entries())
				await world.finish(lease, webhook, events[i]!, "delivered", { startedAt: START + startedAt });
			expect((await sweepAttempts(START + DAY)).deleted).toBe(1);
			const { rows } = await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL });
			expect(rows.map(({ seq }) => seq)).toEqual([2, 3, 1]);
		});

		test("an event is deleted once it is past retention and every lane has passed it, and not before its log entries", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "b", "a");
			world.clock.time = START + 2 * DAY;
			await world.publish(project, "a");
			const lease = await world.lease(project);
			await world.finish(lease, webhook, events[0]!, "delivered", { startedAt: START });
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 4, open: [] }] });
			expect(await sweepEvents(START + DAY)).toEqual({ deleted: 2, unattempted: [] });
			expect(await seqs(project)).toEqual([1, 4]);
			await sweepAttempts(START + DAY);
			expect((await sweepEvents(START + DAY)).deleted).toBe(1);
			expect(await seqs(project)).toEqual([4]);
			const [next] = await world.publish(project, "a");
			expect(next!.seq).toBe(5);
		});

		// An entry without an event made the log unreadable, and a retry without one stayed forever.
		test("an attempt that ends after its webhook and its event were deleted leaves nothing", async () => {
			const project = await world.project();
			const [webhook, other] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			// The first two are in flight. Another webhook's attempt keeps the third.
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 3, open: [1, 2, 3] }] });
			await world.finish(lease, other, events[2]!, "delivered", { startedAt: START + 2 * DAY });
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			expect((await sweepEvents(START + DAY)).deleted).toBe(2);
			const attempts = events.map((event, i) =>
				world.attempt(webhook, event, { status: i === 1 ? "retrying" : "failed", startedAt: START + 2 * DAY }),
			);
			const retry = { webhookId: webhook, queue: "retry", replay: 0, attempt: 2, dueAt: START + 3 * DAY } as const;
			expect(await world.settle(lease, { attempts, schedule: [{ ...retry, seq: 2 }] })).toBe("settled");
			const { rows } = await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL });
			expect(rows.map(({ seq }) => seq)).toEqual([3, 3]);
			expect(new Set(rows.map(({ webhookId }) => webhookId))).toEqual(new Set([webhook, other]));
			expect(await world.queues(project, webhook)).toEqual([]);
			expect((await world.storage.loadLanes({ projectId: project })).lanes.map(({ webhookId }) => webhookId)).toEqual([
				other,
			]);
		});

		test("an event that a lane still has to attempt stays, and its project is woken", async () => {
			const [project, quiet] = [await world.project(), await world.project()];
			const webhook = await world.webhook(project, ["a"], { status: "paused" });
			await world.publish(project, "a", "b", "a", "a");
			await world.publish(quiet, "a");
			for (const each of [project, quiet]) {
				const lease = await world.lease(each);
				if (each === project) await world.settle(lease, { lanes: [{ webhookId: webhook, position: 3, open: [1] }] });
				await world.storage.releaseLease({
					lease,
					wakeAt: null,
					seen: (await world.storage.loadLanes({ projectId: each })).seen,
				});
			}
			expect(await world.storage.nextAlarm()).toBeNull();
			const swept = await sweepEvents(START + DAY);
			expect(swept.unattempted).toEqual([project]);
			expect(await world.storage.acquireLeases({ holder: "node_b", limit: 10 })).toMatchObject([
				{ projectId: project },
			]);
			// The second isn't subscribed to and the third is settled, but neither the first nor the fourth is.
			expect(await seqs(project)).toEqual([1, 4]);
			expect(await seqs(quiet)).toEqual([]);
			expect((await world.storage.readBacklogs({ projectId: project, webhookIds: [webhook] })).get(webhook)).toEqual({
				events: 2,
				oldestSeq: 1,
				oldestAt: START,
			});
		});

		test("a project with an attempt that has been due since before the cutoff is woken", async () => {
			const [late, waiting] = [await world.project(), await world.project()];
			for (const [project, dueAt] of [[late, START + DAY - 1] as const, [waiting, START + DAY] as const]) {
				const webhook = await world.webhook(project, ["a"]);
				const [event] = await world.publish(project, "a");
				const lease = await world.lease(project);
				const retry = { webhookId: webhook, seq: event!.seq, queue: "retry", replay: 0, attempt: 2, dueAt } as const;
				await world.settle(lease, {
					attempts: [world.attempt(webhook, event!, { status: "retrying", statusCode: 500, nextRetryAt: dueAt })],
					schedule: [retry],
					lanes: [{ webhookId: webhook, position: event!.seq, open: [] }],
				});
				await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { status: "paused" } });
				await world.storage.releaseLease({
					lease,
					wakeAt: null,
					seen: (await world.storage.loadLanes({ projectId: project })).seen,
				});
			}
			expect(await world.storage.nextAlarm()).toBeNull();
			const swept = await sweepEvents(START + DAY);
			expect(swept.unattempted).toEqual([late]);
			expect(await world.storage.acquireLeases({ holder: "node_b", limit: 10 })).toMatchObject([{ projectId: late }]);
			expect(await seqs(late)).toEqual([1]);
		});

		test("an event stays while a retry, a replay or a test of it waits", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a");
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const lease = await world.lease(project);
			for (const event of events) await world.finish(lease, webhook, event, "failed", { startedAt: START });
			await world.storage.replayDelivery({
				projectId: project,
				webhookId: webhook,
				eventId: events[1]!.id,
				at: START + DAY,
			});
			await sweepAttempts(START + DAY);
			await sweepEvents(START + DAY);
			expect(await seqs(project)).toEqual([2]);
			expect(await world.storage.findEvent({ projectId: project, eventId: sample.id })).not.toBeNull();
			for (const seq of [2, -1]) await world.settle(lease, { unschedule: [{ webhookId: webhook, seq }] });
			await sweepEvents(START + DAY);
			expect(await seqs(project)).toEqual([]);
			expect(await world.storage.findEvent({ projectId: project, eventId: sample.id })).toBeNull();
		});

		test("an event that a lane started stays until it is settled, even if its type is no longer wanted", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 2, open: [1] }] });
			const patch = { events: ["b"], status: "paused" } as const;
			await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch });
			expect((await sweepEvents(START + DAY)).unattempted).toEqual([project]);
			expect(await seqs(project)).toEqual([1]);
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 2, open: [] }] });
			expect((await sweepEvents(START + DAY)).unattempted).toEqual([]);
			expect(await seqs(project)).toEqual([]);
		});

		test("events of many projects are deleted in one pass, except those that are needed", async () => {
			const projects = await Promise.all(Array.from({ length: 5 }, () => world.project()));
			const kept = projects[2]!;
			const webhook = await world.webhook(kept, ["b"], { status: "paused" });
			for (let n = 0; n < 3; n++) for (const project of projects) await world.publish(project, n === 1 ? "b" : "a");
			const swept = await pass((_, from) => world.storage.sweepEvents({ cutoff: START + DAY, limit: 4, from }));
			expect(swept).toEqual({ deleted: 14, unattempted: [kept] });
			for (const project of projects) expect(await seqs(project)).toEqual(project === kept ? [2] : []);
			const [next] = await world.publish(kept, "a");
			expect(next!.seq).toBe(4);
			await world.settle(await world.lease(kept), { lanes: [{ webhookId: webhook, position: 4, open: [] }] });
			expect((await sweepEvents(START + DAY)).deleted).toBe(2);
		});

		test("an id may be used again once its event is deleted, and not before", async () => {
			const project = await world.project();
			const publish = (event: ReturnType<World["event"]>) =>
				world.storage.appendEvents({
					requests: [{ projectId: project, publishedAt: world.clock.time, events: [event] }],
				});
			const event = world.event(project, "a");
			const other = { ...world.event(project, "b"), id: event.id };
			await publish(event);
			await sweepEvents(START);
			expect(await publish(other)).toMatchObject([{ kind: "conflict" }]);
			await sweepEvents(START + DAY);
			expect(await publish(other)).toMatchObject([{ kind: "appended", events: [{ seq: 2, repeated: false }] }]);
		});

		test("a deleted webhook is kept as long as its log entries, however late they were written", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const attempts = [world.attempt(webhook, event!, { startedAt: START + 10 })];
			expect(await world.settle(lease, { attempts })).toBe("settled");
			await sweepAttempts(START + 5);
			await world.reopen();
			const { rows } = await world.storage.listAttempts({
				projectId: project,
				filter: { webhookIds: [webhook] },
				page: ALL,
			});
			expect(rows.map(({ webhookId }) => webhookId)).toEqual([webhook]);
		});

		test("the entries of a deleted webhook stay until their retention ends", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			await world.finish(await world.lease(project), webhook, event!, "failed", { startedAt: START });
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const entries = async () =>
				(
					await world.storage.listAttempts({ projectId: project, filter: { webhookIds: [webhook] }, page: ALL })
				).rows.map(({ webhookId }) => webhookId);
			await sweepAttempts(START);
			expect(await entries()).toEqual([webhook]);
			expect((await sweepAttempts(START + DAY)).deleted).toBe(1);
			await sweepAttempts(START + DAY);
			await sweepEvents(START + DAY);
			expect(await entries()).toEqual([]);
			expect(await seqs(project)).toEqual([]);
		});

		test.runIf(harness.manyNodes)(
			"one node sweeps at a time, until it ends its pass or says nothing for its term",
			async () => {
				const peers = world.storage.peers!;
				const take = (holder: string, early = false) => peers.takeSweep({ holder, termMs: 1_000, early });
				expect(await take("a")).toBe(true);
				expect([await take("b"), await take("b", true)]).toEqual([false, false]);
				world.clock.time += 900;
				expect(await take("a")).toBe(true);
				world.clock.time += 900;
				expect(await take("b", true)).toBe(false);
				world.clock.time += 100;
				expect(await take("b")).toBe(true);
				expect(await take("a", true)).toBe(false);
				// It was replaced.
				await peers.endSweep({ holder: "a", restMs: 0 });
				expect(await take("a", true)).toBe(false);
				await peers.endSweep({ holder: "b", restMs: 5_000 });
				expect([await take("a"), await take("b")]).toEqual([false, false]);
				expect(await take("a", true)).toBe(true);
				await peers.endSweep({ holder: "a", restMs: 5_000 });
				world.clock.time += 5_000;
				expect(await take("b")).toBe(true);
			},
		);
	});
}
