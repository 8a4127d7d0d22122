import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StorageError } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, plain, START, World } from "./world.ts";

export function describeDurability(harness: StorageHarness): void {
	describe("durability", () => {
		let world: World;
		beforeEach(async () => {
			world = await World.open(harness);
		});
		afterEach(() => world.dispose());

		test("everything survives a restart and continues from there", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "b");
			const lease = await world.lease(project);
			await world.finish(lease, webhook, events[0]!, "failed");
			await world.settle(lease, {
				attempts: [world.attempt(webhook, events[1]!, { status: "retrying", nextRetryAt: START + 9 })],
				schedule: [{ webhookId: webhook, seq: 2, queue: "retry", replay: 0, attempt: 2, dueAt: START + 9 }],
				lanes: [{ webhookId: webhook, position: 2, open: [] }],
			});
			const look = async () =>
				plain([
					await world.storage.getProject({ projectId: project }),
					await world.storage.listWebhooks({ projectId: project, limit: 10 }),
					await world.storage.loadLanes({ projectId: project }),
					await world.queues(project, webhook),
					await world.log(project),
					await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL }),
					await world.storage.gauges(),
				]);
			const before = await look();
			await world.reopen();
			expect(await look()).toEqual(before);
			const [next] = await world.publish(project, "a");
			expect(next!.seq).toBe(4);
			const again = await world.storage.appendEvents({
				requests: [{ projectId: project, publishedAt: START, events: [events[2]!] }],
			});
			expect(again).toEqual([{ kind: "appended", events: [{ seq: 3, createdAt: START, repeated: true }] }]);
		});

		test("a lease from before a restart is void if one process owns the database, and valid if many share it", async () => {
			const project = await world.project();
			await world.publish(project, "a");
			const lease = await world.lease(project);
			await world.reopen();
			if (!harness.manyNodes) {
				expect(await world.settle(lease, {})).toBe("stale");
				const [taken] = await world.storage.acquireLeases({ holder: "node_b", limit: 10 });
				expect(taken!.generation).toBeGreaterThan(lease.generation);
			} else {
				expect(await world.storage.acquireLeases({ holder: "node_b", limit: 10 })).toEqual([]);
				expect(await world.settle(lease, {})).toBe("settled");
			}
		});

		test("concurrent calls all return, even if the storage is closed right after them", async () => {
			const project = await world.project();
			const publishes = Array.from({ length: 50 }, () => world.publish(project, "a"));
			const reopened = world.reopen();
			const seqs = (await Promise.all(publishes)).map(([event]) => event!.seq);
			expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
			await reopened;
			expect(await world.log(project)).toHaveLength(50);
		});

		test("a closed storage refuses calls as closed, and may be closed again", async () => {
			const { storage } = world;
			await world.reopen();
			await storage.close();
			for (const call of [() => storage.ping(), () => storage.nextAlarm(), () => storage.settle({ settlements: [] })]) {
				const error = await call().then(
					() => null,
					(reason: unknown) => reason,
				);
				expect(error).toBeInstanceOf(StorageError);
				expect(error).toMatchObject({ code: "closed" });
			}
		});
	});
}
