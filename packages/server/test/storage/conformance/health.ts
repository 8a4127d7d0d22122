import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptStatus } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const MINUTE = 60_000;

export function describeHealth(harness: StorageHarness): void {
	describe("health", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		const nothing = {
			lastAttempt: null,
			failingSince: null,
			lastDeliveredAt: null,
			waiting: { count: 0, nextAt: null },
			deadLetters: 0,
		};

		test("any history of attempts shows the last one, the last delivered one, and since when it fails", async () => {
			const project = await world.project();
			const lease = await world.lease(project);
			const [D, R, F] = ["delivered", "retrying", "failed"] as const;
			/** Attempts by minute, and which of them is the first one after the last success. */
			const courses: [AttemptStatus[], number | null, number | null][] = [
				[[], null, null],
				[[D], null, 0],
				[[R, R, F], 0, null],
				[[D, F, R, D], null, 3],
				[[F, D, R, F, R], 2, 1],
				[[D, D, F], 2, 1],
			];
			const wanted: object[] = [];
			for (const [statuses, failingSince, lastDelivered] of courses) {
				const webhook = await world.webhook(project, ["a", "b"]);
				const events = await world.publish(project, ...statuses.map((_, i) => (i % 2 === 0 ? "a" : "b")));
				for (const [i, event] of events.entries())
					await world.finish(lease, webhook, event, statuses[i]!, { startedAt: START + i * MINUTE });
				const { rows } = await world.storage.listAttemptSummaries({
					projectId: project,
					filter: { webhookId: webhook },
					page: { limit: 10 },
				});
				rows.reverse();
				expect(rows.map(({ status }) => status)).toEqual(statuses);
				wanted.push({
					...nothing,
					webhookId: webhook,
					lastAttempt: rows.at(-1) ?? null,
					failingSince: failingSince === null ? null : rows[failingSince]!,
					lastDeliveredAt: lastDelivered === null ? null : START + lastDelivered * MINUTE,
					deadLetters: statuses.filter((status) => status === F).length,
				});
			}
			expect(await world.storage.readHealth({ projectId: project })).toEqual(wanted);
		});

		test("a failed test event doesn't make a webhook failing; a delivered one shows that it works", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const lease = await world.lease(project);
			let minute = 0;
			let tests = 0;
			const finish = async (event: { seq: number; type: string }, status: AttemptStatus, count = 1) => {
				const attempts = Array.from({ length: count }, (_, i) =>
					world.attempt(webhook, event, { attempt: i + 1, status, startedAt: START + minute++ * MINUTE }),
				);
				expect(await world.settle(lease, { attempts })).toBe("settled");
				return attempts.at(-1)!.id;
			};
			const testEvent = (status: AttemptStatus, count = 1) => finish({ seq: --tests, type: "a" }, status, count);
			const read = async () => {
				const [health] = await world.storage.readHealth({ projectId: project });
				return {
					last: health!.lastAttempt?.id ?? null,
					failing: health!.failingSince?.id ?? null,
					delivered: health!.lastDeliveredAt,
				};
			};
			for (let i = 0; i < 3; i++) {
				const { createdAtGiven: _, ...sample } = world.event(project, "a");
				expect(await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample })).toBe(
					"queued",
				);
			}
			await testEvent("failed");
			expect(await read()).toEqual({ last: null, failing: null, delivered: null });
			const [first, second] = await world.publish(project, "a", "a");
			const failed = await finish(first!, "failed");
			expect(await read()).toEqual({ last: failed, failing: failed, delivered: null });
			// More tests than are passed over from one end.
			await testEvent("failed", 1_100);
			expect(await read()).toEqual({ last: failed, failing: failed, delivered: null });
			const at = START + minute * MINUTE;
			const test = await testEvent("delivered");
			expect(await read()).toEqual({ last: test, failing: null, delivered: at });
			const again = await finish(second!, "retrying");
			expect(await read()).toEqual({ last: again, failing: again, delivered: at });
		});

		test("pending attempts are counted with the next due time, without deleted webhooks and other projects", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const [webhook, gone] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const foreign = await world.webhook(other, ["a"]);
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			const schedule = [5, 3].map((minutes, i) => ({
				...{ webhookId: webhook, seq: i + 1, queue: "retry" as const, replay: 0, attempt: 2 },
				dueAt: START + minutes * MINUTE,
			}));
			await world.settle(lease, { schedule });
			const waiting = async () => (await world.storage.readHealth({ projectId: project }))[0]!.waiting;
			expect(await waiting()).toEqual({ count: 2, nextAt: START + 3 * MINUTE });
			await world.finish(lease, webhook, events[2]!, "failed");
			expect((await world.storage.readHealth({ projectId: project }))[0]!.deadLetters).toBe(1);
			await world.storage.replayDelivery({
				projectId: project,
				webhookId: webhook,
				eventId: events[2]!.id,
				at: START + MINUTE,
			});
			expect(await waiting()).toEqual({ count: 3, nextAt: START + MINUTE });
			expect((await world.storage.readHealth({ projectId: project }))[0]!.deadLetters).toBe(0);
			await world.storage.deleteWebhook({ projectId: project, webhookId: gone });
			expect((await world.storage.readHealth({ projectId: project })).map(({ webhookId }) => webhookId)).toEqual([
				webhook,
			]);
			expect(await world.storage.readHealth({ projectId: other })).toEqual([{ ...nothing, webhookId: foreign }]);
			expect(await world.storage.readHealth({ projectId: world.id("project") })).toEqual([]);
		});
	});
}
