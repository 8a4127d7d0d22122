import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptFilter } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const HOUR = 3_600_000;
/** When these tests request their replays. */
const NOW = START + 24 * HOUR;

export function describeReplayMatching(harness: StorageHarness): void {
	describe("replays by filter", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		async function replayAll(project: string, selection: AttemptFilter, limit: number, dryRun = false, at = NOW) {
			let count = 0;
			let after: string | undefined;
			for (let steps = 0; ; steps++) {
				expect(steps).toBeLessThan(50);
				const matching = { projectId: project, selection, at, limit, after };
				const verb = dryRun ? world.storage.countMatching : world.storage.replayMatching;
				const step = await verb(matching);
				expect(step.count).toBeLessThanOrEqual(limit);
				count += step.count;
				if (step.next === null) return count;
				after = step.next;
			}
		}

		/**
		 * Two webhooks. First webhook: 1 delivered, 2 failed after a retry, 3 between retries, 4 failed and delivered by a
		 * replay, 5 delivered and failed by a replay, 6 not attempted. Second webhook: 1 failed.
		 */
		async function stock() {
			const project = await world.project();
			const [webhook, other] = [await world.webhook(project, ["a", "b"]), await world.webhook(project, ["a"])];
			const events = await world.publish(project, "a", "b", "a", "b", "a", "a");
			const [first, second, third, fourth, fifth] = events;
			const lease = await world.lease(project);
			const at = (hours: number) => ({ startedAt: START + hours * HOUR });
			await world.finish(lease, webhook, first!, "delivered", at(1));
			const retrying = { status: "retrying" as const, nextRetryAt: NOW, ...at(2) };
			for (const event of [second!, third!]) {
				await world.settle(lease, {
					attempts: [world.attempt(webhook, event, retrying)],
					schedule: [{ webhookId: webhook, seq: event.seq, queue: "retry", replay: 0, attempt: 2, dueAt: NOW }],
				});
			}
			await world.finish(lease, webhook, second!, "failed", { attempt: 2, statusCode: 503, ...at(3) });
			await world.finish(lease, webhook, third!, "retrying", { attempt: 2, ...at(3) });
			await world.settle(lease, {
				schedule: [{ webhookId: webhook, seq: 3, queue: "retry", replay: 0, attempt: 3, dueAt: NOW }],
			});
			await world.finish(lease, webhook, fourth!, "failed", at(4));
			await world.finish(lease, webhook, fifth!, "delivered", at(5));
			for (const event of [fourth!, fifth!])
				await world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: event.id, at: START });
			await world.finish(lease, webhook, fourth!, "delivered", { replay: 1, ...at(6) });
			await world.finish(lease, webhook, fifth!, "failed", { replay: 1, statusCode: 404, ...at(7) });
			await world.finish(lease, other, first!, "failed", { statusCode: null, ...at(8) });
			return { project, webhook, other, events, lease };
		}
		const responding = (maxScanned: number, ...codes: [number, number][]): AttemptFilter => ({
			response: { codes: codes.map(([from, to]) => ({ from, to })), maxScanned },
		});
		const replays = async (project: string, webhook: string) =>
			(await world.storage.readRetries({ projectId: project, webhookId: webhook, queue: "replay", limit: 100 })).map(
				({ seq, replay }) => `${seq}.${replay}`,
			);

		test("a finished delivery is selected by its newest attempt; a dry run counts the same and replays nothing", async () => {
			const cases: [
				AttemptFilter | ((shop: Awaited<ReturnType<typeof stock>>) => AttemptFilter),
				string[],
				string[],
			][] = [
				[{}, ["1.1", "2.1", "4.2", "5.2"], ["1.1"]],
				[{ statuses: ["failed"] }, ["2.1", "5.2"], ["1.1"]],
				[{ statuses: ["delivered"] }, ["1.1", "4.2"], []],
				[{ statuses: ["retrying"] }, [], []],
				[{ types: ["b"] }, ["2.1", "4.2"], []],
				[{ types: ["never.seen"] }, [], []],
				[(shop) => ({ webhookIds: [shop.other] }), [], ["1.1"]],
				[(shop) => ({ webhookIds: [shop.webhook], statuses: ["failed"] }), ["2.1", "5.2"], []],
				[(shop) => ({ eventId: shop.events[0]!.id }), ["1.1"], ["1.1"]],
				[(shop) => ({ eventId: shop.events[4]!.id, statuses: ["delivered"] }), [], []],
				[{ since: START + 3 * HOUR, until: START + 7 * HOUR }, ["2.1", "4.2"], []],
				[{ until: START + 3 * HOUR }, ["1.1"], []],
				[responding(1, [500, 599]), ["2.1"], []],
				[responding(2, [404, 404], [0, 0]), ["5.2"], ["1.1"]],
				[responding(1, [200, 299]), ["1.1", "4.2"], []],
				[{ statuses: ["delivered"], ...responding(9, [404, 404]) }, [], []],
			];
			for (const [i, [select, ofFirst, ofOther]] of cases.entries()) {
				const shop = await stock();
				const { project, webhook, other } = shop;
				const selection = typeof select === "function" ? select(shop) : select;
				const limit = 1 + (i % 3);
				const wanted = ofFirst.length + ofOther.length;
				expect(await replayAll(project, selection, limit, true)).toBe(wanted);
				expect(await replays(project, webhook)).toEqual([]);
				expect(await replayAll(project, selection, limit)).toBe(wanted);
				expect(await replays(project, webhook)).toEqual(ofFirst);
				expect(await replays(project, other)).toEqual(ofOther);
				expect(await replayAll(project, selection, limit)).toBe(0);
				expect(await replayAll(project, selection, limit, true)).toBe(0);
			}
		});

		test("pending attempts and dead letters are counted, and the project is woken", async () => {
			const { project, webhook, other, lease } = await stock();
			const health = async () =>
				(await world.storage.readHealth({ projectId: project, since: START })).map(
					({ webhookId, waiting, deadLetters }) => [webhookId, waiting.count, deadLetters],
				);
			expect(await health()).toEqual([
				[webhook, 1, 2],
				[other, 0, 1],
			]);
			const { seen } = await world.storage.loadLanes({ projectId: project });
			await replayAll(project, {}, 3, true);
			expect((await world.storage.loadLanes({ projectId: project })).seen).toEqual(seen);
			await replayAll(project, {}, 3);
			expect(await health()).toEqual([
				[webhook, 5, 0],
				[other, 1, 0],
			]);
			expect((await world.storage.loadLanes({ projectId: project })).seen.revision).toBeGreaterThan(seen.revision);
			await world.storage.releaseLease({ lease, wakeAt: null, seen });
			expect(await world.storage.acquireLeases({ holder: "node_b", limit: 10 })).toMatchObject([
				{ projectId: project },
			]);
		});

		test("a delivery that ends again between two steps isn't replayed twice", async () => {
			const { project, webhook, lease, events } = await stock();
			const selection = { webhookIds: [webhook], statuses: ["failed" as const] };
			const first = await world.storage.replayMatching({ projectId: project, selection, at: NOW, limit: 1 });
			expect(first.count).toBe(1);
			expect(await replays(project, webhook)).toEqual(["2.1"]);
			await world.finish(lease, webhook, events[1]!, "failed", { replay: 1, startedAt: NOW });
			const rest = { after: first.next! };
			expect(
				(await world.storage.replayMatching({ projectId: project, selection, at: NOW, limit: 100, ...rest })).count,
			).toBe(1);
			expect(await replays(project, webhook)).toEqual(["5.2"]);
		});

		test("deleted webhooks and other projects aren't affected", async () => {
			const { project, webhook, other } = await stock();
			const second = await stock();
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			expect(await replayAll(project, { webhookIds: [second.webhook] }, 10)).toBe(0);
			expect(await replayAll(project, {}, 10, true)).toBe(1);
			expect(await replayAll(project, {}, 10)).toBe(1);
			expect(await replays(project, other)).toEqual(["1.1"]);
			expect(await replays(second.project, second.webhook)).toEqual([]);
			expect(await replayAll(world.id("project"), {}, 10)).toBe(0);
		});
	});
}
