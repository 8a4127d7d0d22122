import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cancelledMark, type Lease, type RetryPosition } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const SECOND = 1_000;

export function describeRetryNow(harness: StorageHarness): void {
	describe("retries made early", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		/** Events 1 to `count`, each of which failed once and is due after as many seconds. */
		async function waiting(count: number): Promise<{
			readonly project: string;
			readonly webhook: string;
			readonly lease: Lease;
			readonly ids: readonly string[];
		}> {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, ...Array.from({ length: count }, () => "a"));
			const lease = await world.lease(project);
			await world.settle(lease, {
				attempts: events.map((event) =>
					world.attempt(webhook, event, {
						...{ status: "retrying", nextRetryAt: START + event.seq * SECOND, startedAt: START - SECOND },
					}),
				),
				schedule: events.map(({ seq }) => ({
					...{ webhookId: webhook, seq, queue: "retry" as const, replay: 0, attempt: 2, dueAt: START + seq * SECOND },
				})),
				lanes: [{ webhookId: webhook, position: count, open: [] }],
			});
			return { project, webhook, lease, ids: events.map(({ id }) => id) };
		}

		const dueTimes = async (project: string, webhook: string) =>
			(await world.queues(project, webhook)).map(({ seq, dueAt, attempt }) => [seq, dueAt - START, attempt]);

		test("a delivery's next attempt is due now and keeps its number; one that is due stays as it is", async () => {
			const { project, webhook, ids } = await waiting(3);
			const retry = (eventId: string, at: number) =>
				world.storage.retryDeliveries({ projectId: project, deliveries: [{ webhookId: webhook, eventId }], at });
			expect(await retry(ids[1]!, START + 5)).toEqual([{ kind: "queued", attempt: 2, replay: 0 }]);
			expect(await dueTimes(project, webhook)).toEqual([
				[2, 5, 2],
				[1, SECOND, 2],
				[3, 3 * SECOND, 2],
			]);
			expect(await retry(ids[1]!, START + 9)).toEqual([{ kind: "queued", attempt: 2, replay: 0 }]);
			expect((await dueTimes(project, webhook))[0]).toEqual([2, 5, 2]);
		});

		test("a delivery without a pending attempt can't be made early", async () => {
			const { project, webhook, lease, ids } = await waiting(2);
			const retry = (webhookId: string, eventId: string, projectId = project) =>
				world.storage.retryDeliveries({ projectId, deliveries: [{ webhookId, eventId }], at: START });
			await world.finish(lease, webhook, { seq: 1, type: "a" }, "delivered", { attempt: 2 });
			const nothing = [{ kind: "nothing_waits" }];
			expect(await retry(webhook, ids[0]!)).toEqual(nothing);
			expect(await retry(webhook, world.id("event"))).toEqual(nothing);
			expect(await retry(world.id("webhook"), ids[1]!)).toEqual(nothing);
			expect(await retry(webhook, ids[1]!, await world.project())).toEqual(nothing);
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			expect(await retry(webhook, ids[1]!)).toEqual(nothing);
		});

		test("a cancelled test event is marked and due; others, and finished ones, aren't cancelled", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const of = { projectId: project, webhookId: webhook };
			const before = (await world.storage.loadLanes({ projectId: project })).seen.revision;
			expect(await world.storage.cancelTest({ ...of, eventId: event!.id })).toBe("not_a_test");
			expect(await world.storage.cancelTest({ ...of, eventId: world.id("event") })).toBe("nothing_waits");
			expect(await world.storage.cancelTest({ ...of, webhookId: world.id("webhook"), eventId: sample.id })).toBe(
				"nothing_waits",
			);
			const [read] = await world.storage.readEvents({ projectId: project, seqs: [-1] });
			expect(read!.publishedAt).toBeGreaterThan(0);
			expect(await world.storage.cancelTest({ ...of, eventId: sample.id })).toBe("cancelled");
			expect(await world.storage.readEvents({ projectId: project, seqs: [-1] })).toMatchObject([
				{ publishedAt: cancelledMark(0) },
			]);
			// Each of several concurrent calls once cancelled it, and was in the audit log.
			expect(await world.storage.cancelTest({ ...of, eventId: sample.id })).toBe("nothing_waits");
			// Long past, so that even a paused lane takes it.
			expect(await world.queues(project, webhook)).toMatchObject([{ seq: -1, attempt: 1, replay: 0 }]);
			expect((await world.queues(project, webhook))[0]!.dueAt).toBeLessThan(START - 365 * 86_400_000);
			expect((await world.storage.loadLanes({ projectId: project })).seen.revision).toBe(before + 1);

			const lease = await world.lease(project);
			await world.finish(lease, webhook, { seq: -1, type: "a" }, "failed");
			expect(await world.storage.cancelTest({ ...of, eventId: sample.id })).toBe("nothing_waits");
			// The mark is of one series: a replay is sent.
			expect(await world.storage.replayDelivery({ ...of, eventId: sample.id, at: START })).toMatchObject({ replay: 1 });
			const [again] = await world.storage.readEvents({ projectId: project, seqs: [-1] });
			expect(again!.publishedAt).not.toBe(cancelledMark(1));
		});

		test("a webhook's retries are made early in steps, soonest first, and no other webhook's", async () => {
			const { project, webhook, lease } = await waiting(7);
			const other = await world.webhook(project, ["a"]);
			const retry = { webhookId: other, seq: 1, queue: "retry" as const, replay: 1, attempt: 3, dueAt: START + SECOND };
			await world.settle(lease, { schedule: [retry] });
			const taken: number[][] = [];
			let after: RetryPosition | undefined;
			do {
				const page = { at: START + 2 * SECOND, limit: 2, after };
				const step = await world.storage.retryWaiting({ projectId: project, webhookId: webhook, ...page });
				taken.push([...step.seqs].sort());
				after = step.next ?? undefined;
			} while (after !== undefined);
			// The first two were due.
			expect(taken).toEqual([[3, 4], [5, 6], [7]]);
			expect(await dueTimes(project, webhook)).toEqual([
				[1, SECOND, 2],
				...[2, 3, 4, 5, 6, 7].map((seq) => [seq, 2 * SECOND, 2]),
			]);
			expect(await dueTimes(project, other)).toEqual([[1, SECOND, 3]]);
		});

		test("those due later are counted in steps of limited size, and nothing of another webhook", async () => {
			const { project, webhook, lease } = await waiting(5);
			const other = await world.webhook(project, ["a"]);
			const retry = { webhookId: other, seq: 1, queue: "retry" as const, replay: 1, attempt: 3, dueAt: START + SECOND };
			await world.settle(lease, { schedule: [retry] });
			const count = (at: number, limit: number, after?: RetryPosition) =>
				world.storage.countRetries({ projectId: project, webhookId: webhook, at, limit, after });
			const first = await count(START, 2);
			expect(first).toMatchObject({ count: 2, next: { seq: 2 } });
			const second = await count(START, 2, first.next!);
			expect(second).toMatchObject({ count: 2, next: { seq: 4 } });
			expect(await count(START, 2, second.next!)).toEqual({ count: 1, next: null });
			expect(await count(START, 5)).toMatchObject({ count: 5, next: { seq: 5 } });
			expect(await count(START, 9)).toEqual({ count: 5, next: null });
			expect(await count(START + 3 * SECOND, 9)).toEqual({ count: 2, next: null });
			const unknown = { projectId: project, webhookId: world.id("webhook"), at: START, limit: 9 };
			expect(await world.storage.countRetries(unknown)).toEqual({ count: 0, next: null });
		});

		test("as many can be made early as waited at first, whatever a holder's clock says", async () => {
			const { project, webhook, lease } = await waiting(4);
			const of = { projectId: project, webhookId: webhook, at: START, limit: 2 };
			const first = await world.storage.retryWaiting(of);
			expect(first).toMatchObject({ seqs: [1, 2], next: { seq: 2 } });
			// Both fail again, on a node whose clock is far behind, and wait behind the others.
			for (const seq of [1, 2]) {
				const nextRetryAt = START + 90_000 + seq;
				const failed = { attempt: 2, status: "retrying" as const, startedAt: START - 3_600_000, nextRetryAt };
				const again = { seq, queue: "retry" as const, replay: 0, attempt: 3, dueAt: nextRetryAt };
				await world.settle(lease, {
					attempts: [world.attempt(webhook, { seq, type: "a" }, failed)],
					schedule: [{ webhookId: webhook, ...again }],
				});
			}
			const second = await world.storage.retryWaiting({ ...of, after: first.next! });
			expect(second).toMatchObject({ seqs: [3, 4], next: { seq: 4 } });
		});

		test("one whose last attempt started later on its holder's clock is made early, too", async () => {
			const { project, webhook, lease } = await waiting(1);
			const failed = {
				...{ attempt: 2, status: "retrying" as const, startedAt: START + 3_600_000, nextRetryAt: START + 7_200_000 },
			};
			const again = { seq: 1, queue: "retry" as const, replay: 0, attempt: 3, dueAt: START + 7_200_000 };
			await world.settle(lease, {
				attempts: [world.attempt(webhook, { seq: 1, type: "a" }, failed)],
				schedule: [{ webhookId: webhook, ...again }],
			});
			const of = { projectId: project, webhookId: webhook, at: START + 5, limit: 9 };
			expect(await world.storage.retryWaiting(of)).toEqual({ seqs: [1], next: null });
			expect(await dueTimes(project, webhook)).toEqual([[1, 5, 3]]);
		});

		test("several are made early in one transaction; for each, it says whether it waited", async () => {
			const { project, webhook, ids } = await waiting(3);
			const deliveries = [
				{ webhookId: webhook, eventId: ids[2]! },
				{ webhookId: webhook, eventId: world.id("event") },
				{ webhookId: world.id("webhook"), eventId: ids[0]! },
				{ webhookId: webhook, eventId: ids[1]! },
				{ webhookId: webhook, eventId: ids[2]! },
			];
			const [queued, nothing] = [{ kind: "queued", attempt: 2, replay: 0 }, { kind: "nothing_waits" }];
			expect(await world.storage.retryDeliveries({ projectId: project, deliveries, at: START + 5 })).toEqual([
				...[queued, nothing, nothing, queued, queued],
			]);
			expect(await dueTimes(project, webhook)).toEqual([
				[2, 5, 2],
				[3, 5, 2],
				[1, SECOND, 2],
			]);
			const elsewhere = await world.storage.retryDeliveries({ projectId: world.id("project"), deliveries, at: START });
			expect(elsewhere).toEqual(deliveries.map(() => nothing));
		});

		test("a project without an owner is due at once", async () => {
			const { project, webhook, lease, ids } = await waiting(1);
			const { seen } = await world.storage.loadLanes({ projectId: project });
			await world.storage.releaseLease({ lease, wakeAt: START + SECOND, seen });
			const deliveries = [{ webhookId: webhook, eventId: ids[0]! }];
			await world.storage.retryDeliveries({ projectId: project, deliveries, at: START });
			const taken = await world.storage.acquireLeases({ holder: "other", limit: 1_000 });
			expect(taken.map(({ projectId }) => projectId)).toContain(project);
		});
	});
}
