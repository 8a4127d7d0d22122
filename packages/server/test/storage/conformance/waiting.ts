import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Retry, WaitingRetry } from "../../../src/storage/port.ts";
import { QUEUES } from "../../../src/storage/shared/deliveries.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const SECOND = 1000;

export function describeWaiting(harness: StorageHarness): void {
	describe("pending attempts", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("the soonest of a webhook or project come first, with their events, up to the limit", async () => {
			const project = await world.project();
			const webhooks: string[] = [];
			for (let i = 0; i < 4; i++) webhooks.push(await world.webhook(project, ["a", "b"]));
			const events = await world.publish(project, ...Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? "a" : "b")));
			const schedule = webhooks.flatMap((webhookId, w) =>
				events.map(
					({ seq }): Retry => ({
						...{ webhookId, seq, replay: seq % 3, attempt: 1 + (seq % 2) },
						queue: QUEUES[seq % QUEUES.length]!,
						dueAt: START + ((seq * 5 + w * 3) % 17) * SECOND,
					}),
				),
			);
			await world.settle(await world.lease(project), { schedule });
			const deleted = webhooks[3]!;
			await world.storage.deleteWebhook({ projectId: project, webhookId: deleted });
			const wanted = schedule
				.filter(({ webhookId }) => webhookId !== deleted)
				.map((retry) => ({ ...retry, eventId: events[retry.seq - 1]!.id, eventType: events[retry.seq - 1]!.type }))
				.sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
			const key = (retry: { dueAt: number; webhookId: string; eventId: string }) =>
				[retry.dueAt, retry.eventId, retry.webhookId].join(" ");
			for (const limit of [1, 5, 20, 100]) {
				const all = await world.storage.listWaitingRetries({ projectId: project, webhookId: null, limit });
				// Those due at the same time come in any order.
				expect(all.map(({ dueAt }) => dueAt)).toEqual(wanted.slice(0, limit).map(({ dueAt }) => dueAt));
				expect(new Set(all.map(key)).size).toBe(all.length);
				for (const retry of all) {
					expect(retry).toEqual(wanted.find((each) => key(each) === key(retry)));
				}
			}
			const ofOne = await world.storage.listWaitingRetries({ projectId: project, webhookId: webhooks[1]!, limit: 3 });
			const firstOfOne = wanted.filter(({ webhookId }) => webhookId === webhooks[1]).slice(0, 3);
			expect(ofOne.map(({ dueAt }) => dueAt)).toEqual(firstOfOne.map(({ dueAt }) => dueAt));
			expect(ofOne.every(({ webhookId }) => webhookId === webhooks[1])).toBe(true);
			const other = await world.project();
			expect(await world.storage.listWaitingRetries({ projectId: other, webhookId: webhooks[1]!, limit: 3 })).toEqual(
				[],
			);
			expect(await world.storage.listWaitingRetries({ projectId: other, webhookId: null, limit: 3 })).toEqual([]);
			expect(await world.storage.listWaitingRetries({ projectId: project, webhookId: deleted, limit: 3 })).toEqual([]);
		});

		/** All pages, which end, with the number of rows of each. */
		async function unattempted(projectId: string, limit: number, webhookIds?: readonly string[]) {
			const rows: WaitingRetry[] = [];
			for (let after: string | undefined; ; ) {
				const page = await world.storage.listUnattempted({ projectId, webhookIds, limit, after });
				expect(page.rows.length).toBeLessThanOrEqual(limit);
				rows.push(...page.rows);
				if (page.next === null) return rows;
				after = page.next;
			}
		}

		test("replays and tests that wait for the first attempt of their series are listed once, page by page", async () => {
			const project = await world.project();
			const webhooks: string[] = [];
			// More than one call reads, most of them without any.
			for (let i = 0; i < 45; i++) webhooks.push(await world.webhook(project, ["a"]));
			const events = await world.publish(project, ...Array.from({ length: 9 }, () => "a"));
			const using = [0, 1, 3, 44].map((i) => webhooks[i]!);
			const schedule = using.flatMap((webhookId) =>
				events.map(
					({ seq }): Retry => ({
						...{ webhookId, seq, replay: seq % 3, attempt: seq % 3 === 0 ? 2 : 1, queue: QUEUES[seq % 3]! },
						dueAt: START + (seq % 2) * SECOND,
					}),
				),
			);
			const rest = webhooks.slice(4, 30).map((webhookId): Retry => {
				return { webhookId, seq: 1, replay: 0, attempt: 2, queue: "retry", dueAt: START };
			});
			await world.settle(await world.lease(project), { schedule: [...schedule, ...rest] });
			await world.storage.deleteWebhook({ projectId: project, webhookId: using[2]! });
			const wanted = schedule
				.filter(({ webhookId, queue }) => webhookId !== using[2] && queue !== "retry")
				.map((retry) => ({ ...retry, eventId: events[retry.seq - 1]!.id, eventType: "a" }));
			const bySeq = (a: WaitingRetry, b: WaitingRetry) =>
				a.webhookId < b.webhookId ? -1 : a.webhookId > b.webhookId ? 1 : a.seq - b.seq;
			for (const limit of [1, 3, 6, 100])
				expect((await unattempted(project, limit)).sort(bySeq)).toEqual(wanted.toSorted(bySeq));
			const some = [using[1]!, using[2]!, using[0]!, world.id("webhook")];
			const ofSome = wanted.filter(({ webhookId }) => some.includes(webhookId));
			for (const limit of [1, 4, 6, 100])
				expect((await unattempted(project, limit, some)).sort(bySeq)).toEqual(ofSome.toSorted(bySeq));
			expect(await unattempted(await world.project(), 3)).toEqual([]);
			expect(await unattempted(await world.project(), 3, using)).toEqual([]);
			expect(await unattempted(world.id("project"), 3)).toEqual([]);
		});
	});
}
