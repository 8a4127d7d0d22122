import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Retry } from "../../../src/storage/port.ts";
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
	});
}
