import { afterEach, describe, expect, test } from "vitest";
import type { Storage } from "../../../src/storage/port.ts";
import { World } from "./world.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** In how many minutes a time comes, on the clock of a node this far ahead. */
const minutesUntil = (at: number | null, aheadMs: number): number => Math.round((at! - Date.now() - aheadMs) / MINUTE);

/** The suite's verbs on one of several nodes. */
const worldOn = (storage: Storage): Promise<World> =>
	World.open({
		name: "a node",
		manyNodes: storage.peers !== null,
		leaseTermMs: 0,
		open: async () => storage,
		reopen: async () => storage,
		dispose: (one) => one.close(),
	});

/** Nodes whose clocks are ahead of the database's, or behind it, by this many milliseconds. */
export function describeClocks(name: string, open: (aheadMs: number) => Promise<Storage>): void {
	describe(`nodes on ${name} whose clocks differ`, () => {
		const nodes: Storage[] = [];
		afterEach(async () => {
			await Promise.all(nodes.splice(0).map((node) => node.close()));
		});
		const openNode = async (aheadMs: number): Promise<Storage> => {
			const node = await open(aheadMs);
			nodes.push(node);
			return node;
		};

		// For a node whose clock was ahead, its alarm came to be before 0, which counts neither as news nor as overdue: the
		// project wasn't taken until something was published.
		test("a project that is released before its queues were read is due immediately", async () => {
			for (const aheadMs of [HOUR, -1_000]) {
				const storage = await openNode(aheadMs);
				const world = await worldOn(storage);
				const project = await world.project();
				const lease = await world.lease(project);
				const { seen } = await storage.loadLanes({ projectId: project });
				await storage.releaseLease({ lease, wakeAt: 0, seen });
				const taken = await storage.acquireLeases({ holder: "another node", limit: 10 });
				expect(taken.map(({ projectId }) => projectId)).toContain(project);
			}
		});

		// A retry used to be due by the clock of the node that stored it: for a node an hour behind, an hour late.
		test("a time stored by one node is due at that time for all others, whatever their clocks say", async () => {
			const offsets = [HOUR, -HOUR, 0];
			const all = await Promise.all(offsets.map(openNode));
			const world = await worldOn(all[0]!);
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event, failed] = await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			const dueAt = Date.now() + HOUR + 5 * MINUTE;
			await world.settle(lease, {
				attempts: [world.attempt(webhook, event!, { status: "retrying" })],
				schedule: [{ webhookId: webhook, seq: event!.seq, queue: "retry", replay: 0, attempt: 2, dueAt }],
				lanes: [{ webhookId: webhook, position: event!.seq, open: [] }],
			});
			await world.finish(lease, webhook, failed!, "failed");
			const replayAt = Date.now() + HOUR + 7 * MINUTE;
			expect(
				await all[0]!.replayDelivery({ projectId: project, webhookId: webhook, eventId: failed!.id, at: replayAt }),
			).toEqual({
				kind: "queued",
				replay: 1,
			});
			for (const [i, storage] of all.entries()) {
				const until = (at: number | null) => minutesUntil(at, offsets[i]!);
				const [retry] = await storage.readRetries({
					projectId: project,
					webhookId: webhook,
					queue: "retry",
					limit: 10,
				});
				expect(until(retry!.dueAt)).toBe(5);
				expect(
					await storage.readRetries({
						projectId: project,
						webhookId: webhook,
						queue: "retry",
						limit: 10,
						after: retry,
					}),
				).toEqual([]);
				const [replay] = await storage.readRetries({
					projectId: project,
					webhookId: webhook,
					queue: "requested",
					limit: 10,
				});
				expect(until(replay!.dueAt)).toBe(7);
				expect(
					until(
						(await storage.getDelivery({ projectId: project, webhookId: webhook, eventId: event!.id }))!.nextRetryAt,
					),
				).toBe(5);
				const waiting = await storage.listWaitingRetries({ projectId: project, webhookId: webhook, limit: 10 });
				expect(waiting.map(({ dueAt }) => until(dueAt))).toEqual([5, 7]);
			}
		});

		// A node an hour ahead once found baskets due an hour early, and reported them as abandoned while they were being
		// filled.
		test("a basket is abandoned on time by any node, whatever time its clock shows", async () => {
			const offsets = [-HOUR, HOUR, 0];
			const all = await Promise.all(offsets.map(openNode));
			const [behind, ahead] = all as [Storage, Storage];
			await behind.createProject({ id: "p", name: "Shop", apps: [], createdAt: Date.now() });
			const at = Date.now() - HOUR;
			const touched = await behind.touchBasket({
				projectId: "p",
				touch: { basketId: "b", at, dueAt: at + 5 * MINUTE, data: "{}" },
			});
			expect(touched).toBe("touched");
			for (const [i, storage] of all.entries())
				expect(minutesUntil(await storage.nextBasketDue(), offsets[i]!)).toBe(5);
			const now = Date.now() + HOUR;
			const inMinutes = (minutes: number) => now + minutes * MINUTE;
			expect(await ahead.takeDueBaskets({ now: inMinutes(4), until: inMinutes(9), limit: 10 })).toEqual([]);
			expect(await ahead.takeDueBaskets({ now: inMinutes(6), until: inMinutes(9), limit: 10 })).toMatchObject([
				{ basketId: "b" },
			]);
			// Deferred until then, while it is being reported.
			expect(minutesUntil(await behind.nextBasketDue(), -HOUR)).toBe(9);
		});
	});
}
